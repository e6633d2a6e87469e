"""Attacks on a release at hand: the release, its data and held-out records come in.

Success rates with exact intervals leave, each beside its control and the bound of the guarantee.
No record leaves. Everything here is for the data owner alone: it is computed without noise.
"""
