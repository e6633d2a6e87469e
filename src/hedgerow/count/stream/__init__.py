"""The engine on disk.

Batches are read once and stored as codes; sums leave, within a limit on memory.
"""
