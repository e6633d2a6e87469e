"""What the tests of runs that go wrong share."""

from support.fault_runs import case, publisher

__all__ = ["case", "publisher"]
