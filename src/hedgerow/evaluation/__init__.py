"""What a release keeps.

A release and the raw data come in, figures for the data owner alone leave.
"""
