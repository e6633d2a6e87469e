"""Columns that tell people apart, found without their names."""

from __future__ import annotations

import numpy as np
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
    (question,) = drafted.plan.to_do
    assert ("Values repeat in 'folio'" in question) is asked
    assert ("# person: folio" in drafted.text) is asked
    assert drafted.plan.attributes["folio"].role == "identifier"


def test_an_identifier_whose_values_repeat_further_on_is_asked_about(monkeypatch):
    """Of many values only the first are counted, and those of a shuffled table hardly repeat."""
    monkeypatch.setattr("hedgerow.drafting.profile._MOST_DISTINCT", 50)
    n = 2_000
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"Nr sprawy": rng.integers(10_000, 10_300, n), "age": [20 + i % 50 for i in range(n)]}
    )
    drafted = hedgerow.draft(table)
    assert "Nr sprawy: {role: identifier}" in drafted.text
    assert "Values repeat in 'Nr sprawy'" in drafted.plan.to_do[0]


@pytest.mark.parametrize("column", ["Nr pacjenta", "Pacient", "PASIENT_ID", "klient", "Utente"])
def test_people_are_found_by_names_in_other_languages(column):
    n = 400
    table = pd.DataFrame(
        {column: [1000 + i // 2 for i in range(n)], "age": [i % 60 for i in range(n)]}
    )
    assert f"person: {column}" in hedgerow.draft(table).text


def test_pay_is_not_taken_for_people():
    n = 400
    table = pd.DataFrame({"Salaries": [1000 + i // 2 for i in range(n)], "age": list(range(n))})
    assert "Salaries: {numeric:" in hedgerow.draft(table).text
