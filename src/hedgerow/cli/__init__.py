"""One file per command: words come in, words or JSON leave; no algorithm lives here."""
