"""RPS [ASIACCS 2012]: boxes halved at private medians.

The records of an engine come in; boxes of one tree with noisy counts leave, under pure epsilon.
"""
