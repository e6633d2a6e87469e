"""The documentation that comes with the package: from pages in Markdown to plain HTML."""
