"""Faults that begin when a release is booked: what comes before, rehearsals find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.ledger.ledger import Ledger


def once_booked(monkeypatch: pytest.MonkeyPatch, fault: Callable[[], object]) -> None:
    """Let something happen right after the next bookings."""
    book = Ledger.book

    def booked(self: Ledger, *given: Any, **settings: Any) -> Any:
        entry = book(self, *given, **settings)
        fault()
        return entry

    monkeypatch.setattr(Ledger, "book", booked)
