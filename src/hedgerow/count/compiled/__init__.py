"""Loops compiled by Numba and cached on disk: arrays come in, arrays leave; import lazily."""
