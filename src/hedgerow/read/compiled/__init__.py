"""Loops over the bytes of text, compiled by Numba and cached on disk; import lazily.

Bytes of whole lines come in; places and small integers leave.
"""
