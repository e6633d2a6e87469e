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

from hedgerow.count.joint import JointCounts
from hedgerow.errors import SettingError
from hedgerow.methods.weave.axes import CellAxis, cell_axes
from hedgerow.methods.weave.candidates import PER_CELL, UNIT
from hedgerow.methods.weave.codes import CodeLevels
from hedgerow.methods.weave.draw import codes_in, drawn_cells
from hedgerow.methods.weave.impossible import ImpossibleValues, barred_by
from hedgerow.methods.weave.one_way import one_way_weights
from hedgerow.methods.weave.orders import numbers
from hedgerow.methods.weave.pairs import MOST_CELLS
from hedgerow.methods.weave.purpose import Purpose
from hedgerow.methods.weave.refinement import MOST_ADDED
from hedgerow.methods.weave.rounding import generator_of
from hedgerow.methods.weave.run import WeaveRun
from hedgerow.methods.weave.shape import SIZE, WeaveBudget, WeaveShape
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Outline
from hedgerow.model.points import groups_of_points
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
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
        require_cells(
            schema, most_cells(schema, cell_axes(schema, barred_by(schema, self.impossible)))
        )
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
        engine, schema = run.engine, run.engine.schema
        self.validate(schema, run.epsilon)
        barred = barred_by(schema, self.impossible)
        axes = cell_axes(schema, barred)
        weaving = WeaveRun(
            run=run,
            axes=axes,
            levels=code_levels(schema, axes),
            n_classes=schema.n_classes,
            purpose=self.purpose,
            budget=self._budget(schema, axes, run.epsilon, _noisy_size(run, axes)),
            rng=generator_of(run.source),
            barred=barred,
        )
        fit = weaving.fit()
        run.progress("drawing records", None)
        n_records = min(round(fit.one_way.n_records / engine.unit), MOST_RECORDS)
        cells, classes = drawn_cells(fit.pool, n_records, weaving.rng)
        codes = codes_in(weaving.axes, cells, fit.one_way, weaving.rng)
        sizes = [attribute.domain.size for attribute in schema.attributes]
        groups = groups_of_points(codes, sizes, None if schema.class_attribute is None else classes)
        return replace(
            groups,
            counts=groups.counts * engine.unit,
            tables=tuple(weaving.measured),
            leaves=weaving.leaf_table,
        )

    def _budget(
        self, schema: Schema, axes: tuple[CellAxis, ...], epsilon: Fraction, n_records: int
    ) -> WeaveBudget:
        wants = self.leaf_table
        if wants is None and self.purpose in ("counting", "clustering"):
            wants = False
        shape = WeaveShape.of(
            epsilon,
            n_records,
            n_predictors=len(axes),
            has_class=schema.class_attribute is not None,
            leaves=wants,
            n_ordered=len(numbers(axes)),
        )
        levels = code_levels(schema, axes)
        return WeaveBudget(
            epsilon=epsilon,
            shape=shape,
            n_records=n_records,
            weights=one_way_weights(axes),
            levels=tuple(0 if each is None else each.n_levels for each in levels),
        )


def require_cells(schema: Schema, n_cells: Sequence[int]) -> None:
    """Raise if a 2-way marginal by class could have cells without a number.

    ``n_cells`` are the most that each attribute can have.

    Privacy: a record is in one cell of every table as long as cells have distinct keys. Refused
    by public sizes alone.
    """
    widest = sorted(range(len(n_cells)), key=lambda a: -n_cells[a])[:2]
    sizes = [n_cells[a] for a in widest]
    if max(sizes, default=1) <= MOST_OF_ONE and prod(sizes) * schema.n_classes <= MOST_CELLS:
        return
    names = " and ".join(repr(schema.attributes[a].name) for a in widest)
    raise SettingError(
        f"The table of {names} by class would have more than {MOST_CELLS:,} cells."
        if max(sizes) <= MOST_OF_ONE
        else f"An attribute would have more than {MOST_OF_ONE:,} cells.",
        where="publish.method",
        do="Group the classes or the values of these attributes, list fewer impossible values,"
        " or use the method hedge.",
    )


def most_cells(schema: Schema, axes: tuple[CellAxis, ...]) -> list[int]:
    """Return how many cells every predictor can have once its codes are counted, at the most."""
    return [
        axis.n_cells if levels is None else min(axis.n_cells + MOST_ADDED, int(axis.edges[-1]))
        for axis, levels in zip(axes, code_levels(schema, axes), strict=True)
    ]


def code_levels(schema: Schema, axes: tuple[CellAxis, ...]) -> tuple[CodeLevels | None, ...]:
    """Return how the codes of every predictor can be counted: public."""
    return tuple(
        CodeLevels.of(attribute.domain, axis)
        for attribute, axis in zip(schema.attributes, axes, strict=True)
    )


def _noisy_size(run: Run[Engine], axes: tuple[CellAxis, ...]) -> int:
    """Return a noisy number of records.

    Privacy: one record changes it by 1; costs its share of epsilon.
    """
    counts = run.engine.sum(JointCounts(places=((axes[0].places,),), tables=(((0, 0),),)))
    return run.noisy_total(counts, share=run.epsilon * SIZE, on="number of records")
