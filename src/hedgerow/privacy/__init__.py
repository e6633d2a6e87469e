"""Exact noise and private choice, and the budget of one run.

Exact counts and a share of epsilon come in; only publishable values leave.
"""
