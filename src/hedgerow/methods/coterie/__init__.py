"""Coterie: baskets from noisy counts of items, pairs, chosen sets and a core of items.

Sums over baskets are measured with noise; then items are placed into synthetic baskets
until these agree with the noisy counts.
"""
