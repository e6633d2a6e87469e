"""What every method that publishes tables privately must do: ledger, determinism, order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.count.memory import placed as placed_memory
from hedgerow.count.memory import table as memory
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.model.locate import check_tree
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from support.tables import grid, schema_of, table_of, values

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(7, 3)]


def run(method, table, *, epsilon=Fraction(1), seed=1, **engine):
    """Return the groups of a run, and its ledger."""
    ledger = PathLedger(epsilon)
    groups = method.publish(
        Run(
            engine=MemoryEngine(table=table, **engine),
            epsilon=epsilon,
            ledger=ledger,
            source=SeededSource(seed),
        )
    )
    return groups, ledger


def content(groups):
    """Return all that a release shows, to be compared."""
    return (
        [(ranges.first.tolist(), ranges.stop.tolist()) for ranges in groups.ranges],
        [index.tolist() for index in groups.index],
        None if groups.classes is None else groups.classes.tolist(),
        groups.counts.tolist(),
    )


def busy_table():
    """A schema and 600 rows that use all of it."""
    schema = schema_of(grid(40), values(9, 3), grid(7), classes=3)
    rows = [(i * 7 % 40, i * 5 % 9, i * i % 7, i % 3) for i in range(600)]
    return schema, rows


def check_budget(method, table, *, epsilon, seed):
    """No path exceeds epsilon and none falls short; rows are sorted and none is repeated."""
    method.validate(table.schema, epsilon)
    groups, ledger = run(method, table, epsilon=epsilon, seed=seed)
    assert ledger.worst_path() == epsilon
    assert ledger.settled()
    assert (groups.counts > 0).all()
    columns = [*groups.index] if groups.classes is None else [*groups.index, groups.classes]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert rows == sorted(set(rows))


def check_outline(method, schema, *, epsilon):
    """What is planned adds up to epsilon."""
    outline = method.outline(schema, epsilon)
    assert sum(step.share * step.times for step in outline.steps) == epsilon
    assert outline.n_groups >= 1
    assert 0 < outline.counts <= epsilon


def check_same_seed(method, monkeypatch):
    """The same seed gives the same release, whatever counts the records."""
    schema, rows = busy_table()
    table = table_of(schema, rows)
    first = content(run(method, table)[0])
    assert content(run(method, table, piece=37)[0]) == first
    assert content(run(method, table_of(schema, rows[::-1]))[0]) == first
    monkeypatch.setattr(memory, "COMPILED_FROM", 0)
    monkeypatch.setattr(placed_memory, "COMPILED_FROM", 0)
    assert content(run(method, table)[0]) == first
    monkeypatch.setattr(placed_memory.os, "cpu_count", lambda: 1)
    assert content(run(method, table)[0]) == first


def check_other_seeds(method):
    """Another seed gives another release."""
    schema, rows = busy_table()
    table = table_of(schema, rows)
    releases = {str(content(run(method, table, seed=seed)[0])) for seed in range(4)}
    assert len(releases) > 1


def check_ranges(method, *, tile):
    """Boxes hold ranges of their domains, and with ``tile`` all of them together."""
    schema, rows = busy_table()
    groups, _ = run(method, table_of(schema, rows))
    sizes = [attribute.domain.size for attribute in schema.attributes]
    for ranges, size in zip(groups.ranges, sizes, strict=True):
        assert np.all(ranges.first < ranges.stop)
        assert ranges.first.min() >= 0
        assert ranges.stop.max() <= size
        if tile:
            assert (ranges.first.min(), ranges.stop.max()) == (0, size)
    if groups.tree is not None:
        check_tree(groups.tree, sizes)
