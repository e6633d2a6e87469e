"""The encoding room: what people write becomes codes of public domains.

Batches and a public schema or universe come in; codes of the smallest type leave, record by
record and by public rules. Nothing after this room sees a text of the data.
"""
