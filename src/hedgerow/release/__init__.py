"""What is published.

Noisy groups or baskets and a certificate come in, a folder that is whole or absent leaves, and
back.
"""
