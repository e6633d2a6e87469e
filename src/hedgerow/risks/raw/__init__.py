"""The risk of publishing a table as it is: who is unique, on which columns, and how badly."""
