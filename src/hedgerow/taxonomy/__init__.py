"""Trees as ranges of codes.

Public files and labels come in; domains that number every value leave.
"""
