"""Layouts of figures: groups or an owner's figures come in, values for templates or SVG leave.

Axes, strips, the tree of boxes, maps, heat maps, paths of sequences and bar plots.
"""
