"""Shared parts of methods that grow trees of boxes.

Levels of exact counts come in; splits, leaves and noisy groups leave.
"""
