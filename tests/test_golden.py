"""Releases stay as they are, byte for byte, unless a change says so."""

from __future__ import annotations

import json
import os

import pytest

from support.golden_releases import GOLDEN, cases, write

CASES = cases()


@pytest.fixture(scope="module")
def recorded():
    if os.environ.get("HEDGEROW_GOLDEN") == "write":
        write()
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_every_method_and_disclosure_has_been_recorded(recorded):
    assert sorted(recorded) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_seed_gives_the_release_it_always_gave(name, recorded, tmp_path):
    assert CASES[name](tmp_path) == recorded[name]
