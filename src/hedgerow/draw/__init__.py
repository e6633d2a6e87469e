"""Layouts of pictures: from groups or an owner's figures to values for templates, or to SVG.

Axes, bars, strips, the tree of boxes, maps, heat maps, paths of sequences, the risk-utility plane
and bar charts. Report and studio draw all their pictures with these layouts.
"""
