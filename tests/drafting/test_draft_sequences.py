"""Drafted plans for sequences: lines, lists and long tables, and whose they are."""

from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.errors import DataError, PlanError
from support.drafts import unit_of
from support.sequences import journeys

LONG = {"items": "station", "record": "trip", "order": "time"}


def trips(n: int = 400) -> pl.DataFrame:
    """Every card has two trips, and one of a rare station."""
    rows = [
        {"card": f"c{trip // 2}", "trip": trip, "time": place, "station": f"s{item}"}
        for trip, each in enumerate(journeys(n))
        for place, item in enumerate(each)
    ]
    return pl.DataFrame([*rows, {"card": "c1", "trip": n, "time": 0, "station": "secret"}])


def published(draft, data):
    plan = draft.plan.model_copy(update={"confirmed": True, "ledger": None, **unit_of(draft.plan)})
    return hedgerow.publish(plan, data=data, seed=1)


def test_a_long_table_proposes_chain_and_never_a_union():
    draft = draft_plan(trips(), **LONG, ordered=True)
    items = draft.plan.items
    assert (items.ordered, items.column, items.record, items.order) == (True, *LONG.values())
    assert draft.plan.publish.method == "chain"
    assert (draft.plan.person, draft.plan.records_per_person) == (("card",), 2)
    assert (draft.plan.join, draft.plan.records) == (None, 400)
    assert "union" not in draft.text
    assert "secret" not in draft.text
    assert "several sequences" in draft.notes[-1]
    assert len(published(draft, trips()).sequences)


def test_a_column_of_order_says_that_it_is_about_sequences():
    assert draft_plan(trips(), **LONG).text == draft_plan(trips(), **LONG, ordered=True).text


def test_one_trip_to_a_card_leaves_open_whether_it_can_have_more():
    alone = trips().with_columns(card=pl.col("trip"))
    draft = draft_plan(alone, **LONG)
    assert (draft.plan.person, draft.plan.one_record_per_person) == (("card",), None)
    assert "Does 'card' identify the person" in draft.plan.to_do[0]


def test_lists_are_in_order_already():
    lists = trips().sort("time").group_by("card", "trip").agg("station")
    draft = draft_plan(lists, items="station", ordered=True)
    assert (draft.plan.items.order, draft.plan.records_per_person) == (None, 2)
    assert len(published(draft, lists).sequences)


@pytest.mark.parametrize("name", ["trips.dat", "trips.txt"])
def test_lines_are_sequences_where_it_is_said(name, tmp_path):
    text = "\n".join(" ".join(map(str, each)) for each in journeys(400))
    (tmp_path / name).write_text(text)
    draft = draft_plan(tmp_path / name, ordered=True, base=tmp_path)
    assert draft.plan.items.ordered
    assert draft.plan.publish.method == "chain"
    assert len(published(draft, tmp_path / name).sequences)


def test_a_header_of_sequences_leaves_sets_to_those_who_do_not_ask(tmp_path):
    (tmp_path / "a.seq").write_text("% made up\n% Sequences:\n" + "1 2 1\n2 2\n" * 30)
    assert draft_plan(tmp_path / "a.seq").plan.items.as_ == "sets"
    assert draft_plan(tmp_path / "a.seq", ordered=True).plan.items.as_ is None


def test_many_names_are_broken_into_lines_that_load(tmp_path):
    stops = [f"a station with a long name {place}" for place in range(12)]
    (tmp_path / "a.dat").write_text("\n".join([", ".join(stops)] * 25))
    for ordered in (False, True):
        draft = draft_plan(tmp_path / "a.dat", ordered=ordered)
        assert sorted(draft.plan.items.universe) == sorted(stops)


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"ordered": True, "items": "station", "record": "trip"}, PlanError, "no order of their"),
        ({"order": "time", "items": "station"}, PlanError, "Only the rows of a long table"),
        ({"order": "time"}, PlanError, "Only the rows of a long table"),
        ({"ordered": True}, PlanError, "the column of sequences is not set"),
        (
            {"ordered": True, "items": "station"},
            DataError,
            "no column identifies the record of a row",
        ),
        ({**LONG, "order": "clock"}, DataError, "The column 'clock' does not exist"),
        ({**LONG, "method": "coterie"}, PlanError, "coterie"),
    ],
)
def test_what_cannot_be_in_order_is_refused(given, error, match):
    with pytest.raises(error, match=match):
        draft_plan(trips(), **given)


def test_the_command_drafts_what_check_and_publish_take(tmp_path):
    trips().write_csv(tmp_path / "trips.csv")
    plan = tmp_path / "plan.yaml"
    asked = [part for name, column in LONG.items() for part in (f"--{name}", column)]
    wanted = ["draft", str(tmp_path / "trips.csv"), "--ordered", *asked, "-o", str(plan)]
    wanted += ["--person", "card", "--records-per-person", "2"]
    done = CliRunner().invoke(app, wanted)
    assert done.exit_code == 0, done.output
    assert "sequences, in the column station" in done.output
    plan.write_text(plan.read_text().replace("confirmed: false", "confirmed: true"))
    assert CliRunner().invoke(app, ["check", str(plan)]).exit_code == 0
    with pytest.raises(PlanError, match="--items"):
        draft_plan(tmp_path / "trips.csv", ordered=True)
