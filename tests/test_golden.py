"""Releases stay as they are, byte for byte, unless a change says so."""

from __future__ import annotations

import json

import pytest

from golden_releases import GOLDEN, cases

CASES = cases()


@pytest.fixture(scope="module")
def golden():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_every_method_and_disclosure_has_been_recorded(golden):
    assert sorted(golden) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_seed_gives_the_release_it_always_gave(name, golden, tmp_path):
    assert CASES[name](tmp_path) == golden[name]
