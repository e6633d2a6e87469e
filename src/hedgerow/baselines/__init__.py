"""Methods that exist for comparison.

Like any method, each takes an engine and returns groups or baskets.
"""
