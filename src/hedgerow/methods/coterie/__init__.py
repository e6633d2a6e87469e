"""Coterie: baskets from noisy counts of items, pairs, chosen sets and a core of items.

In come sums over baskets, which leave with noise; then items are placed into invented baskets
until these agree with the noisy counts.
"""
