"""Batches and a public schema come in.

Codes of the smallest type leave; nothing after this room sees a text.
"""
