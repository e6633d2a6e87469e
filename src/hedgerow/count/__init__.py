"""Engines that hold the records and sum kernels over them.

Codes come in; exact sums leave, for the mechanisms only. Nothing here opens a file, except the
Spark engine, whose workers read their own.
"""
