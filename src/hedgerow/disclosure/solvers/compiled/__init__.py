"""Loops of the searches, compiled by Numba and cached on disk; import lazily."""
