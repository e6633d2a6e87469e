"""weave: records that keep the relations between columns.

Noisy tables of single attributes by class set the frame. Private choices then name the pairs
of attributes that the frame gets wrong, their tables are counted with noise, and a pool of
synthetic records is joined and weighted to follow all of them. Records are drawn from the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np

from hedgerow.count.joint import JointCounts
from hedgerow.errors import SettingError
from hedgerow.methods.privbayes.records import groups_of_points
from hedgerow.methods.weave.axes import CellAxis, cell_axes
from hedgerow.methods.weave.candidates import PER_CELL, UNIT
from hedgerow.methods.weave.draw import codes_in, drawn_cells
from hedgerow.methods.weave.impossible import ImpossibleValues, barred_by
from hedgerow.methods.weave.one_way import one_way_weights
from hedgerow.methods.weave.orders import numbers
from hedgerow.methods.weave.pairs import MOST_CELLS
from hedgerow.methods.weave.purpose import Purpose
from hedgerow.methods.weave.rounding import generator_of
from hedgerow.methods.weave.run import WeaveRun
from hedgerow.methods.weave.shape import SIZE, WeaveBudget, WeaveShape
from hedgerow.model.compiler import need_compiler
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Outline
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.privacy.mechanisms import Spending, noisy_counts
from hedgerow.trees.coarsening import require_share

EXAMPLE_RECORDS = 30_000
"""Number of records that an outline assumes, as it must not read the data."""

MOST_OF_ONE = (1 << 15) - 1
"""Cells of one attribute, at the most: they are numbered by 16-bit integers."""

MOST_RECORDS = 20_000_000
"""Records drawn at the most: at a tiny epsilon noise alone could ask for any number."""


@dataclass(frozen=True, kw_only=True)
class Weave:
    """Draw records from noisy 1-way marginals and the pairs that add most to them.

    Privacy: neighbours differ in one record. The number of records, every 1-way marginal, every
    choice of a table and every table read all records and cost epsilon together (sequential
    composition); a record is in one cell of each table (parallel composition). The pool, its
    joins, the weights and the draw are post-processing.
    """

    purpose: Purpose = "general"
    leaf_table: bool | None = None
    impossible: Sequence[ImpossibleValues] = ()

    @property
    def about(self) -> About:
        """Description of the method for the certificate; there is no paper to depart from."""
        return About(
            name="weave",
            details={
                "score": "sum over cells of max(|count - model| - threshold, 0), in records",
                "sensitivity": "1 record",
                "unit": f"1/{UNIT} record",
                "choice": "permute-and-flip",
                "rate": "share / (2 sensitivity)",
                "rows": "invented records drawn from the tables; their counts have no noise of"
                " their own",
            },
        )

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        require_domains(schema)
        # Drawn records are exchanged by compiled loops alone: a seed must not give one release
        # here and another where there is no compiler.
        need_compiler("The method weave")
        require_cells(schema, cell_axes(schema, barred_by(schema, self.impossible)))
        n = len(schema.attributes)
        require_share(epsilon * SIZE / max(20 * n * n, 1))

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what a run costs, step by step, estimated for a table of 30,000 records."""
        return self.outline_of(schema, epsilon, EXAMPLE_RECORDS)

    def outline_of(self, schema: Schema, epsilon: Fraction, n_records: int) -> Outline:
        """Return what a run on ``n_records`` costs, step by step."""
        axes = cell_axes(schema, barred_by(schema, self.impossible))
        budget = self._budget(schema, axes, epsilon, n_records)
        shares = [budget.one_way(a) for a in range(len(schema.attributes))]
        share = budget.table if budget.shape.tables else min(shares)
        cells = max(int(n_records * share / Fraction(PER_CELL)), 9)
        return Outline(
            steps=budget.steps(),
            counts=share,
            n_groups=cells,
            notes=(
                f"Of {n_records:,} records, {budget.shape.joins} joins and"
                f" {budget.shape.further} further 2-way marginals are counted, of at"
                f" most {cells:,} cells each. The rows are synthetic records.",
                "weave is for records and for relations between columns; hedge gives a readable"
                " generalised table, and may learn a single class better at an epsilon near 1/10.",
            ),
            counts_marginals=True,
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return drawn records as points; the ledger is settled afterwards."""
        engine, epsilon, ledger, source = run.engine, run.epsilon, run.ledger, run.source
        progress = run.progress
        schema = engine.schema
        self.validate(schema, epsilon)
        barred = barred_by(schema, self.impossible)
        axes = cell_axes(schema, barred)
        spending = Spending(
            epsilon=epsilon * SIZE, on="number of records", ledger=ledger, source=source
        )
        weaving = WeaveRun(
            engine=engine,
            axes=axes,
            n_classes=schema.n_classes,
            purpose=self.purpose,
            budget=self._budget(schema, axes, epsilon, _noisy_size(engine, axes, spending)),
            ledger=ledger,
            source=source,
            rng=generator_of(source),
            barred=barred,
            progress=progress,
        )
        fit = weaving.fit()
        progress("drawing records", None)
        n_records = min(round(fit.one_way.n_records / engine.unit), MOST_RECORDS)
        cells, classes = drawn_cells(fit.pool, n_records, weaving.rng)
        codes = codes_in(axes, cells, fit.one_way, weaving.rng)
        groups = groups_of_points(
            codes,
            [attribute.domain.size for attribute in schema.attributes],
            None if schema.class_attribute is None else classes,
        )
        counts = groups.counts * engine.unit
        return replace(
            groups, counts=counts, tables=tuple(weaving.measured), leaves=weaving.leaf_table
        )

    def _budget(
        self, schema: Schema, axes: tuple[CellAxis, ...], epsilon: Fraction, n_records: int
    ) -> WeaveBudget:
        wants = self.leaf_table
        if wants is None and self.purpose != "classification":
            wants = False
        shape = WeaveShape.of(
            epsilon,
            n_records,
            n_predictors=len(axes),
            has_class=schema.class_attribute is not None,
            leaves=wants,
            n_ordered=len(numbers(axes)),
        )
        return WeaveBudget(epsilon=epsilon, shape=shape, weights=one_way_weights(axes))


def require_cells(schema: Schema, axes: tuple[CellAxis, ...]) -> None:
    """Raise if a 2-way marginal by class could have cells without a number.

    Privacy: a record is in one cell of every table as long as cells have distinct keys. Refused
    by public sizes alone.
    """
    widest = sorted(range(len(axes)), key=lambda a: -axes[a].n_cells)[:2]
    sizes = [axes[a].n_cells for a in widest]
    if max(sizes, default=1) <= MOST_OF_ONE and prod(sizes) * schema.n_classes <= MOST_CELLS:
        return
    names = " and ".join(repr(schema.attributes[a].name) for a in widest)
    raise SettingError(
        f"the table of {names} by class would have more than {MOST_CELLS:,} cells"
        if max(sizes) <= MOST_OF_ONE
        else f"an attribute would have more than {MOST_OF_ONE:,} cells",
        where="publish.method",
        do="Group the classes or the values of these attributes, list fewer impossible values,"
        " or use the method hedge.",
    )


def _noisy_size(engine: Engine, axes: tuple[CellAxis, ...], spending: Spending) -> int:
    """Return a noisy number of records.

    Privacy: one record changes it by 1; costs the spending's epsilon.
    """
    counts = engine.sum(JointCounts(places=((axes[0].places,),), tables=(((0, 0),),)))
    return int(noisy_counts(counts.sum(keepdims=True).astype(np.int64), spending=spending)[0])
