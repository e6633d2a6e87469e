"""The plan file.

What people write comes in, a checked plan or every mistake in it leaves; no record is ever seen.
"""
