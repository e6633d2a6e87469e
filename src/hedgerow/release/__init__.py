"""Releases: groups or baskets with noisy counts, their certificate and their files.

Noisy groups or baskets and a certificate come in; a complete folder, or none, leaves. Folders are
read back, verified and signed here.
"""
