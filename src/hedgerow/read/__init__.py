"""Confidential tables from files, dataframes and databases, as Arrow batches."""
