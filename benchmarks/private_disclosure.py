"""How much of the best mean f private disclosure keeps: Adult, six attributes.

Run as ``python benchmarks/private_disclosure.py [--epsilon E] [--seeds N] [--threshold T]``.
The best is every record's optimum of [TKDE, Eq. (2)] by true counts, without any privacy. What
is kept is the same f, by true counts again, of the generalisation that each record chooses by
the private synopsis; *of the gain* compares with saying nothing about anybody. *Published* is
the part of the records that lies in published groups, *noise* the sum of absolute errors of
all listed counts over the records.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import as_file, files

import numpy as np

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.demo import adult_table
from hedgerow.disclosure.private.settings import SupermodularSettings
from hedgerow.disclosure.private.supermodular import (
    SupermodularDisclosure,
    own_choices,
    tally_choices,
)
from hedgerow.disclosure.private.synopsis import Synopsis, vector_counts
from hedgerow.disclosure.private.terms import Layout, People
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import load_plan
from hedgerow.privacy.source import SeededSource
from hedgerow.read.open import open_table

SIX = ("workclass", "education", "marital-status", "occupation", "race", "sex")
WEIGHTS = (2, 5, 8, 10, 11, 12, 13, 14, 15)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What one run kept."""

    best: float
    nothing: float
    kept: float
    published: float
    noise: float
    utility: float
    n_offered: int


def adult(names: tuple[str, ...]) -> EncodedTable:
    """Adult's complete records with some attributes."""
    with as_file(files("hedgerow.demo") / "adult") as folder:
        schema = schema_of(load_plan(folder / "plan.yaml"))
    table = encode_table(open_table(adult_table()), schema)
    places = [[a.name for a in schema.attributes].index(name) for name in names]
    return EncodedTable(
        schema=Schema(attributes=tuple(schema.attributes[i] for i in places), class_attribute=None),
        codes=tuple(table.codes[i] for i in places),
        classes=None,
    )


def true_values(layout: Layout, people: People) -> list[np.ndarray]:
    """The true f of every kind's cell of every level vector."""
    n = int(people.kinds.many.sum())
    values = []
    for number, vector in enumerate(layout.space.vectors):
        counts = vector_counts(layout.space, number, people.kinds)
        cells = layout.space.cells_of(vector, people.kinds.columns)
        values.append(
            layout.worth.values(vector, people.kinds.columns, counts[cells] / n, people.personal)
        )
    return values


def run(method: SupermodularDisclosure, table: EncodedTable, epsilon: Fraction, seed: int) -> Kept:
    layout = method.terms.layout(table.schema)
    engine = MemoryEngine(table=table)
    people = layout.read(engine)
    synopsis = Synopsis.measure(
        Run.start(engine, epsilon=epsilon, source=SeededSource(seed)),
        layout.space,
        method.terms.measured(table.schema),
        people.kinds,
        share=epsilon * method.share,
    )
    choices = own_choices(layout, synopsis, people, threshold=method.threshold)
    chosen = choices.offered[choices.taken]
    vector = np.searchsorted(layout.space.offsets, chosen, side="right") - 1
    values = np.stack(true_values(layout, people))
    many = people.kinds.many / people.kinds.many.sum()
    kinds = np.arange(len(people.kinds))
    utilities = [
        layout.worth.utilities(each, people.kinds.columns) for each in layout.space.vectors
    ]
    groups = method.publish(
        Run.start(MemoryEngine(table=table), epsilon=epsilon, source=SeededSource(seed))
    )
    return Kept(
        best=float(values.max(axis=0) @ many),
        nothing=float(values[0] @ many),
        kept=float(values[vector, kinds] @ many),
        utility=float(np.stack(utilities)[vector, kinds] @ many),
        n_offered=len(choices.offered),
        **published(layout, choices, people, groups),
    )


def published(layout, choices, people, groups) -> dict[str, float]:
    """The part of the records in published groups, and the error of what is published."""
    keys, counts = tally_choices(layout, choices, people.classes, people.kinds.many)
    spans = layout.space.ranges_of(choices.offered[keys])
    true = {
        box: int(n)
        for *box_spans, n in zip(*(zip(*span, strict=True) for span in spans), counts, strict=True)
        for box in [tuple((int(a), int(b)) for a, b in box_spans)]
    }
    listed = zip(
        *(
            zip(ranges.first[index].tolist(), ranges.stop[index].tolist(), strict=True)
            for ranges, index in zip(groups.ranges, groups.index, strict=True)
        ),
        groups.counts.tolist(),
        strict=True,
    )
    inside = noise = 0
    for *box, count in listed:
        here = true.get(tuple(box), 0)
        inside += here
        noise += abs(count - here)
    n = int(people.kinds.many.sum())
    return {"published": inside / n, "noise": noise / n}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threshold", type=int)
    parser.add_argument("--weights", type=float, nargs="*", default=WEIGHTS)
    given = parser.parse_args()
    epsilon, table = Fraction(given.epsilon), adult(SIX)
    print(f"{len(table):,} records, epsilon {epsilon}, {', '.join(SIX)}")
    print("lambda    best  nothing    kept  of best  of gain  utility  published  noise  offered")
    for model in (1, 2):
        for weight in given.weights:
            settings = {"lambda": weight, "model": model, "epsilon": epsilon}
            if given.threshold is not None:
                settings["threshold"] = given.threshold
            method = SupermodularSettings.model_validate(settings).build(has_class=True)
            start = time.perf_counter()
            runs = [run(method, table, epsilon, seed) for seed in range(given.seeds)]
            seconds = (time.perf_counter() - start) / given.seeds
            mean = {
                name: float(np.mean([getattr(one, name) for one in runs]))
                for name in Kept.__dataclass_fields__
            }
            gain = mean["best"] - mean["nothing"]
            of_gain = (mean["kept"] - mean["nothing"]) / gain if gain > 1e-6 else float("nan")
            print(
                f"{weight:6.1f} {mean['best']:7.3f} {mean['nothing']:8.3f} {mean['kept']:7.3f}"
                f" {mean['kept'] / mean['best']:8.1%} {of_gain:8.1%} {mean['utility']:8.2f}"
                f" {mean['published']:10.1%} {mean['noise']:6.1%} {mean['n_offered']:8.0f}"
                f"  model {model}, {seconds:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
