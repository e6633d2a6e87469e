"""Encoding of texts and numbers as codes of public domains.

Batches and a public schema or universe come in; codes of the smallest type leave, record by record
and by public rules. Later rooms never see a text of the data.
"""
