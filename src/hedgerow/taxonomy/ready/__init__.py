"""Ready taxonomies: public classifications, shipped with their source and the spellings of files.

Names come in; trees leave, and the leaves of texts. All of it is public: no data is ever read here.
"""
