"""Audits.

Methods come in, the largest epsilon that their runs refute leaves; only tables made here are ever
read.
"""
