"""What methods that grow boxes share.

Levels of exact counts come in, splits, leaves and noisy groups leave.
"""
