"""DiffMulti [KAIS 2018]: boxes of their own for every region."""
