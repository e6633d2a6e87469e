"""DiffPart [VLDB 2011]: baskets, by private partitioning down a taxonomy of the items.

The baskets of an engine come in; noisy itemsets leave, under pure epsilon.
"""
