"""hedge, the default for tables: boxes grown together and then apart.

The records of an engine come in; boxes of one tree with noisy counts leave, under pure epsilon.
"""
