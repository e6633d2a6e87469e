"""The only code that reads confidential codes."""
