"""C4.5 and ID3, the decision trees that the papers learn with, over weighted rows."""
