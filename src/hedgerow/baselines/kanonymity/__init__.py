"""Mondrian, TDS and full-domain generalisation: k-anonymous baselines.

The records of an engine come in; boxes with true counts leave, without any guarantee of
differential privacy, and their certificates say so.
"""
