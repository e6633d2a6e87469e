"""DiffPart [VLDB 2011]: baskets, by partitioning down a taxonomy of the items."""
