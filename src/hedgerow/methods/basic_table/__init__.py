"""basic-table: noise on every cell of a coarsened table."""
