"""The k-anonymity baselines on UCI Adult: against an independent Mondrian, and what they keep.

Run as ``python benchmarks/k_anonymity.py mondrian|keep|levels``. ``mondrian`` compares
discernibility and NCP with ``tests/support/naive_mondrian.py``, a recursion on the raw values
of the file (half a minute). ``keep`` publishes two thirds of the records and tests a decision
tree on the rest, as the papers' figures do. ``levels`` times full-domain generalisation
for k = 1 to 100. Complete records, 14 predictors or the 8 of the literature.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np

from adult_records import adult, rows
from hedgerow.baselines.kanonymity.full_domain import FullDomain, full_domain_cuts, n_vectors
from hedgerow.baselines.kanonymity.levels import levels_of
from hedgerow.baselines.kanonymity.mondrian import Mondrian
from hedgerow.baselines.kanonymity.tds import TopDownSpecialisation
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.demo import adult_table
from hedgerow.evaluation.classification import tree_accuracy
from hedgerow.model.locate import box_of
from hedgerow.model.method import PlainMethod
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SystemSource

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "baselines"))
from support.naive_mondrian import (
    Categories,
    Numbers,
    certainty_penalty,
    discernibility,
    mondrian,
)

KS = (5, 10, 50)
EIGHT = (
    "age workclass education marital-status occupation race sex native-country".split()  # noqa: SIM905
)


def mondrian_of(k: int, **given: bool) -> Mondrian:
    """Return strict Mondrian by medians, but for what is given."""
    return Mondrian(**{"k": k, "relaxed": False, "by_class": False, "ordered": False} | given)


def attributes(table: EncodedTable, names: list[str]) -> EncodedTable:
    """Return the table with some of its attributes."""
    at = [i for i, each in enumerate(table.schema.attributes) if each.name in names]
    schema = Schema(
        attributes=tuple(table.schema.attributes[i] for i in at),
        class_attribute=table.schema.class_attribute,
    )
    return EncodedTable(
        schema=schema, codes=tuple(table.codes[i] for i in at), classes=table.classes
    )


def raw_columns(names: list[str]) -> list[Numbers | Categories]:
    """Return the complete records of the file by column, as the naive Mondrian wants them."""
    raw = adult_table()
    texts = {name: np.array(raw[name].to_pylist(), dtype=object) for name in raw.column_names}
    complete = np.ones(len(raw), dtype=bool)
    for cells in texts.values():
        complete &= np.array([cell not in (None, "", "?") for cell in cells])
    columns: list[Numbers | Categories] = []
    for name in names:
        path = files("hedgerow.demo") / "adult" / "taxonomies" / f"{name}.csv"
        if path.is_file():
            ways = list(csv.reader(path.read_text().splitlines(), delimiter=";"))
            columns.append(Categories(texts[name][complete], ways))
        else:
            columns.append(Numbers(texts[name][complete]))
    return columns


def compare() -> None:
    """Print discernibility and NCP beside those of the independent implementation."""
    for names in (EIGHT, [each.name for each in adult().schema.attributes]):
        table, columns = attributes(adult(), names), raw_columns(names)
        for k in KS:
            start = time.perf_counter()
            groups = mondrian_of(k).publish(MemoryEngine(table=table), source=SystemSource())
            seconds = time.perf_counter() - start
            box = box_of(groups.tree, table.codes)
            order = np.argsort(box, kind="stable")
            ours = np.split(order, np.flatnonzero(np.diff(box[order])) + 1)
            theirs = mondrian(columns, k)
            print(
                f"{len(names)} attributes, k = {k}: ours {len(ours)} boxes, DM"
                f" {discernibility(ours):,}, NCP {certainty_penalty(columns, ours):.4f},"
                f" {seconds:.1f} s; independent {len(theirs)} boxes, DM"
                f" {discernibility(theirs):,}, NCP {certainty_penalty(columns, theirs):.4f}"
            )


def keep() -> None:
    """Print what a decision tree learns from each baseline."""
    table = adult()
    order = np.random.default_rng(1994).permutation(len(table))
    cut = len(table) * 2 // 3
    train, test = rows(table, order[:cut]), rows(table, order[cut:])
    for k in (5, 10, 50, 60, 100):
        methods: dict[str, PlainMethod] = {
            "mondrian, median": mondrian_of(k),
            "mondrian, infogain": mondrian_of(k, by_class=True),
            "tds": TopDownSpecialisation(k=k),
            "full-domain": FullDomain(
                k=k, cost="discernibility", suppression=Fraction(0), fan_out=2
            ),
            "full-domain, 5 % left out": FullDomain(
                k=k, cost="discernibility", suppression=Fraction(1, 20), fan_out=2
            ),
        }
        for name, method in methods.items():
            start = time.perf_counter()
            groups = method.publish(MemoryEngine(table=train), source=SystemSource())
            seconds = time.perf_counter() - start
            result = tree_accuracy(groups, train=train, test=test)
            print(
                f"k = {k}, {name}: {len(groups)} groups, {100 * result.release:.1f} % right"
                f" (floor {100 * result.floor:.1f}, ceiling {100 * result.ceiling:.1f}),"
                f" {seconds:.1f} s"
            )


def levels() -> None:
    """Print how long full-domain generalisation takes."""
    engine = MemoryEngine(table=attributes(adult(), EIGHT))
    n = n_vectors(levels_of(engine.schema, fan_out=2))
    for suppression in (Fraction(0), Fraction(1, 50)):
        for ks in ([5], list(range(1, 101))):
            start = time.perf_counter()
            cuts = full_domain_cuts(engine, ks=ks, suppression=suppression)
            seconds = time.perf_counter() - start
            print(
                f"{n:,} vectors, {float(suppression):.0%} suppressed, {len(ks)} ks:"
                f" {seconds:.1f} s; k = 5: levels {cuts[5].levels}"
            )


def main() -> None:
    """Run one of the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["mondrian", "keep", "levels"])
    {"mondrian": compare, "keep": keep, "levels": levels}[parser.parse_args().what]()


if __name__ == "__main__":
    main()
