"""Measures of a release against the raw data it was made from.

A release and the raw data come in; figures for the data owner alone leave.
"""
