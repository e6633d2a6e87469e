"""Where there is no compiler for loops: tables are counted all the same, others say what to do."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.count.memory import placed
from hedgerow.errors import MissingExtraError, PublishNotice
from hedgerow.methods.weave import weighing
from hedgerow.model import compiler
from hedgerow.model.compiler import has_compiler, need_compiler, pays

TABLE = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["A", "B", "C"]},
        "back": {"role": "class", "values": ["no", "yes"]},
    },
    "one-record-per-person": True,
    "confirmed": True,
    "publish": {"epsilon": 1},
}
BASKETS = {
    "items": {"universe": [1, 40]},
    "protects": "records",
    "confirmed": True,
    "publish": {"epsilon": 1},
}


@pytest.fixture
def alone(monkeypatch):
    """Take the compiler out of reach, with every loop that was compiled."""
    for name in list(sys.modules):
        if name.startswith("hedgerow.") and "compiled" in name.split("."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numba", None)


@pytest.fixture
def visits():
    rng = np.random.default_rng(5)
    ages = rng.integers(0, 100, 3000)
    back = np.where(rng.random(3000) < ages / 150, "yes", "no")
    return pd.DataFrame({"age": ages, "ward": rng.choice(list("ABC"), 3000), "back": back})


def test_loops_pay_for_much_data_where_they_can_be_compiled(alone):
    assert not has_compiler()
    assert not pays(10**9, 1, loops="count.compiled.placed")
    with pytest.raises(MissingExtraError, match=r"hedgerow\[fast\]"):
        need_compiler("This")


@pytest.mark.parametrize(
    ("size", "loaded", "told"), [(9, False, False), (9, True, True), (10, False, True)]
)
def test_loops_that_are_loaded_pay_for_little_data_too(monkeypatch, size, loaded, told):
    monkeypatch.delitem(sys.modules, "hedgerow.none.such", raising=False)
    if loaded:
        monkeypatch.setitem(sys.modules, "hedgerow.none.such", sys)
    assert pays(size, 10, loops="none.such") is told


@pytest.mark.parametrize("method", ["hedge", "weave"])
def test_a_table_that_loops_would_pay_for_is_the_same_release_without(
    alone, visits, monkeypatch, method
):
    plan = {**TABLE, "publish": {"method": method, "epsilon": 1}}
    monkeypatch.setattr(placed, "COMPILED_FROM", 10)
    monkeypatch.setattr(weighing, "COMPILED_FROM", 10)
    without = hedgerow.publish(plan, data=visits, seed=3)
    monkeypatch.undo()
    monkeypatch.setattr(placed, "COMPILED_FROM", 10)
    monkeypatch.setattr(weighing, "COMPILED_FROM", 10)
    compiled = hedgerow.publish(plan, data=visits, seed=3)
    loops = "placed" if method == "hedge" else "pairs"
    assert f"hedgerow.count.compiled.{loops}" in sys.modules
    assert without.to_arrow().equals(compiled.to_arrow())


def test_who_says_that_the_table_is_large_is_told_of_the_compiler(alone, visits, monkeypatch):
    monkeypatch.setattr(compiler, "SLOW_FROM", 3000)
    monkeypatch.setattr("hedgerow.pipeline.publish.SLOW_FROM", 3000)
    with pytest.warns(PublishNotice, match=r"hedgerow\[fast\]"):
        hedgerow.publish({**TABLE, "records": 3000}, data=visits, seed=3)


def test_the_default_method_works_without_the_compiler(alone, visits):
    release = hedgerow.publish(TABLE, data=visits, seed=3)
    assert release.certificate.method.name == "weave"


def test_baskets_of_many_items_ask_for_the_compiler_and_those_of_few_do_not(alone, tmp_path):
    with pytest.raises(MissingExtraError, match=r"hedgerow\[fast\]"):
        hedgerow.publish(BASKETS, data="no-such-file.dat", seed=3)
    file = tmp_path / "few.dat"
    file.write_text("1 2\n3\n" * 50, encoding="utf-8")
    few = {**BASKETS, "items": {"universe": [1, 12]}}
    assert hedgerow.publish(few, data=file, seed=3).certificate.method.name == "coterie"


def test_disclosure_asks_for_what_it_needs(alone):
    plan = {**TABLE, "disclose": {"method": "aruba", "utility": {"at-least": "half"}}}
    del plan["publish"]
    with pytest.raises(MissingExtraError, match=r"hedgerow\[disclose\]"):
        hedgerow.disclose(plan, data="no-such-file.csv")
