"""chain: sequences by two trees of prefixes, with a private histogram of lengths.

The sequences of an engine come in; sequences with noisy counts leave, under pure epsilon.
"""
