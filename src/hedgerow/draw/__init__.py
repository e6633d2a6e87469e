"""Draw publishable figures: published groups go in, plain values for page templates come out.

Axes, bars, the tree of boxes, maps and planes are laid out here once, for report and studio.
"""
