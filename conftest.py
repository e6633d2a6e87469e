"""What tests and documentation examples share."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["support.small_release"]


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test and example away from the user's own ledger."""
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
