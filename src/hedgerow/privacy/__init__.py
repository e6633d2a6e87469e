"""Exact noise and choice, and the budget of one run.

Exact counts and a share of epsilon come in, only what may be published leaves.
"""
