"""basic: noise on every possible basket of a small universe.

The baskets of an engine come in; itemsets with positive noisy counts leave, under pure epsilon.
"""
