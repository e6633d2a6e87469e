"""Every record at its own best generalisation, published privately [TKDE 2014]."""
