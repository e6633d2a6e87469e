"""Attacks on a release: the release, its data and held-out records come in.

Success rates with exact intervals leave, each with its control and the bound of the guarantee.
No record leaves. Everything here is for the data owner alone: it is computed without noise.
"""
