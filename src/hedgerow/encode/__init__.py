"""Arrow batches to codes, and codes to labels."""
