"""The documentation that comes with the package: pages as Markdown come in, plain HTML leaves."""
