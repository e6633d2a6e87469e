"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Reproducible runs: the same examples every time; `HYPOTHESIS_PROFILE=explore` draws new ones.
settings.register_profile("check", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.register_profile(
    "mutants", deadline=None, derandomize=True, database=None, max_examples=25
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "check"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets, or a skip that says how to give one."""
    folder = Path(os.environ.get("HEDGEROW_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}: set HEDGEROW_DATA")
    return folder
