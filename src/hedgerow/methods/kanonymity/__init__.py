"""Mondrian, TDS and full-domain k-anonymity.

No guarantee of differential privacy, and they say so.
"""
