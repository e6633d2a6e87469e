"""The risk room: what the raw file gives away, and what attacks get out of a release.

In come a confidential table, its plan and, for attacks, a release. Out come figures for the data
owner alone: they are computed from the records without noise.
"""
