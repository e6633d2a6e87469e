"""Codes come in.

Exact sums of kernels leave, for the mechanisms alone; nothing here opens a file.
"""
