"""Ready taxonomies: what everybody knows, shipped with its source, read as files spell it.

Nothing comes in but names; trees leave, and the leaf that a text stands for. All of it is public:
no data is ever looked at here.
"""
