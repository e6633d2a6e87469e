"""Confidential files, dataframes and databases are opened here.

A path, a dataframe or a database's URL comes in; batches of Arrow columns, or of words, leave,
with each record unchanged, for ``encode`` alone.
"""
