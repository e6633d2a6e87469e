"""The nouns that all rooms share.

Any room uses these types for public and confidential values; nothing here reads, chooses or draws.
"""
