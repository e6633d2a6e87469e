"""The risks of the raw file, and the success of attacks on a release.

A confidential table, its plan and, for attacks, a release come in. Figures for the data owner alone
leave: they are computed from the records without noise.
"""
