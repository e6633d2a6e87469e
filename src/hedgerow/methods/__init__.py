"""The methods' room: one folder for each way to publish.

An engine, epsilon, a path ledger and a random source come in; noisy groups or baskets leave. What
an engine counts goes into a booked mechanism and nowhere else.
"""
