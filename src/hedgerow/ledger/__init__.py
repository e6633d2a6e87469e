"""The privacy budget of each data set: a file in which every release is booked.

Bookings, caps and digests of records come in; balances and the history leave. No count and no
record is stored.
"""
