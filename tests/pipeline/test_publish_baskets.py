"""publish(plan) for set-valued data: the same order, ledger and promises as for tables."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import hedgerow
from hedgerow.errors import CapError, DataError, InternalError, PlanError, UnconfirmedPlanError
from hedgerow.ledger.ledger import Ledger
from hedgerow.model.baskets import EncodedBaskets, NoisyBaskets
from hedgerow.model.certificate import certificate_schema
from hedgerow.model.groups import CountOrigin
from hedgerow.model.method import About, Outline, Step
from hedgerow.model.precision import deviation
from hedgerow.pipeline.forecast import forecast
from hedgerow.pipeline.prepare import prepare
from hedgerow.release.baskets import BasketRelease

BUILD = "hedgerow.methods.diffpart.settings.DiffPartSettings.build"
ITEMS = ["bread", "eggs", "milk", "tea"]
PLAN = {
    "items": {"universe": ITEMS, "fan-out": 2, "column": "bought"},
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "diffpart", "epsilon": 1},
    "ledger": {"dataset": "receipts", "cap": 2},
}
RECORDS = [["milk", "bread"], ["eggs"], ["milk"], ["milk", "tea", "milk"]] * 100


@dataclass(frozen=True, kw_only=True)
class SingleItems:
    """The simplest method there is: a noisy count of every basket of one item."""

    spends: Fraction = Fraction(1)

    @property
    def about(self):
        return About(name="diffpart", chosen={"max-length": "1"})

    def validate(self, taxonomy, epsilon):
        assert taxonomy.n_leaves == len(ITEMS)

    def outline(self, taxonomy, epsilon):
        steps = (Step(on="counts", share=epsilon, times=1),)
        notes = ("A note on usefulness.",)
        return Outline(steps=steps, counts=epsilon, n_groups=taxonomy.n_leaves, notes=notes)

    def publish(self, run):
        baskets = run.engine.baskets
        n_items = baskets.taxonomy.n_leaves
        alone = baskets.items[baskets.offsets[:-1]][baskets.lengths == 1]
        share = run.epsilon * self.spends
        noisy = run.noisy(np.bincount(alone, minlength=n_items), share=share, on="counts")
        return NoisyBaskets.sorted_of(
            baskets.taxonomy,
            offsets=np.arange(n_items + 1),
            items=np.arange(n_items),
            counts=noisy,
            origin=CountOrigin(share=share, threshold=1, lowered_by=None),
        )


@pytest.fixture(autouse=True)
def _simplest_method(monkeypatch):
    monkeypatch.setattr(BUILD, lambda settings, has_class: SingleItems())


def with_plan(**changes):
    return {**PLAN, **changes}


def test_a_release_is_written_booked_and_read_back(tmp_path):
    out = tmp_path / "release"
    release = hedgerow.publish(
        PLAN, data=pl.DataFrame({"bought": RECORDS}), out=hedgerow.Output(folder=out, parquet=True)
    )
    assert isinstance(release, BasketRelease)
    assert BasketRelease.load(out).digest == release.digest
    (entry,) = Ledger().entries("receipts")
    assert (entry.state, entry.epsilon) == ("released", 1)
    assert release.certificate.ledger.entry == entry.id
    estimate, error = release.count(["milk"])
    assert 70 < estimate < 130
    assert error == pytest.approx(deviation(Fraction(1)) * math.sqrt(2**3))


def test_the_certificate_adds_up_and_matches_its_schema(tmp_path):
    hedgerow.publish(PLAN, data=pd.DataFrame({"bought": RECORDS}), out=tmp_path / "release")
    facts = json.loads((tmp_path / "release" / "certificate.json").read_text())
    jsonschema.validate(facts, certificate_schema())
    assert facts["data"]["items"] == {"size": 4, "height": 2, "ordered": False}
    assert facts["method"]["settings"]["max-length"] == "1"
    assert facts["budget"]["total"] == "1"
    words = " ".join(each["what"] for each in facts["assumed-public"])
    assert "the universe of 4 items" in words
    assert "items outside the universe are dropped" in words


def test_the_same_seed_gives_the_same_release_and_books_nothing(tmp_path):
    (tmp_path / "a.dat").write_text("\n".join(" ".join(record) for record in RECORDS))
    plan = with_plan(items={"universe": ITEMS, "fan-out": 2})
    frames = pl.DataFrame({"bought": RECORDS})
    one = hedgerow.publish(PLAN, data=frames, seed=7)
    other = hedgerow.publish(plan, data=tmp_path / "a.dat", seed=7)
    assert one.digest == other.digest
    assert not one.certificate.guarantee.private
    assert Ledger().accounts() == ()


def test_the_cap_holds_and_refuses_before_the_data_are_read(tmp_path):
    frame = pl.DataFrame({"bought": RECORDS})
    for _ in range(2):
        hedgerow.publish(PLAN, data=frame)
    with pytest.raises(CapError):
        hedgerow.publish(PLAN, data=tmp_path / "nowhere.parquet")


def test_an_unconfirmed_plan_is_refused():
    with pytest.raises(UnconfirmedPlanError):
        hedgerow.publish(with_plan(confirmed=False), data=pl.DataFrame({"bought": RECORDS}))


def test_a_plan_without_data_says_so():
    with pytest.raises(PlanError, match="names no data"):
        hedgerow.publish(PLAN)


def test_data_that_cannot_be_read_book_nothing():
    with pytest.raises(DataError, match="The column 'bought' does not exist"):
        hedgerow.publish(PLAN, data=pl.DataFrame({"sold": RECORDS}))
    assert Ledger().accounts() == ()


def test_a_method_that_does_not_spend_its_epsilon_fails_before_it_is_booked(monkeypatch, tmp_path):
    half = SingleItems(spends=Fraction(1, 2))
    monkeypatch.setattr(BUILD, lambda settings, has_class: half)
    with pytest.raises(InternalError):
        hedgerow.publish(PLAN, data=pl.DataFrame({"bought": RECORDS}), out=tmp_path / "release")
    assert Ledger().accounts() == ()
    assert not (tmp_path / "release").exists()


def test_the_forecast_reads_no_record():
    told = forecast(prepare(PLAN), records=400)
    assert told.bytes_per_record == 8 + 4 * 2
    assert told.as_dict()["notes"] == ["A note on usefulness."]
    assert told.as_dict()["groups"] == 4


def test_the_engine_is_given_codes_alone(monkeypatch):
    seen = []

    class Spy(SingleItems):
        def publish(self, run):
            seen.append(run.engine.baskets)
            return super().publish(run)

    monkeypatch.setattr(BUILD, lambda settings, has_class: Spy())
    hedgerow.publish(PLAN, data=pl.DataFrame({"bought": [["tea", "x"], ["x"], None]}), seed=1)
    (baskets,) = seen
    assert isinstance(baskets, EncodedBaskets)
    assert (baskets.offsets.tolist(), baskets.items.tolist()) == ([0, 1], [3])


def test_publishing_a_basket_file_loads_no_dataframe_library(tmp_path):
    (tmp_path / "a.dat").write_text("milk tea\ntea\n" * 50)
    code = (
        "import sys, hedgerow\n"
        "plan = {'items': {'universe': ['milk', 'tea']}, 'confirmed': True,\n"
        "        'protects': 'records',\n"
        "        'publish': {'method': 'basic', 'epsilon': 1}, 'data': 'a.dat'}\n"
        "hedgerow.publish(plan, out='release', seed=1)\n"
        "found = {'pandas', 'polars', 'numba', 'narwhals', 'scipy'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "release" / "release.dat").is_file()
