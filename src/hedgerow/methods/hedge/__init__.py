"""hedge, the default for tables: boxes grown together and then apart."""
