"""A release of a part of a table is compared with that part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.errors import SettingError

ATTRIBUTES: dict[str, Any] = {
    "ward": {"values": ["A", "B", "C"]},
    "age": {"numeric": [0, 50], "step": 5},
    "out": {"role": "class", "values": ["y", "n"]},
}


def plan(**ward: Any) -> dict[str, Any]:
    return {
        "attributes": {**ATTRIBUTES, "ward": {**ATTRIBUTES["ward"], **ward}},
        "protects": "records",
        "confirmed": True,
        "covers": {"column": "ward", "values": ["B"]},
        "publish": {"method": "hedge", "epsilon": 1},
    }


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    ward = rng.choice(["A", "B", "C"], 900)
    age = np.where(ward == "B", 40, 5) + rng.integers(0, 10, 900)
    out = rng.choice(["y", "n"], 900)
    return pl.DataFrame({"ward": ward, "age": age, "out": out})


@pytest.fixture
def published(visits, tmp_path):
    """Publish and return the folder: a release in memory still knows its plan."""

    def publish(given: dict[str, Any]) -> Path:
        hedgerow.publish(given, data=visits, seed=1).write(tmp_path / "release")
        return tmp_path / "release"

    return publish


def counting(release: Any, data: pl.DataFrame, **more: Any) -> Any:
    return hedgerow.evaluate(release, data, tasks=["counting"], seed=1, **more).facts["counting"]


@pytest.mark.parametrize("role", [{}, {"role": "cover"}])
def test_the_whole_table_is_compared_as_its_part_is(visits, published, role):
    given = plan(**role)
    release = published(given)
    part = visits.filter(pl.col("ward") == "B")
    read = {"plan": given} if role else {}
    assert counting(release, visits, **read) == counting(release, part, **read)


def test_a_column_that_nobody_says_how_to_read_is_asked_for(visits, published):
    release = published(plan(role="cover"))
    with pytest.raises(SettingError, match="covers only records whose 'ward'"):
        counting(release, visits)
    part = visits.filter(pl.col("ward") == "B").drop("ward")
    assert counting(release, part)


def test_the_plan_of_another_part_is_refused(visits, published):
    given = plan(role="cover")
    release = published(given)
    other = {**given, "covers": {"column": "ward", "values": ["C"]}}
    with pytest.raises(SettingError, match="another part"):
        counting(release, visits, plan=other)
