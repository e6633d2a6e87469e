"""basic-table: noise on every cell of a table, coarsened by a public rule.

The records of an engine come in; cells with noisy counts leave, under pure epsilon.
"""
