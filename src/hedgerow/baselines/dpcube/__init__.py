"""DPCube [TDP 2014]: noisy cells, a tree over them, fresh counts of its boxes.

The records of an engine come in; boxes of one tree with noisy counts leave, under pure epsilon.
"""
