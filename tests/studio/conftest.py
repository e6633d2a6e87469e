"""Folders and browsers for tests of the studio."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette")

from support.studio import Browser, hospital


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory, monkeypatch):
    """Keep the ledger of whoever runs the tests out of them."""
    place = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    monkeypatch.setenv("HEDGEROW_LEDGER", str(place))
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table and a plan."""
    place = tmp_path / "register"
    place.mkdir()
    return hospital(place)


@pytest.fixture
def browser(folder: Path) -> Browser:
    """A browser that has entered."""
    return Browser(folder)
