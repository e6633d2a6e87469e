"""Loops over the bytes of text, compiled by Numba and cached on disk; import lazily.

Bytes of complete lines come in; places and small integers leave.
"""
