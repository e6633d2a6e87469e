"""Releases of baskets that protect a person with all their baskets."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.errors import DataError, MissingPrivacyUnitError, PlanError
from hedgerow.evaluation.basket_tasks import basket_counting
from hedgerow.evaluation.subject import subject_of
from hedgerow.ledger.ledger import Ledger
from hedgerow.model.people import CANDIDATES
from hedgerow.plan.load import plan_of
from hedgerow.progress import no_progress
from hedgerow.report.headlines import headlines

PLAN: dict[str, Any] = {
    "items": {"universe": [1, 30], "fan-out": 3, "column": "product", "record": "receipt"},
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "diffpart", "epsilon": 2},
    "ledger": {"dataset": "shop", "cap": 20},
}
BOUNDED = {"protects": None, "person": "customer", "records-per-person": 3}
JOINED = {"protects": None, "person": "customer", "join": "union"}
ALONE = {"protects": None, "one-record-per-person": True}
METHODS = [
    {"method": "diffpart"},
    {"method": "diffpart", "faithful": True},
    {"method": "basic"},
]


def receipts(n: int = 1500, customers: int = 120, seed: int = 1) -> pl.DataFrame:
    """Rows of customer, receipt and product; each receipt is one customer's."""
    rng = np.random.default_rng(seed)
    receipt = rng.integers(0, 4 * customers, n)
    return pl.DataFrame(
        {
            "customer": [f"c{each % customers}" for each in receipt],
            "receipt": receipt,
            "product": np.minimum(rng.geometric(0.2, n), 31),
        }
    )


def plan(*parts: dict[str, Any], items: Any = (), publish: Any = ()) -> dict[str, Any]:
    given = {**PLAN, "items": {**PLAN["items"], **dict(items)}}
    for part in parts:
        given |= part
    if dict(publish).get("method") == "basic":
        given["items"] = {**given["items"], "universe": [1, 12]}
    return {**given, "publish": {**PLAN["publish"], **dict(publish)}}


def without_record(given: dict[str, Any]) -> dict[str, Any]:
    items = {key: value for key, value in given["items"].items() if key != "record"}
    return {**given, "items": items}


def digest(given: dict[str, Any], data: Any, **more: Any) -> str:
    """That of release.csv."""
    return hedgerow.publish(given, data=data, seed=5, **more).digest


def as_lists(data: pl.DataFrame) -> pl.DataFrame:
    return data.group_by("customer", "receipt").agg("product")


@pytest.mark.parametrize("publish", METHODS, ids=lambda each: "-".join(map(str, each.values())))
@pytest.mark.parametrize("people", [BOUNDED, JOINED], ids=["bounded", "joined"])
def test_every_form_and_engine_gives_the_same_release(people, publish, tmp_path):
    data = receipts()
    data.write_csv(tmp_path / "long.csv")
    as_lists(data).write_parquet(tmp_path / "lists.parquet")
    long, lists = plan(people, publish=publish), without_record(plan(people, publish=publish))
    found = {
        digest(long, tmp_path / "long.csv"),
        digest(long, data.sample(fraction=1.0, shuffle=True, seed=2)),
        digest(long, tmp_path / "long.csv", engine="stream"),
        digest(lists, tmp_path / "lists.parquet"),
        digest(lists, tmp_path / "lists.parquet", engine="stream"),
    }
    if people is JOINED:
        found |= {
            digest(lists, tmp_path / "long.csv"),
            digest(lists, data, engine="stream"),
        }
    assert len(found) == 1


@pytest.mark.parametrize("publish", METHODS, ids=lambda each: "-".join(map(str, each.values())))
def test_people_of_one_basket_are_published_as_baskets_are(publish):
    data = receipts().with_columns(customer=pl.format("p{}", "receipt"))
    one = plan({**BOUNDED, "records-per-person": 1}, publish=publish)
    joined = plan(JOINED, publish=publish)
    alone = plan(ALONE, publish=publish)
    found = {
        digest(one, data),
        digest(joined, data),
        digest(without_record(joined), data, engine="stream"),
        digest(alone, data),
    }
    assert len(found) == 1


def test_the_certificate_says_who_is_protected_and_the_ledger_books_a_persons_epsilon():
    release = hedgerow.publish(plan(BOUNDED), data=receipts())
    promised = release.certificate.guarantee
    assert promised.neighbours == "add or remove one person with all their records"
    assert "any one customer (column customer), with all their baskets" in promised.statement
    assert (promised.person.records, promised.person.join) == (3, None)
    assert release.certificate.budget.total == promised.epsilon == 2
    assert Ledger().spent("shop") == 2
    assert not any("at most one record" in each.what for each in release.certificate.assumed_public)
    page = release.report()
    assert "that customer and all their baskets" in page
    joined = hedgerow.publish(plan(JOINED), data=receipts())
    assert (joined.certificate.guarantee.person.records, Ledger().spent("shop")) == (1, 4)
    assert joined.certificate.guarantee.person.join == "union"
    assert any("joined to one" in each.what for each in joined.certificate.assumed_public)


@pytest.mark.parametrize("most", [1, 4])
def test_noise_is_for_as_many_baskets_as_a_person_may_have(most):
    """With few items every possible basket gets noise of a basket's share of epsilon."""
    people = {**BOUNDED, "records-per-person": most}
    given = plan(people, publish={"method": "basic"})
    release = hedgerow.publish(given, data=receipts(300))
    assert release.certificate.counts.share == Fraction(2, most)
    assert [line.share for line in release.certificate.budget.spends] == [2]
    small = hedgerow.publish(plan(people, items={"universe": [1, 6]}), data=receipts(300))
    assert small.certificate.counts.share == Fraction(2, most)
    assert "applies to every possible basket" in small.report()


def test_a_chosen_bound_is_paid_for_once():
    auto = plan({**BOUNDED, "records-per-person": "auto"})
    release = hedgerow.publish(auto, data=receipts())
    budget = release.certificate.budget
    assert {line.on: line.share for line in budget.spends}["records per person"] == Fraction(1, 10)
    assert budget.total == 2
    assert release.certificate.guarantee.person.records in CANDIDATES
    assert digest(auto, receipts()) == digest(auto, receipts(), engine="stream")


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"person": "nobody"}, "The column 'nobody' does not exist"),
        ({"records-per-person": 0}, "is not from 1 to"),
        ({"records-per-person": None}, "one basket for each person"),
        ({"person": "product"}, "'product' is the column of the items"),
        ({"person": "receipt"}, "'receipt' is also the column of the records"),
        ({"person": ["customer", "customer"]}, "occurs twice"),
        ({"person": None}, "needs 'person'"),
        ({"person": None, "records-per-person": None, "join": "union"}, "needs 'person'"),
        ({"join": "union"}, "joined into one, which counts once"),
        ({"join": "all", "records-per-person": None}, "join"),
        ({"join": "union", "records-per-person": None, "count": "people"}, "counts once"),
        ({"one-record-per-person": True}, "A person is named as well"),
        ({"count": "people"}, "cannot count people here: its choices are not proved"),
        ({"items": {"universe": [1, 30]}}, "A basket file has no columns"),
    ],
)
def test_wrong_uses_end_with_one_message_and_nothing_spent(more, match):
    given = {key: each for key, each in plan(BOUNDED, more).items() if each is not None}
    if "items" in more:
        given["items"] = more["items"]
    with pytest.raises((PlanError, DataError), match=match):
        hedgerow.publish(given, data=receipts(200))
    assert Ledger().find("shop") is None


def test_a_table_is_not_joined():
    given = {"attributes": {"a": {"values": ["x"]}}, **JOINED}
    with pytest.raises(PlanError, match="is for baskets"):
        plan_of(given)


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("people", [BOUNDED, JOINED], ids=["bounded", "joined"])
def test_a_basket_without_a_person_spends_nothing(people, engine):
    data = receipts(200).with_columns(
        customer=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(pl.col("customer"))
    )
    with pytest.raises(DataError, match="Record 8 does not name its person"):
        hedgerow.publish(plan(people), data=data, engine=engine)
    assert Ledger().find("shop") is None


def test_baskets_are_not_published_unless_the_plan_states_whom_it_protects():
    data = receipts(400)
    unstated = {"protects": None}
    for given in (plan(unstated), plan(unstated, items={"record": "customer"})):
        with pytest.raises(
            MissingPrivacyUnitError, match=r"'records-per-person: 4'.*'join: union'"
        ):
            hedgerow.publish(given, data=data)
    with pytest.raises(MissingPrivacyUnitError):
        hedgerow.publish(without_record(plan(unstated)), data=as_lists(data))
    assert Ledger().find("shop") is None
    stated = hedgerow.publish(PLAN, data=data).certificate.guarantee
    assert (stated.unit, stated.neighbours) == ("records", "add or remove one record")
    assert "A person with ten baskets has ten times the privacy loss." in stated.statement


def test_the_same_baskets_are_recognised_with_and_without_people():
    data = receipts(400)
    hedgerow.publish(plan(ALONE), data=data)
    other = plan(BOUNDED, {"ledger": {"dataset": "other", "cap": 9}})
    for each in (other, plan(JOINED, {"ledger": {"dataset": "other", "cap": 9}})):
        with pytest.raises(hedgerow.errors.SameRecordsError, match="already, as data set 'shop'"):
            hedgerow.publish(each, data=data)


def test_check_tells_people_from_baskets():
    given = plan(items={"universe": [1, 6]})
    del given["ledger"]
    alone, joined, bounded, auto = (
        hedgerow.check({**given, **more})
        for more in (
            {},
            JOINED,
            BOUNDED,
            {**BOUNDED, "records-per-person": "auto"},
        )
    )
    assert alone.error_95 == joined.error_95 < bounded.error_95 < auto.error_95
    whose = "Protects each customer (column customer) with all their baskets."
    for told in (joined, bounded, auto):
        assert any(whose in each for each in told.outline.notes)
    assert [each.counted for each in (alone, joined, bounded)] == ["records", "people", "records"]
    assert " people on." in joined.advice
    assert " records to show by itself." in bounded.advice


def test_joined_baskets_are_measured_against_people(tmp_path):
    data = receipts(600)
    publish = {"method": "diffpart", "epsilon": 50}
    given = plan(JOINED, items={"universe": [1, 6]}, publish=publish)
    release = hedgerow.publish(given, data=data, out=tmp_path / "out", seed=1)
    n_people = data.filter(pl.col("product") <= 6)["customer"].n_unique()
    assert release.certificate.data.noisy_total == n_people
    lines = (tmp_path / "out" / "dictionary.csv").read_text().splitlines()
    assert any(',integer,people,0,,"the count: how many people have' in line for line in lines)
    facts = {"release": {"kind": "baskets"}}
    for each in (given, without_record(given)):
        subject = subject_of(tmp_path / "out", data, plan=each, progress=no_progress)
        assert int(subject.records.weights.sum()) == n_people
        assert _item_totals(subject.records) == _item_totals(subject.release)
        shown = headlines({**facts, "counting": basket_counting(subject, seed=1)})
        assert shown[-1].what == "published people, as a share of all"


def _item_totals(sets: Any) -> list[float]:
    of_items = np.repeat(sets.weights, np.diff(sets.offsets))
    return np.bincount(sets.items, weights=of_items, minlength=sets.n_items).tolist()
