"""What all rooms speak of.

Nouns of the public and the confidential side come in from any room, and only they leave; nothing
here reads, chooses or draws.
"""
