"""DiffMulti [KAIS 2018]: boxes that are specialised each for itself.

The records of an engine come in; boxes of one tree with noisy counts leave, under pure epsilon.
"""
