"""The engine on disk.

Batches come in once and are kept as codes, sums leave within the memory given.
"""
