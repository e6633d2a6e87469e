"""DPCube: noisy cells, a kd-tree over them, and fresh counts of its boxes.

[Xiao, Xiong and Yuan, SDM 2010; Xiao, Xiong, Fan, Goryczka and Li, Transactions on Data
Privacy 7, 2014], the two-phase kd-tree that [DiffMulti, Sec. 5] compares with.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from hedgerow.baselines.dpcube.partition import Cube, EvenBoxes
from hedgerow.errors import SettingError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Departure, Outline, Step
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.trees.coarsening import Coarsening, fitted, require_share
from hedgerow.trees.counts import group_kernel
from hedgerow.trees.leaves import publish_leaves
from hedgerow.trees.topdown import grow

CELLS = Fraction(1, 2)
"""Share of epsilon for the cells of the first phase."""

EXAMPLE_RECORDS = 30_000
"""Number of records that an outline assumes, as it must not read the data."""

RECORDS_PER_BOX = 100
"""Records times epsilon that a box usually has, when cells stop looking uneven."""

_PAPER = "DPCube (Xiao, Xiong, Fan, Goryczka and Li, TDP 2014)"

DEPARTURES = (
    Departure(
        paper=_PAPER,
        what="Attributes are coarsened by a public rule until all cells can be counted: the"
        " attribute with the most cells takes its taxonomy's next level, or a grid twice as"
        " wide, until at most 'cells' are left.",
        why="The paper takes four attributes of a few values; a wider table has more cells"
        " than any memory.",
    ),
    Departure(
        paper=_PAPER,
        what="The class is no dimension to be cut: every box is counted by class.",
        why="A release has boxes of the predictors, and their classes side by side.",
    ),
    Departure(
        paper=_PAPER,
        what="A box is cut where the squared deviation of its noisy cells falls most, and stays"
        " whole when that is no more than noise would do, by a public rule.",
        why="The paper's thresholds are to be tuned, and tuning on the data is not private.",
    ),
    Departure(
        paper=_PAPER,
        what="Both phases' counts of a box join by inverse variance, then all are projected on"
        " whole, non-negative counts; noise is discrete Laplace.",
        why="Low-order bits of a float show what was added to it, and cutting at zero adds"
        " synthetic records.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class TwoPhaseCube:
    """Count public cells, put those that look alike in boxes, and count the boxes anew.

    ``cells`` is the most cells of the first phase, classes included.

    Privacy: neighbours differ in one record, which is in one cell and in one box. The cells
    cost epsilon / 2; the partition is post-processing of them; every box spends the rest.
    """

    cells: int

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="dpcube",
            departures=DEPARTURES,
            details={"sensitivity": "1 record", "partition": "from noisy cells alone"},
        )

    def coarsenings(self, schema: Schema) -> tuple[Coarsening, ...]:
        """Return the cells of each attribute, from public settings alone."""
        return fitted(schema, most_boxes=max(self.cells // schema.n_classes, 1))

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        require_domains(schema)
        require_share(epsilon * CELLS)
        if self.cells < schema.n_classes:
            raise SettingError(
                f"There are {schema.n_classes} classes, and only {self.cells} cells.",
                where="publish.cells",
                do="Give at least as many cells as classes, and better a hundred times as many.",
            )

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what every path spends, and how many groups 30,000 records may give."""
        return self.outline_of(schema, epsilon, EXAMPLE_RECORDS)

    def outline_of(self, schema: Schema, epsilon: Fraction, n_records: int) -> Outline:
        """Return what every path spends, and how many groups ``n_records`` may give."""
        counts = epsilon - epsilon * CELLS
        shape = [each.n_cells for each in self.coarsenings(schema)]
        classes = schema.n_classes
        n_boxes = min(prod(shape), max(int(epsilon * n_records / RECORDS_PER_BOX), 1))
        used = ", ".join(
            f"{attribute.name} {n}" for attribute, n in zip(schema.attributes, shape, strict=True)
        )
        return Outline(
            steps=(
                Step(on="cells", share=epsilon * CELLS, times=1),
                Step(on="counts", share=counts, times=1),
            ),
            counts=counts,
            n_groups=n_boxes * classes,
            notes=(
                f"There are {prod(shape) * classes:,} cells; of each attribute: {used}. Those that"
                " look alike are put together.",
            ),
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the noisy groups of the boxes; the ledger is settled afterwards."""
        self.validate(run.engine.schema, run.epsilon)
        run.progress("counting cells", None)
        cube = noisy_cube(run, self.coarsenings(run.engine.schema))
        strategy = EvenBoxes(cube=cube, progress=run.progress)
        grown = grow(run, strategy)
        run.progress("counting groups", None)
        return publish_leaves(grown, strategy.measured, run=run)


def noisy_cube(run: Run[Engine], coarsenings: tuple[Coarsening, ...]) -> Cube:
    """Return all cells with their noisy counts by class.

    Privacy: every cell gets noise, empty ones included; a record is in one of them, so all
    together cost the share of the cells.
    """
    kernel = group_kernel(tuple(each.ranges for each in coarsenings), run.engine)
    tally = run.engine.tally(kernel)
    counts = np.zeros(kernel.n_groups, dtype=np.int64)
    counts[tally.keys] = tally.counts
    share = run.epsilon * CELLS
    noisy = run.noisy(counts, share=share, on="cells").reshape(-1, kernel.n_classes)
    return Cube.of(coarsenings, noisy, share)
