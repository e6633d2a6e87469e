"""PrivBayes: records drawn from a Bayesian network with noisy marginals."""
