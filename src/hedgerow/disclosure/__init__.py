"""Disclosure of single records, each at its own best generalisation.

A plan, the records and an attacker's dictionary come in; generalised records and a certificate
leave for everyone, risks for the owner only. Only the methods in ``private`` are differentially
private.
"""
