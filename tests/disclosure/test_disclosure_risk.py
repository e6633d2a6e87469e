"""A result is called a disclosure only where risk fell, or where somebody accepted it."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.movement import (
    CROWD,
    STEPS,
    THRESHOLD,
    RiskMovement,
    RiskNotLoweredError,
    _step,
)
from support.disclosure_tables import METHODS, patients, plan

KEEPS_ALL = {"method": "aggregate", "lambda": 1}
"""So little weight on risk that every record stays as it is."""


def moved(**changes) -> RiskMovement:
    facts = {
        "mean": (1.0, 0.4),
        "largest": (3.0, 3.0),
        "crowd": 1.0,
        "n_rows": 10,
        "unique": 3,
        "verbatim": 0.5,
    }
    return RiskMovement(**{**facts, **changes})


def test_what_lowers_no_risk_is_refused_and_nothing_is_written(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(RiskNotLoweredError) as caught:
        disclose(plan(**KEEPS_ALL), data=patients(), out=out)
    assert caught.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []  # nor the answers that were kept on the way
    movement = caught.value.movement
    assert movement.mean[0] == movement.mean[1] > 0
    assert movement.verbatim == 1.0


def test_the_refusal_tells_no_figure():
    with pytest.raises(RiskNotLoweredError) as caught:
        disclose(plan(**KEEPS_ALL), data=patients())
    text = f"{caught.value} {caught.value!r}"
    numbers = [*caught.value.movement.mean, *caught.value.movement.largest]
    for number in [*numbers, caught.value.movement.unique, len(patients())]:
        assert f"{number:.3g}" not in text.replace(str(THRESHOLD), "")
    assert "--accept-risk" in text
    assert "1/2" in text


def test_accepted_risk_is_written_and_certified(tmp_path):
    out = tmp_path / "out"
    disclosed = disclose(plan(**KEEPS_ALL), data=patients(), out=out, accept_risk=True)
    told = json.loads((out / "certificate.json").read_text())
    assert told["disclosure"] == {
        "threshold": "1/2",
        "lowered": False,
        "accepted": True,
        "mean-left": "1",
        "largest-left": "1",
        "unique-rows": disclosed.owner.movement.unique,
        "verbatim": 1.0,
    }
    assert "the owner accepted this" in told["guarantee"]["statement"]
    assert hedgerow.disclose(plan(**KEEPS_ALL), data=patients(), accept_risk=True).n_rows == 150


def test_a_disclosure_that_lowers_risk_needs_nobody_to_accept_it(tmp_path):
    out = tmp_path / "out"
    seen = []
    disclose(plan(**METHODS["aruba"]), data=patients(), out=out, on_risk=seen.append)
    told = json.loads((out / "certificate.json").read_text())["disclosure"]
    assert told["lowered"] is True
    assert told["accepted"] is False
    assert Fraction(told["mean-left"]) <= THRESHOLD
    (movement,) = seen
    assert movement.mean[1] <= Fraction(told["mean-left"]) * movement.mean[0]
    # Coarse steps stand there, and no risk: not even rounded ones.
    assert {told["mean-left"], told["largest-left"]} <= {str(step) for step in STEPS}


@pytest.mark.parametrize("name", METHODS)
def test_unique_rows_and_verbatim_cells_are_those_of_the_disclosed_table(name):
    table = patients(60)
    disclosed = disclose(plan(**METHODS[name]), data=table, accept_risk=True)
    movement = disclosed.owner.movement
    rows = [tuple(row.values()) for row in disclosed.to_arrow().to_pylist()]
    assert movement.unique == sum(n == 1 for n in Counter(rows).values())
    raw = [tuple(str(row[key]) for key in ("age", "ward", "sex")) for row in table.to_pylist()]
    pairs = [zip(a, b[:3], strict=True) for a, b in zip(raw, rows, strict=True)]
    same = [own == shown for each in pairs for own, shown in each]
    assert movement.verbatim == pytest.approx(np.mean(same))
    risks = disclosed.owner.risks().to_pydict()
    after = [0.0 if each is None else each for each in risks["risk_after"]]
    assert movement.mean == pytest.approx((np.mean(risks["risk_before"]), np.mean(after)))
    assert movement.largest == pytest.approx((max(risks["risk_before"]), max(after)))


def test_where_many_people_are_alike_there_is_no_risk_to_lower():
    crowd = pa.concat_tables([patients(4)] * 40)
    disclosed = disclose(plan(**KEEPS_ALL), data=crowd)
    movement = disclosed.owner.movement
    assert movement.crowd >= CROWD
    assert movement.mean[0] == movement.mean[1]
    assert "low from the beginning" in disclosed.certificate.guarantee.statement


def test_a_withheld_record_has_no_risk_left():
    disclosed = disclose(plan(risk={"model": 2, "at-most": 0.001}), data=patients(40))
    assert disclosed.owner.n_withheld == 40
    assert disclosed.owner.movement.mean[1] == 0
    assert disclosed.owner.movement.unique == 0


def test_the_threshold_is_where_it_is_said_to_be():
    assert moved(mean=(1.0, 0.5)).lowered
    assert not moved(mean=(1.0, 0.51)).lowered
    assert moved(mean=(1.0, 1.0), crowd=20.0).lowered
    assert not moved(mean=(1.0, 1.0), crowd=19.9).lowered
    assert moved(mean=(0.0, 0.0)).lowered


@given(st.floats(0, 1e6), st.floats(0, 1e6))
@settings(deadline=None)
def test_steps_are_never_below_the_truth_and_say_when_risk_grew(before, after):
    step = _step(before, after)
    if step is None:
        assert after > before
    else:
        assert after <= float(step) * before * (1 + 1e-6)


def test_records_themselves_say_nothing_in_a_repr():
    assert "0.4" not in repr(moved())
