"""Every page and picture.

Publishable figures come in, and for the owner confidential ones, HTML that stands alone leaves.
"""
