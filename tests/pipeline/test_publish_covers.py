"""A release that covers some values of a public column: all other records count for nothing."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import CapError, PlanError
from hedgerow.ledger.ledger import Ledger
from hedgerow.pipeline.covers import booked_cover
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table

MONTH = {
    "role": "cover",
    "date": {"from": "2026-01-01", "to": "2030-12-31", "step": "month", "format": "yyyy-mm"},
}
PLAN: dict[str, Any] = {
    "attributes": {
        "month": MONTH,
        "age": {"numeric": [0, 50], "step": 5},
        "sex": {"values": ["m", "f"]},
        "out": {"role": "class", "values": ["y", "n"]},
    },
    "protects": "records",
    "confirmed": True,
    "covers": {"column": "month", "values": ["2026-11"]},
    "publish": {"method": "hedge", "epsilon": 1},
    "ledger": {"dataset": "visits", "cap": 1},
}
MONTHS = ["2026-09", "2026-10", "2026-11", "2026-12", ""]


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))


def visits(n: int = 1500, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "patient": rng.integers(0, 300, n),
            "month": rng.choice(MONTHS, n),
            "age": rng.integers(0, 50, n),
            "sex": rng.choice(["m", "f"], n),
            "out": rng.choice(["y", "n"], n, p=[0.3, 0.7]),
        }
    )


def plan(*values: str, **more: Any) -> dict[str, Any]:
    told = {"covers": {"column": "month", "values": list(values)}} if values else {}
    return {**PLAN, **told, **more}


def without_covers(given_: dict[str, Any]) -> dict[str, Any]:
    """The plan of a table from which somebody else has taken the other records."""
    attributes = {
        name: {"role": "drop"} if each.get("role") == "cover" else each
        for name, each in given_["attributes"].items()
    }
    rest = {key: value for key, value in given_.items() if key != "covers"}
    return {**rest, "attributes": attributes}


def written(given_, data, folder, **more):
    hedgerow.publish(given_, data=data, out=folder, seed=5, **more)
    return (folder / "release.csv").read_bytes()


PEOPLE = {"protects": None, "person": "patient", "records-per-person": 2}
RELEASED = {**PLAN["attributes"], "month": {"values": [each for each in MONTHS if each]}}
KINDS = {
    "a column for it alone": {},
    "people": PEOPLE,
    "counts of people": {**PEOPLE, "count": "people"},
    "k-anonymity": {"publish": {"method": "mondrian", "k": 5}},
}


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_cover_is_the_table_without_the_other_records(kind, engine, tmp_path):
    told = plan("2026-10", "2026-11", **KINDS[kind])
    part = visits().filter(pl.col("month").is_in(["2026-10", "2026-11"]))
    assert written(told, visits(), tmp_path / "covered", engine=engine) == written(
        without_covers(told), part, tmp_path / "by hand"
    )


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_released_column_can_cover_too(engine, tmp_path):
    told = plan("2026-10", "2026-12", attributes=RELEASED)
    part = visits().filter(pl.col("month").is_in(["2026-10", "2026-12"]))
    assert written(told, visits(), tmp_path / "covered", engine=engine) == written(
        without_covers(told), part, tmp_path / "by hand"
    )


OUTSIDE = {
    "another month": {"month": "2026-10"},
    "no month": {"month": ""},
    "a value that is not listed": {"month": "2026-10", "sex": "SECRET"},
    "nothing else": {"month": "2031-05", "age": None, "sex": None, "out": None},
}


@pytest.mark.parametrize("row", OUTSIDE)
@pytest.mark.parametrize("more", [{}, PEOPLE], ids=["records", "people"])
def test_a_record_outside_changes_nothing(row, more, tmp_path):
    told = plan(**more)
    usual = {"patient": 7, "month": "2026-11", "age": 20, "sex": "m", "out": "y"}
    one = pl.DataFrame([{**usual, **OUTSIDE[row]}], schema=visits().schema, orient="row")
    with_one = pl.concat([visits()[:700], one, visits()[700:]])
    first = written(told, visits(), tmp_path / "without")
    assert written(told, with_one, tmp_path / "with") == first
    for name in ("certificate.json", "recoding.json"):
        if name in {path.name for path in (tmp_path / "with").iterdir()}:
            assert (tmp_path / "with" / name).read_bytes() == (
                tmp_path / "without" / name
            ).read_bytes()
    inside = pl.concat([visits(), pl.DataFrame([usual], schema=visits().schema, orient="row")])
    assert written(told, inside, tmp_path / "inside") != first  # the test can fail


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([*MONTHS, "2035-01"]), st.integers(0, 3)), max_size=20),
    st.sets(st.sampled_from([*MONTHS[:4], "2030-12"]), min_size=1),
)
def test_the_records_that_count_are_those_a_loop_would_take(rows, values):
    told = {
        "attributes": {"month": MONTH, "age": {"numeric": [0, 3]}},
        "covers": {"column": "month", "values": sorted(values)},
        "publish": {"method": "basic-table", "epsilon": 1},
    }
    frame = pl.DataFrame(rows, schema={"month": pl.String, "age": pl.Int64}, orient="row")
    schema = schema_of(plan_of(told))
    table = encode_table(open_table(frame), schema)
    kept = []
    for month, age in rows:
        clamped = "2030-12" if month > "2030-12" else month  # as numbers and dates always are
        if clamped in values:
            kept.append(age)
    assert table.codes[0].tolist() == kept
    assert len(table.codes) == 1  # the column that covers is gone


def test_disjoint_months_may_each_have_the_cap_and_the_ledger_says_so(tmp_path):
    for month in ("2026-09", "2026-10", "2026-11"):
        hedgerow.publish(plan(month), data=visits(), out=tmp_path / month, even_if_noise=True)
    ledger = Ledger()
    assert ledger.spent("visits") == 1
    assert [entry.covers for entry in ledger.entries("visits")] == [
        f"month: {month}" for month in ("2026-09", "2026-10", "2026-11")
    ]
    before = ledger.verify()
    for again in (plan("2026-11", "2026-12"), without_covers(PLAN)):
        with pytest.raises(CapError):
            hedgerow.publish(again, data=visits(), even_if_noise=True)
    longer = {**MONTH, "date": {**MONTH["date"], "to": "2031-12-31"}}
    with pytest.raises(CapError) as refused:  # another calendar clamps other records
        hedgerow.publish(
            plan("2026-12", attributes={**PLAN["attributes"], "month": longer}),
            data=visits(),
            even_if_noise=True,
        )
    assert any("another domain" in note for note in refused.value.__notes__)
    assert ledger.verify() == before


def test_the_certificate_and_the_report_say_what_was_left_out(tmp_path):
    release = hedgerow.publish(PLAN, data=visits(), out=tmp_path / "r", even_if_noise=True)
    told = json.loads((tmp_path / "r" / "certificate.json").read_text(encoding="utf-8"))
    assert told["covers"]["column"] == "month"
    assert told["covers"]["values"] == ["2026-11"]
    assert told["covers"]["people-disjoint"] is None
    assert "month" not in [each["name"] for each in told["data"]["attributes"]]
    assumed = " ".join(each["what"] for each in told["assumed-public"])
    assert "corrected in between counts in both" in assumed
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "Only records whose" in page
    assert "releases of other parts do not depend on it" in page
    assert hedgerow.Release.load(tmp_path / "r").certificate.covers == release.certificate.covers
    again = hedgerow.publish(PLAN, data=visits(), engine="stream", seed=1)
    assert again.certificate.covers == release.certificate.covers


def test_a_run_that_was_made_before_is_answered_with_its_release(tmp_path):
    path = tmp_path / "visits.csv"
    visits().write_csv(path)
    told = {**PLAN, "data": str(path)}
    with pytest.warns(hedgerow.errors.PublishNotice):
        first = hedgerow.publish(told, out=tmp_path / "r")
    with pytest.warns(hedgerow.errors.PublishNotice, match="made before"):
        again = hedgerow.publish(told, out=tmp_path / "r")
    assert again.certificate.ledger == first.certificate.ledger
    assert len(Ledger().entries("visits")) == 1


def test_a_plan_without_covers_has_no_word_of_them(tmp_path):
    release = hedgerow.publish(without_covers(PLAN), data=visits(), seed=1)
    assert release.certificate.covers is None
    assert '"covers"' not in release.certificate.to_json()
    assert '"people"' not in release.certificate.to_json()


def test_people_add_up_over_months_unless_it_is_confirmed_that_they_cannot(tmp_path):
    people = {"ledger": {"people": "hospital-2026", "cap": 2}, **PEOPLE}
    for month in ("2026-10", "2026-11"):
        hedgerow.publish(plan(month, **people), data=visits(), even_if_noise=True)
    with pytest.raises(CapError) as refused:
        hedgerow.publish(plan("2026-12", **people), data=visits(), even_if_noise=True)
    assert any("people-disjoint" in note for note in refused.value.__notes__)
    why = "each card is valid for one month"
    sure = {"column": "month", "people-disjoint": {"confirmed": True, "why": why}}
    ledger = {"people": "cards-2026", "cap": 1}
    for month in ("2026-10", "2026-11"):
        told = {**plan(month, **people), "covers": {**sure, "values": [month]}, "ledger": ledger}
        release = hedgerow.publish(told, data=visits(seed=int(month[-2:])), even_if_noise=True)
    assert release.certificate.covers.people_disjoint == why
    assert why in release.report()
    assert Ledger().spent("cards-2026") == 1


def test_all_tables_of_people_are_booked_on_one_account(tmp_path):
    patients = pl.DataFrame({"age": [3, 40, 12] * 90, "sex": ["m", "f", "f"] * 90})
    patients.write_csv(tmp_path / "patients.csv")
    visits().write_csv(tmp_path / "visits.csv")
    ledger = {"people": "hospital-2026", "cap": 2}
    of_patients = {
        "attributes": {key: PLAN["attributes"][key] for key in ("age", "sex")},
        "one-record-per-person": True,
        "confirmed": True,
        "publish": {"method": "hedge", "epsilon": "1/2"},
        "ledger": ledger,
    }
    of_visits = {**without_covers(PLAN), **PEOPLE, "ledger": ledger}
    release = hedgerow.publish(
        of_patients, data=tmp_path / "patients.csv", out=tmp_path / "r", even_if_noise=True
    )
    assert release.certificate.ledger.people
    assert release.certificate.data.name == "patients.csv"
    hedgerow.publish(of_visits, data=tmp_path / "visits.csv", even_if_noise=True)
    account = Ledger().account("hospital-2026")
    assert (account.people, account.spent) == (True, Fraction(3, 2))
    assert [each["table"] for each in account.tables()] == ["patients.csv", "visits.csv"]
    with pytest.raises(CapError):
        hedgerow.publish(of_visits, data=tmp_path / "visits.csv", even_if_noise=True)


def test_check_says_what_a_cover_does():
    told = " ".join(hedgerow.check(PLAN).outline.notes)
    assert "Only records whose 'month' is '2026-11' count" in told
    assert "adds up only with releases" in told
    people = " ".join(hedgerow.check({**PLAN, **PEOPLE}).outline.notes)
    assert "add up all the same" in people


DAYS = {"from": "2026-01-01", "to": "2027-12-31", "step": "day"}
WEEKS = {**DAYS, "step": "week"}


@pytest.mark.parametrize(
    ("column", "value", "codes"),
    [
        ({"values": ["a", "b", "c"]}, "b", [1]),
        ({"taxonomy": {"x": ["a", "b"], "y": ["c"]}}, "x", [0, 1]),
        ({"numeric": [1, 12]}, "11", [10]),
        ({"numeric": [0, 99], "step": 10}, "[10, 20)", [1]),
        ({"edges": [0, 5, 9]}, "[5, 9]", [1]),
        ({"date": DAYS}, "2026-01-03", [2]),
        ({"date": DAYS}, "2026-02", list(range(31, 59))),
        ({"date": DAYS}, "2026-Q1", list(range(90))),
        ({"date": DAYS}, "2027", list(range(365, 730))),
        ({"date": {**DAYS, "step": "month"}}, "2026-Q4", [9, 10, 11]),
        ({"date": WEEKS}, "2026-01-05", [1]),
        ({"date": WEEKS}, "2026-01", None),  # a week lies across the end of January
        ({"date": DAYS}, "2028", None),
        ({"date": DAYS}, "2026-13", None),
        ({"date": DAYS}, "2026-02-30", None),
        ({"date": DAYS}, "November", None),
        ({"numeric": [0, 99], "step": 10}, "15", None),
        ({"numeric": [1, 12]}, "13", None),
        ({"numeric": [1, 12]}, "a", None),
        ({"values": ["a", "b", "c"]}, "d", None),
    ],
)
@pytest.mark.parametrize("missing", ["drop", "value"])
def test_values_stand_for_codes_of_the_public_domain(column, value, codes, missing):
    role = {"role": "cover"} if missing == "drop" else {}
    told = {
        "missing": missing,
        "attributes": {"part": {**column, **role}, "age": {"numeric": [0, 3]}},
        "covers": {"column": "part", "values": [value]},
    }
    if codes is None:
        with pytest.raises(PlanError, match="is not a value of 'part'") as refused:
            schema_of(plan_of(told))
        assert "covers.values[0]" in refused.value.where
        assert refused.value.do
        return
    shift = missing == "value" and not {"values", "taxonomy"} & set(column)  # code 0: missing
    assert list(schema_of(plan_of(told)).cover.codes) == [code + shift for code in codes]


CHANGES = {
    "a longer calendar": {"month": {**MONTH, "date": {**MONTH["date"], "to": "2031-12-31"}}},
    "another format": {"month": {**MONTH, "date": {**MONTH["date"], "format": "yyyymm"}}},
    "another text for missing": {"month": {**MONTH, "missing-values": ["none"]}},
}


@pytest.mark.parametrize("change", CHANGES)
def test_only_covers_of_the_same_rule_are_compared(change):
    def rule(attributes):
        told = plan_of({**PLAN, "attributes": {**PLAN["attributes"], **attributes}})
        return booked_cover(told, schema_of(told)).key

    assert rule(CHANGES[change]) != rule({})
    assert rule({"age": {"numeric": [0, 99]}}) == rule({})  # other columns do not matter
