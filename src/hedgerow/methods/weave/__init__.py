"""weave: records drawn from a few noisy tables that were joined to each other."""
