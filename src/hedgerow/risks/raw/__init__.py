"""The risk of publishing a table without protection: unique people, and on which columns."""
