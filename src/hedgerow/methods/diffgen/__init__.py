"""DiffGen [KDD 2011]: one cut, grown by private specialisations.

The records of an engine come in; the noisy groups of one cut leave, under pure epsilon.
"""
