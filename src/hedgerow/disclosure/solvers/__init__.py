"""Searches for the best generalisation of a record.

A record's lattice, risk and utility come in; the node to disclose leaves. Nothing here is
differentially private.
"""
