"""What a release keeps, measured against the raw data, for the data owner."""
