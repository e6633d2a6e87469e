"""The best generalisation of single records: lattices, risk, utility and exact searches."""
