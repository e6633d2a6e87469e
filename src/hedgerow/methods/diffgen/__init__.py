"""DiffGen [KDD 2011]: one cut, grown by private specialisations."""
