"""Sequences through the whole chain: plans, ways to store them, engines, release, evaluation."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_engine_stream import released

import hedgerow
from hedgerow.count.stream import baskets as basket_stream
from hedgerow.encode.order import place_ranks
from hedgerow.errors import InputError, PlanError, ReleaseError
from hedgerow.plan.load import plan_of as loaded
from support.sequences import journeys

ITEMS = {"universe": [0, 7], "ordered": True}


def plan_of(**changes):
    base = {
        "items": ITEMS,
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "chain", "epsilon": 2},
        "ledger": {"dataset": "trips", "cap": 20},
    }
    return base | changes


@pytest.fixture
def trips():
    return journeys(1500)


def lines_file(tmp_path, records):
    path = tmp_path / "trips.dat"
    path.write_text("\n".join(" ".join(map(str, each)) for each in records), encoding="utf-8")
    return path


def lists_frame(records):
    return pl.DataFrame({"stops": [list(map(str, each)) for each in records]})


def long_frame(records, *, persons=None):
    rows = [
        {"trip": f"t{trip}", "time": place, "station": str(item), "card": f"c{trip % 700}"}
        for trip, each in enumerate(records)
        for place, item in enumerate(each)
    ]
    np.random.default_rng(5).shuffle(rows)
    frame = pl.DataFrame(rows)
    return frame if persons else frame.drop("card")


LONG = {**ITEMS, "record": "trip", "column": "station", "order": "time"}


def test_lines_lists_and_long_tables_give_the_same_release(trips, tmp_path):
    made = [
        hedgerow.publish(plan_of(), data=lines_file(tmp_path, trips), seed=4),
        hedgerow.publish(
            plan_of(items={**ITEMS, "column": "stops"}), data=lists_frame(trips), seed=4
        ),
        hedgerow.publish(plan_of(items=LONG), data=long_frame(trips), seed=4),
    ]
    assert len({release.digest for release in made}) == 1
    assert len(made[0].sequences) > 20


def test_the_stream_gives_the_same_release(trips, tmp_path, monkeypatch):
    monkeypatch.setattr(basket_stream, "items_per_piece", lambda memory: 997)
    data = lines_file(tmp_path, trips)
    for engine in ("memory", "stream"):
        hedgerow.publish(plan_of(), data=data, out=tmp_path / engine, seed=4, engine=engine)
    assert released(tmp_path / "stream") == released(tmp_path / "memory")


PEOPLE = {"protects": None, "person": "card", "records-per-person": 2}


def test_people_are_protected_with_all_their_sequences(trips, tmp_path, monkeypatch):
    plan = plan_of(items=LONG, **PEOPLE)
    data = long_frame(trips, persons=True)
    shuffled = data.sample(fraction=1, shuffle=True, seed=1)
    one = hedgerow.publish(plan, data=data, seed=4)
    assert hedgerow.publish(plan, data=shuffled, seed=4).digest == one.digest
    assert hedgerow.publish(plan, data=data, seed=4, engine="stream").digest == one.digest
    guarantee = one.certificate.guarantee
    assert guarantee.person.records == 2
    shares = [line.share for line in one.certificate.budget.spends]
    assert sum(shares) == 2
    assert one.certificate.data.items.ordered


def test_a_release_is_booked_written_and_read_back(trips, tmp_path):
    data, out = lines_file(tmp_path, trips), tmp_path / "release"
    release = hedgerow.publish(plan_of(), data=data, out=hedgerow.Output(folder=out, parquet=True))
    again = hedgerow.SequenceRelease.load(out)
    assert again.digest == release.digest
    assert np.array_equal(again.sequences.prefixes.counts, release.sequences.prefixes.counts)
    lines = (out / "release.dat").read_text(encoding="utf-8").splitlines()
    assert len(lines) == int(release.sequences.counts.sum())
    assert (out / "release.csv").read_text(encoding="utf-8").startswith("sequence,count\n")
    assert "most frequent paths" in (out / "report.html").read_text(encoding="utf-8")
    assert "<svg viewBox" in release.report()
    assert pl.read_parquet(out / "release.parquet").columns == ["sequence", "count"]
    with pytest.raises(ReleaseError, match="SequenceRelease"):
        hedgerow.BasketRelease.load(out)


def test_a_release_answers_how_many_begin_so_and_how_many_hold_it(trips, tmp_path):
    release = hedgerow.publish(plan_of(), data=lines_file(tmp_path, trips), seed=4)
    rows = {tuple(row): n for row, n in zip(*release.to_arrow().to_pydict().values(), strict=True)}
    begins = release.count(["0"])
    assert begins.estimate == sum(n for row, n in rows.items() if row[0] == "0")
    assert begins.standard_error > 0
    asked = ("0", "0")
    held = sum(
        n for row, n in rows.items() if any(row[i : i + 2] == asked for i in range(len(row)))
    )
    answer = release.count(asked, anywhere=True)
    assert (answer.estimate, math.isnan(answer.standard_error)) == (held, True)
    with pytest.raises(InputError, match="no order"):
        release.count({"0", "1"})
    with pytest.raises(InputError, match="not an item"):
        release.count(["nowhere"])


def test_the_owner_can_evaluate(trips, tmp_path):
    data, out = lines_file(tmp_path, trips), tmp_path / "release"
    hedgerow.publish(plan_of(), data=data, out=out, epsilon=40, seed=4)
    found = hedgerow.evaluate(out, data, out=tmp_path / "owner").facts
    assert list(found)[4:8] == ["prefixes", "substrings", "patterns", "lengths"]
    assert found["prefixes"]["lengths"][0]["relative"] < 0.02
    assert found["patterns"]["f1"] > 0.8
    assert found["lengths"]["total-variation"] < 0.1
    page = (tmp_path / "owner" / "evaluation.html").read_text(encoding="utf-8")
    assert "Substrings" in page
    assert json.dumps(found)


WRONG = [
    ({"items": {**ITEMS, "as": "sets"}}, "drops the order"),
    ({"items": {**ITEMS, "order": "time"}}, "Only the rows of a long table"),
    ({"items": {**ITEMS, "record": "trip", "column": "station"}}, "no order of their own"),
    ({"items": {**LONG, "ordered": False}}, "Sets have no order"),
    ({"items": {**LONG, "order": "trip"}}, "the column of the records"),
    ({"items": LONG, "protects": None, "person": "card", "join": "union"}, "cannot be joined"),
    ({"items": LONG, **PEOPLE, "count": "people"}, "counted in parts of a person"),
    ({"items": LONG, **PEOPLE, "person": "time"}, "the column of the order"),
    ({"publish": {"method": "diffpart", "epsilon": 1}}, "does not publish ordered items"),
    ({"items": {"universe": [0, 7]}}, "does not publish items"),
]


@pytest.mark.parametrize(("change", "told"), WRONG, ids=[told for _, told in WRONG])
def test_plans_that_cannot_be_meant_are_refused(change, told):
    with pytest.raises(PlanError, match=told):
        hedgerow.check(plan_of(**change))


@pytest.mark.parametrize(
    ("items", "method"), [(ITEMS, "chain"), ({"universe": [0, 30]}, "coterie")]
)
def test_a_plan_that_names_no_method_gets_the_one_for_what_it_describes(items, method):
    plan = loaded(plan_of(items=items, publish={"epsilon": 1}))
    assert plan.publish.method == method


def test_sequences_without_a_method_are_published_by_chain(trips, tmp_path):
    data = lines_file(tmp_path, trips)
    unnamed = hedgerow.publish(plan_of(publish={"epsilon": 2}), data=data, seed=4)
    assert unnamed.certificate.method.name == "chain"
    assert unnamed.digest == hedgerow.publish(plan_of(), data=data, seed=4).digest


def test_check_says_how_frequent_a_prefix_must_be():
    notes = hedgerow.check(plan_of(records=1000)).outline.notes
    assert "sequences or more begin with it" in notes[0]
    assert "Little beyond" in notes[-1]


# The order of rows.


@given(st.lists(st.one_of(st.integers(-99, 99), st.floats(-9, 9)), max_size=20))
def test_numbers_rank_as_numbers(values):
    ranks = place_ranks(pa.array([repr(value) for value in values], pa.string()))
    exact = [float(value) for value in values]
    for i, one in enumerate(exact):
        for j, other in enumerate(exact):
            assert one >= other or ranks[i] < ranks[j]


def test_times_rank_as_texts_after_numbers_and_blanks_have_no_place():
    texts = ["2024-05-31 08:15", " 7 ", "", None, "2024-05-31 08:14", "7"]
    assert place_ranks(pa.array(texts)).tolist() == [3, 0, -1, -1, 2, 0]


def test_rows_without_a_place_and_items_outside_are_left_out():
    frame = pl.DataFrame(
        {
            "trip": ["a", "a", "a", "b", "b"],
            "station": ["2", "1", "99", "3", "4"],
            "time": ["10", "9", "8", None, "1"],
        }
    )
    from hedgerow.encode.baskets import encode_baskets
    from hedgerow.encode.universe import universe_of
    from hedgerow.plan.load import plan_of as checked
    from hedgerow.read.items import open_items

    universe = universe_of(checked(plan_of(items=LONG)))
    found = encode_baskets(open_items(frame, universe.place), universe)
    assert found.offsets.tolist() == [0, 2, 3]
    assert found.items.tolist() == [1, 2, 4]
