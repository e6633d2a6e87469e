"""Kinds of data: tables, baskets and sequences.

What depends on the kind of a plan's data is a method of its `DataKind`: how to open, rehearse,
cover and release them. Nothing else in the pipeline branches on it.
"""
