"""The plan file.

A file or a mapping comes in; a checked plan or a list of all its mistakes leaves. No record is ever
read.
"""
