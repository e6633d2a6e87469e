"""Compiled loops that place items into baskets. Import lazily: loading Numba takes a while.

Noisy values come in, and places of items leave. Numpy has its full name here: tests that watch
the methods give them another one under its short name, which no compiled loop can take.
"""
