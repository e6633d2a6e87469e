"""Exact noise and choice, budgets and the ledger.

Exact counts and a share of epsilon come in, only what may be published leaves.
"""
