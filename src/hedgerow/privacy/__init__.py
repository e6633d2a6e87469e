"""Exact noise and choice, the random source, budgets and the ledger."""
