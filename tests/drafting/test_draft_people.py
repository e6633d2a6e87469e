"""Columns that tell people apart, found without their names."""

from __future__ import annotations

import pandas as pd
import pytest

import hedgerow


@pytest.mark.parametrize(("repeats", "asked"), [(3, True), (1, False)])
def test_rare_values_that_repeat_are_asked_whose_they_are(repeats, asked):
    """Numbers of people's files, in a column that no list of names has."""
    n = 600
    files = [f"x{(n - i // repeats) * 7919 % 10_007}" for i in range(n)]
    table = pd.DataFrame({"folio": files, "age": [20 + i % 50 for i in range(n)]})
    drafted = hedgerow.draft(table)
    assert any("'folio'" in note and "person: folio" in note for note in drafted.notes) is asked
    assert ("TO DO: its values repeat" in drafted.text) is asked
