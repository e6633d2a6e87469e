"""Pages: public reports and pages for the data owner, as self-contained HTML.

In: publishable figures, and for the owner's pages confidential ones.
"""
