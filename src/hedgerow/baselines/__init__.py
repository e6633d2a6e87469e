"""Methods that exist for comparison: k-anonymity, RPS, DPCube, PrivBayes and basic tables.

Like any method, a private one takes a run, and one of k-anonymity an engine; groups or baskets
leave.
"""
