"""The best node of one record.

Its lattice, risk and utility come in, the form to disclose leaves; nothing here is private.
"""
