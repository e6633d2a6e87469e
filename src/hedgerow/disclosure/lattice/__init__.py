"""Generalisations of one record, with their risk and utility.

A record, weights and an attacker's dictionary come in; the lattice of its generalisations and the
risk and utility of each leave. Nothing here is differentially private.
"""
