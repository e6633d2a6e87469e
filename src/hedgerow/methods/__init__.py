"""One folder per method.

An engine, epsilon and a path ledger come in, noisy groups or baskets leave.
"""
