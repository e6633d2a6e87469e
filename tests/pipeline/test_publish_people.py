"""Releases that protect a person with all their records."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import DataError, MissingPrivacyUnitError, PlanError
from hedgerow.ledger.ledger import Ledger
from hedgerow.model.method import Approximate
from hedgerow.model.people import CANDIDATES
from hedgerow.pipeline.people import bound_scores
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from support.engine_plans import methods, name_of, variants

PLAN: dict[str, Any] = {
    "attributes": {
        "age": {"numeric": [0, 50], "step": 5},
        "sex": {"values": ["m", "f"]},
        "out": {"role": "class", "values": ["y", "n"]},
    },
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 1},
    "ledger": {"dataset": "visits", "cap": 4},
}
PEOPLE = {"protects": None, "person": "patient", "records-per-person": 3}
COUNTED = [
    {"method": "hedge"},
    {"method": "weave"},
    {"method": "diffgen", "h": 3},
    {"method": "diffmulti", "h": 4, "score": "max"},
    {"method": "basic-table"},
]


def visits(n: int = 3000, patients: int = 700, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "patient": rng.integers(0, patients, n),
            "age": rng.integers(0, 50, n),
            "sex": rng.choice(["m", "f"], n),
            "out": rng.choice(["y", "n"], n, p=[0.3, 0.7]),
        }
    )


def plan(**more: Any) -> dict[str, Any]:
    settings = {**PLAN["publish"], **more.pop("publish", {})}
    return {**PLAN, **PEOPLE, **more, "publish": settings}


@pytest.mark.parametrize("settings", COUNTED, ids=lambda each: each["method"])
@pytest.mark.parametrize("counted", ["records", "people"])
def test_the_stream_and_memory_give_the_same_release(settings, counted, tmp_path):
    for engine in ("memory", "stream"):
        hedgerow.publish(
            plan(count=counted, publish=settings),
            data=visits(),
            out=tmp_path / engine,
            seed=5,
            engine=engine,
        )
    files = [(tmp_path / engine / "release.csv").read_bytes() for engine in ("memory", "stream")]
    assert files[0] == files[1]


def ways_of_one_record():
    """Every method of pure epsilon, as records and, where it has that, as people."""
    for name, settings in variants("table"):
        model = METHODS[name]
        if not issubclass(model, PrivateSettings):
            continue
        publish = model.model_validate({"method": name, "epsilon": 1, **settings})
        if isinstance(publish.build(has_class=True), Approximate):
            continue
        offered = publish.refuses_people(has_class=True) is None
        for counted in ("records", "people") if offered else ("records",):
            given = {"method": name, **settings}
            yield pytest.param(given, counted, id=f"{name_of((name, settings))}-{counted}")


@pytest.mark.parametrize(("settings", "counted"), list(ways_of_one_record()))
def test_people_of_one_record_are_published_as_records_are(settings, counted):
    """Byte for byte, on memory and on disk, for every method that protects people."""
    data = visits(600).with_row_index("who")
    alone = plan(person="who", count=counted, publish=settings) | {"records-per-person": 1}
    without = {key: value for key, value in alone.items() if key in PLAN} | {"protects": "records"}
    digests = {
        hedgerow.publish(each, data=data, seed=9, engine=engine).digest
        for each, engine in ((without, "memory"), (alone, "memory"), (alone, "stream"))
    }
    assert len(digests) == 1


def test_every_method_is_tried_with_people_of_one_record():
    tried = {each.values[0]["method"] for each in ways_of_one_record()}
    private = {name for name in methods("table") if issubclass(METHODS[name], PrivateSettings)}
    assert tried == private - {"truthful", "sample"}  # which have a delta


def test_the_certificate_says_who_is_protected_and_the_ledger_books_a_persons_epsilon():
    release = hedgerow.publish(plan(), data=visits())
    promised = release.certificate.guarantee
    assert promised.neighbours == "add or remove one person with all their records"
    assert "any one patient (column patient), with all their records" in promised.statement
    assert promised.person.records == 3
    assert release.certificate.budget.total == promised.epsilon == 1
    assert release.certificate.counts.share < Fraction(1, 3)  # of one record
    assert Ledger().spent("visits") == 1
    assert not any("at most one record" in each.what for each in release.certificate.assumed_public)


def test_people_are_counted_in_people():
    data = visits()
    release = hedgerow.publish(plan(count="people", publish={"method": "basic-table"}), data=data)
    n_people = data["patient"].n_unique()
    assert abs(release.certificate.data.noisy_total - n_people) < 120
    assert release.certificate.counts.within_95 == 3  # as for records of epsilon 1


@given(
    st.lists(st.integers(0, 30), min_size=65, max_size=65),
    st.integers(1, 200),
    st.fractions(Fraction(1, 10), 5, max_denominator=20),
)
def test_one_person_moves_the_score_of_a_bound_by_what_is_said(sizes, records, epsilon):
    before = np.array(sizes, dtype=np.int64)
    after = before.copy()
    after[min(records, CANDIDATES[-1])] += 1
    moved = bound_scores(after, epsilon) - bound_scores(before, epsilon)
    cut = [-1 if min(records, CANDIDATES[-1]) > most else 0 for most in CANDIDATES]
    assert moved.tolist() == cut  # 1 at the most, and never upwards


@pytest.mark.parametrize(
    ("sizes", "best"),
    [
        ({1: 37_000, 2: 7000, 3: 2000, 4: 1137, 6: 900, 12: 132}, 4),  # diabetes-130
        ({1: 4000}, 1),
        ({1: 100_000, 5: 100_000}, 8),
        ({64: 10**7}, 64),
    ],
)
def test_a_bound_is_worth_its_noise(sizes, best):
    counted = np.zeros(65, dtype=np.int64)
    for records, people in sizes.items():
        counted[records] = people
    assert CANDIDATES[int(bound_scores(counted, Fraction(19, 20)).argmax())] == best


def test_a_chosen_bound_is_paid_for_once():
    release = hedgerow.publish(plan(**{"records-per-person": "auto"}), data=visits())
    budget = release.certificate.budget
    lines = {line.on: line.share for line in budget.spends}
    assert lines["records per person"] == Fraction(1, 20)
    assert budget.total == 1
    assert release.certificate.guarantee.person.records in CANDIDATES


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"person": "nobody"}, "The column 'nobody' does not exist"),
        ({"records-per-person": 0}, "is not from 1 to"),
        ({"records-per-person": True}, "not a whole number"),
        ({"records-per-person": None}, "records-per-person: This setting is missing"),
        ({"person": "age"}, "'age' is an attribute that would be released"),
        ({"person": ["patient", "patient"]}, "occurs twice"),
        ({"person": None}, "needs 'person'"),
        ({"one-record-per-person": True}, "A person is named as well"),
        ({"records-per-person": "auto", "count": "people"}, "no bound to choose"),
        ({"publish": {"method": "mondrian", "k": 5, "epsilon": None}}, "gives no guarantee"),
        ({"publish": {"method": "truthful", "delta": "1/100"}}, "delta is that of one times"),
        (
            {"count": "people", "publish": {"method": "diffgen", "h": 3, "score": "infogain"}},
            "the score infogain is not shown",
        ),
        ({"count": "people", "publish": {"method": "privbayes"}}, "cannot count people"),
    ],
)
def test_wrong_uses_end_with_one_message_and_nothing_spent(more, match):
    given = plan(**more)
    given["publish"] = {k: v for k, v in given["publish"].items() if v is not None}
    given = {key: value for key, value in given.items() if value is not None}
    with pytest.raises((PlanError, DataError), match=match):
        hedgerow.publish(given, data=visits(200))
    assert Ledger().find("visits") is None


def test_a_record_without_a_person_spends_nothing():
    data = visits(200).with_columns(
        patient=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(pl.col("patient"))
    )
    with pytest.raises(DataError, match="Record 8 does not name its person"):
        hedgerow.publish(plan(), data=data)
    assert Ledger().find("visits") is None


def test_a_column_that_is_called_like_a_persons_is_proposed_where_no_unit_is_stated():
    given = {**PLAN, "attributes": {**PLAN["attributes"], "patient_id": {"role": "identifier"}}}
    data = visits(500).rename({"patient": "patient_id"})
    del given["protects"]
    with pytest.raises(
        MissingPrivacyUnitError, match="'person: patient_id' and 'records-per-person"
    ):
        hedgerow.publish(given, data=data)
    assert Ledger().find("visits") is None
    hedgerow.publish({**given, "one-record-per-person": True}, data=data)
    hedgerow.publish({**given, "person": "patient_id", "records-per-person": 2}, data=data)
    assert Ledger().spent("visits") == 2


def test_a_person_may_be_told_by_a_column_that_an_attribute_follows_from():
    data = visits(400).with_columns(birth=pl.date(1980, 1, 1) + pl.duration(days=pl.col("patient")))
    given = plan(person=["birth"])
    given["attributes"] = {
        **PLAN["attributes"],
        "born": {"from": "birth", "part": "year", "numeric": [1975, 1985]},
    }
    release = hedgerow.publish(given, data=data)
    assert release.certificate.guarantee.person.columns == ("birth",)


def test_check_tells_people_from_records():
    given = {key: value for key, value in plan(records=20_000).items() if key != "ledger"}
    alone = {key: value for key, value in given.items() if key not in PEOPLE}
    records, people, auto, one = (
        hedgerow.check(each)
        for each in (
            given,
            {**given, "count": "people"},
            {**given, "records-per-person": "auto"},
            alone,
        )
    )
    assert people.error_95 == one.error_95 < records.error_95 < auto.error_95
    assert any(
        "Protects each patient (column patient) with all" in each for each in records.outline.notes
    )
