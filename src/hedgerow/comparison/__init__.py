"""Releases side by side, for the data owner; plans only where no confidential record is read.

Releases that are booked and the owner's data come in, or plans and a made-up or public table; a
table of figures leaves. To run plans on the confidential data and keep the best would be a
choice by that data which no epsilon covers, so it is refused.
"""
