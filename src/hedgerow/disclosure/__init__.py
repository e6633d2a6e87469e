"""The disclosure room: single records, each in the form of least risk that is still useful.

A plan, the records and an attacker's dictionary come in; forms and a certificate leave for
everyone, risks for the owner alone. Nothing here is differentially private.
"""
