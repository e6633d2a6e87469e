"""The counting room: engines that hold the records and sum kernels over them.

Codes come in; exact sums leave, for the mechanisms alone. Nothing here opens a file, but for the
Spark engine, whose workers read their own.
"""
