"""PrivBayes [TODS 2017]: records drawn from a Bayesian network with noisy marginals.

The records of an engine come in; synthetic records leave, under pure epsilon.
"""
