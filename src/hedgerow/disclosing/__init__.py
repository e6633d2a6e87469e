"""Private disclosure: every record at its own best generalisation, as a publishing method."""
