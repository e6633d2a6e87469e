"""The whole chain, once.

A plan and data come in; it is opened, booked, run and written, and a release leaves.
"""
