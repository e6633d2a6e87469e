"""The risk room: what the raw file gives away, and what attacks get out of a release.

For the owner alone.
"""
