"""The engine in memory: encoded columns come in, sums leave."""
