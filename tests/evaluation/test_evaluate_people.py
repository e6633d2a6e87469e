"""Releases for people are measured against people as well."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.errors import SettingError
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.report.headlines import headlines

PLAN: dict[str, Any] = {
    "attributes": {
        "ward": {"values": ["a", "b", "c"]},
        "ill": {"role": "class", "values": ["no", "yes"]},
    },
    "person": "patient",
    "records-per-person": 8,
    "count": "people",
    "confirmed": True,
    "publish": {"method": "basic-table", "epsilon": 50},
}


def visits(n: int = 900) -> pl.DataFrame:
    """Half of the visits are those of few patients, who are all in ward a."""
    rng = np.random.default_rng(4)
    often = rng.random(n) < 0.5
    patient = np.where(often, rng.integers(0, 20, n), 20 + rng.integers(0, 300, n))
    return pl.DataFrame(
        {
            "patient": patient,
            "ward": np.where(often, "a", rng.choice(["a", "b", "c"], n)),
            "ill": rng.choice(["no", "yes"], n),
        }
    )


def evaluated(tmp_path, data: pl.DataFrame | None = None, **more: Any):
    release = hedgerow.publish({**PLAN, **more}, data=visits(), out=tmp_path / "out", seed=2)
    measured = hedgerow.evaluate(
        tmp_path / "out",
        visits() if data is None else data,
        tasks=["counting", "relations", "people"],
        out=tmp_path / "evaluation",
    )
    return release, measured


def test_a_release_that_counts_people_is_compared_with_people(tmp_path):
    """Against a loop over records, each with its part of a person."""
    release, measured = evaluated(tmp_path)
    data, facts = visits(), measured.facts
    sizes = Counter(data["patient"].to_list())
    assert facts["data"] == {"records": len(data), "counted": "people", "people": len(sizes)}
    counting, told = facts["counting"], facts["people"]
    assert counting["against"] == "people"
    assert counting["total"]["records"] == len(sizes)
    assert counting["total"]["error"] < 0.05
    assert told["n-people"] == len(sizes)
    assert told["most-records"] == max(sizes.values())
    whole = sum(n <= 8 for n in sizes.values()) / len(sizes)
    assert told["people-whole"] == pytest.approx(whole)
    assert told["records-kept"] == pytest.approx(sum(min(n, 8) for n in sizes.values()) / len(data))
    true: Counter[str] = Counter()
    for patient, ward, _ in data.iter_rows():
        true[ward] += 1 / sizes[patient]
    released = Counter[str]()
    published = pl.read_csv(tmp_path / "out" / "release.csv")
    for ward, count in published.select("ward", "count").iter_rows():
        released[ward] += count
    shares = [abs(true[ward] / true.total() - released[ward] / released.total()) for ward in "abc"]
    of_wards = marginal_errors(release.groups, _table(release), ways=1, weights=_weights())
    assert of_wards.mean == pytest.approx(sum(shares) / 2)
    assert of_wards.mean < 0.05  # and against records, of which half are in ward a
    assert told["marginals-of-records"][0]["mean"] > 0.1
    assert told["marginals-of-people"][0]["mean"] < 0.05


def _table(release):
    from hedgerow.encode.table import encode_table
    from hedgerow.read.open import open_table

    return encode_table(open_table(visits()), release.schema)


def _weights():
    sizes = Counter(visits()["patient"].to_list())
    return np.array([1 / sizes[each] for each in visits()["patient"].to_list()])


def test_a_release_that_counts_records_is_compared_with_records_and_people(tmp_path):
    _, measured = evaluated(tmp_path, count="records")
    counting, told = measured.facts["counting"], measured.facts["people"]
    assert counting["against"] == told["counted"] == "records"
    assert counting["total"]["records"] == len(visits())
    assert counting["marginals"][0]["mean"] > 0
    page = (tmp_path / "evaluation" / "evaluation.html").read_text()
    assert "Error compared with people" in page
    assert "The release counts the used records" in page
    said = [line.what for line in headlines(measured.facts)]
    assert "1-way marginals, error compared with records (the unit of its counts)" in said
    assert "1-way marginals, error compared with people" in said


def test_the_page_of_people_speaks_of_people(tmp_path):
    evaluated(tmp_path)
    page = (tmp_path / "evaluation" / "evaluation.html").read_text()
    assert "people in the data" in page
    assert "the number of people with certain values" in page
    assert "The release counts people, so it is compared with people" in page


def test_data_without_the_column_are_measured_as_records_and_that_is_said(tmp_path):
    hedgerow.publish(PLAN, data=visits(), out=tmp_path / "out", seed=2)
    measured = hedgerow.evaluate(tmp_path / "out", visits().drop("patient"), tasks=["all"])
    assert "no column of the people" in measured.facts["skipped"]["people"]
    assert measured.facts["counting"]["against"] == "records"
    with pytest.raises(SettingError, match="no column of the people"):
        hedgerow.evaluate(tmp_path / "out", visits().drop("patient"), tasks=["people"])


def test_a_release_of_records_has_no_people(tmp_path):
    alone = {key: PLAN[key] for key in ("attributes", "confirmed", "publish")}
    alone["protects"] = "records"
    hedgerow.publish(alone, data=visits(), out=tmp_path / "out", seed=2)
    measured = hedgerow.evaluate(tmp_path / "out", visits(), tasks=["counting"])
    assert measured.facts["data"] == {"records": len(visits())}
    with pytest.raises(SettingError, match="names no column of people"):
        hedgerow.evaluate(tmp_path / "out", visits(), tasks=["people"])
