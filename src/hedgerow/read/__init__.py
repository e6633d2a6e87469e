"""Confidential files.

Dataframes and databases come in, batches of Arrow columns leave, each record by itself.
"""
