"""What is published: groups, recoding, certificate and report."""
