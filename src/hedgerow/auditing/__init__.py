"""Audits of methods.

Methods come in, the largest epsilon that their runs refute leaves; only tables created here are
read.
"""
