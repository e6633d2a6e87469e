"""The command line: parse, call, print. It holds no algorithm."""
