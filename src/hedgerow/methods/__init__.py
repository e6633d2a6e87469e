"""The methods' room: one folder for each way to publish.

A run (engine, epsilon, path ledger, random source) comes in; noisy groups or baskets leave. What
the engine counts goes into a booked mechanism of the run and nowhere else.
"""
