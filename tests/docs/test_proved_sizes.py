"""The table of proved sizes in docs/privacy.md is what the code takes and refuses."""

from __future__ import annotations

import importlib
import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic_core import PydanticCustomError

from hedgerow.baselines.basic.basic import Basic
from hedgerow.baselines.basic_table.basic_table import BasicTable
from hedgerow.count.basket_kernels import SplitCounts
from hedgerow.count.kernels import GroupCounts, require_keys
from hedgerow.errors import DataError, InternalError, SettingError
from hedgerow.methods.chain.forest import require_nodes
from hedgerow.methods.coterie.coterie import Coterie
from hedgerow.methods.weave.weave import require_cells
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.sizes import MOST_CLASSES, MOST_VALUES, require_domains, require_rows
from hedgerow.plan.people import _as_bound
from hedgerow.plan.registry import METHODS
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.counts import counts_fit
from support.engine_plans import SETTINGS
from support.tables import grid, schema_of, values

LINE = re.compile(
    r"^\| (.+?) \| (.+?) \| ([\d,–]+) \| (?:`([\w/]+\.py)::([\w.]+)`|–) \|$", re.MULTILINE
)


def sized(n):
    """Return a stand-in for a domain of that many values, without them."""
    return SimpleNamespace(kind="categorical", size=n)


def rows(n):
    require_rows(n, "t.csv")


def an_attribute(n):
    require_domains(
        Schema(attributes=(Attribute(name="a", domain=sized(n)),), class_attribute=None)
    )


def a_class(n):
    target = Attribute(name="y", domain=sized(n))
    require_domains(Schema(attributes=(), class_attribute=target))


def cells_of_pairs(n):
    """An attribute of a single cell, and that many classes."""
    schema = Schema(
        attributes=(Attribute(name="a", domain=grid(2)),),
        class_attribute=Attribute(name="y", domain=sized(n)),
    )
    require_cells(schema, [1])


def cells_of_one(n):
    require_cells(schema_of(grid(2), classes=None), [n])


def groups_of_a_cut(n):
    if not counts_fit(n, epsilon=Fraction(1), keep_all=False):
        raise SettingError("too many")


def cells_of_a_table(n):
    """Powers of two as a table of so many attributes of two values; one more as a class of it."""
    whole = n.bit_length() - 1
    domains = [values(2)] * whole
    schema = schema_of(*domains, classes=None)
    if n != 1 << whole:
        schema = schema_of(*domains, classes=2)
    BasicTable(cells=None).validate(schema, Fraction(1))


def items(n):
    Basic().validate(Taxonomy.flat([str(i) for i in range(n)]), Fraction(50))


def partitions(n):
    nodes = np.broadcast_to(np.zeros(1, dtype=np.int32), n)
    slots = np.zeros((1, 1), dtype=np.uint8)
    SplitCounts(first=nodes, stop=nodes, depth=nodes, slots=slots, bits=1)


REFUSALS = {
    "rows that are read": (rows, DataError),
    "values of an attribute": (an_attribute, SettingError),
    "values of the class": (a_class, SettingError),
    "records kept of a person": (_as_bound, PydanticCustomError),
    "cells of a 2-way marginal by class": (cells_of_pairs, SettingError),
    "cells of an attribute": (cells_of_one, SettingError),
    "groups of a cut": (groups_of_a_cut, SettingError),
    "cells": (cells_of_a_table, SettingError),
    "groups or distinct rows that have keys": (require_keys, InternalError),
    "items": (items, SettingError),
    "partitions of a level": (partitions, InternalError),
    "frequent items": (lambda n: Coterie(frequent=n), SettingError),
    "nodes of a forest": (require_nodes, InternalError),
}


@pytest.fixture
def lines(root):
    page = (root / "docs" / "privacy.md").read_text(encoding="utf-8")
    section = page.split("## Proved sizes")[1].split("\n## ")[0]
    return LINE.findall(section)


def test_the_table_names_every_size_once_and_every_method(lines):
    named = [size for _, size, *_ in lines if size != "no further size"]
    assert sorted(named) == sorted(REFUSALS)
    text = " ".join(methods for methods, *_ in lines)
    for method in METHODS:
        assert f"`{method}`" in text


@pytest.mark.parametrize("size", REFUSALS)
def test_a_size_is_taken_and_one_more_is_refused(lines, size):
    (most,) = {each for _, name, each, *_ in lines if name == size}
    limit = int(most.replace(",", ""))
    take, error = REFUSALS[size]
    take(limit)
    with pytest.raises(error):
        take(limit + 1)


def test_what_refuses_is_where_the_table_says(lines):
    for _, size, _, file, name in lines:
        if not file:
            assert size == "no further size"
            continue
        found = importlib.import_module(f"hedgerow.{file[:-3].replace('/', '.')}")
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)


@pytest.mark.parametrize(
    "method", [name for name, model in METHODS.items() if model.publishes == "table"]
)
def test_every_method_on_tables_refuses_larger_domains(method):
    model = METHODS[method]
    private = "epsilon" in model.model_fields
    given = {**({"epsilon": 2} if private else {}), **SETTINGS.get(method, {})}
    built = model.model_validate(given).build(has_class=method != "sample")
    epsilon = (Fraction(2),) if private else ()
    wide = Schema(
        attributes=(Attribute(name="a", domain=sized(MOST_VALUES + 1)),),
        class_attribute=None if method == "sample" else Attribute(name="y", domain=values(2)),
    )
    with pytest.raises(SettingError, match="16,777,216, the most that an attribute"):
        built.validate(wide, *epsilon)
    many = Schema(
        attributes=(Attribute(name="a", domain=grid(9)),),
        class_attribute=Attribute(name="y", domain=sized(MOST_CLASSES + 1)),
    )
    with pytest.raises(SettingError, match="131,072, the most that a class"):
        built.validate(many, *epsilon)


def test_a_kernel_of_more_groups_than_keys_is_not_built():
    places = (np.zeros(1, dtype=np.int32),) * 2
    GroupCounts(places=places, n_ranges=(1 << 31, 1 << 31), n_classes=1)
    with pytest.raises(InternalError):
        GroupCounts(places=places, n_ranges=(1 << 31, 1 << 31), n_classes=2)
