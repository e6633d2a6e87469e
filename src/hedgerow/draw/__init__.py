"""Layouts of pictures: from groups or an owner's figures to values for templates, or to SVG.

Axes, strips, the tree of boxes, maps, heat maps, paths of sequences and bar charts.
"""
