"""Risk at equal utility on UCI Adult, in small: [ARUBA, Fig. 9]; the benchmark takes all of it."""

from __future__ import annotations

from importlib.resources import as_file, files

import numpy as np
import polars as pl
import pytest

from hedgerow.demo import adult_table
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.plane import plane_of

ATTRIBUTES = ("workclass", "education", "marital-status", "occupation", "race", "sex")


@pytest.fixture(scope="module")
def adult():
    table = pl.DataFrame(adult_table()).sample(500, seed=9)
    drawn = np.random.default_rng(9).random((len(table), len(ATTRIBUTES)))
    weights = [pl.Series(f"w-{name}", drawn[:, i]) for i, name in enumerate(ATTRIBUTES)]
    return table.with_columns(weights)


@pytest.mark.parametrize("model", [1, 2, 3])
def test_aruba_is_at_or_below_every_k_anonymous_table(adult, model):
    risk = {"model": model}
    if model != 2:
        risk["weights"] = {name: f"w-{name}" for name in ATTRIBUTES}
    with as_file(files("hedgerow.demo") / "adult" / "taxonomies") as folder:
        disclosed = disclose(
            {
                "attributes": {name: {"taxonomy": f"{folder}/{name}.csv"} for name in ATTRIBUTES},
                "confirmed": True,
                "disclose": {"risk": risk},
            },
            data=adult,
        )
    owner = disclosed.owner
    plane = plane_of(
        owner.ready,
        owner.confidential,
        owner.problems,
        owner.found,
        anonymities=range(1, 101),
        most_records=150,
    )
    assert [table.k for table in plane.anonymous] == list(range(1, 101))
    for table in plane.anonymous:
        assert table.best.utility >= table.anonymous.utility - 1e-9
        assert table.best.risk <= table.anonymous.risk * (1 + 1e-9)
        assert table.k == 1 or table.best.risk < 0.6 * table.anonymous.risk
