"""The contingency table with noise on every cell: the baseline that everything must beat."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log10, prod

from hedgerow.errors import SettingError
from hedgerow.methods.diffgen.budget import TOTAL_FROM, TOTAL_SHARE
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.method import About, Departure, Outline, Step
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.trees.coarsening import fitted, require_share
from hedgerow.trees.counts import MOST_GROUPS, noisy_groups, public_threshold
from hedgerow.trees.cut import leaf_ranges

_PAPER = "Laplace contingency table (Dwork, McSherry, Nissim and Smith, TCC 2006)"

DEPARTURES = (
    Departure(
        paper=_PAPER,
        what="Noise is discrete Laplace, drawn exactly.",
        why="Low-order bits of a float show what was added to it.",
    ),
    Departure(
        paper=_PAPER,
        what="Cells without records that noise would lift to the threshold are drawn directly"
        " [Cormode et al., ICDT 2012].",
        why="The law is the same, and a sparse table need not be written out.",
    ),
    Departure(
        paper=_PAPER,
        what="Counts are projected on whole, non-negative ones of a noisy total; of very many"
        " cells only those that reach a public threshold are kept.",
        why="Cutting at zero adds about one synthetic record for every empty cell.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class BasicTable:
    """Count every cell of the table, by class, with noise.

    ``cells``, where it is given, is the most cells (classes included) that there may be:
    attributes are coarsened by a public rule until the table fits. Without it the cells
    are the single values.

    Privacy: neighbours differ in one record, which is in one cell. A noisy total, where
    the table is large, costs epsilon / 50, and the counts cost the rest.
    """

    cells: int | None

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="basic-table",
            departures=DEPARTURES,
            details={"sensitivity": "1 record"},
        )

    def ranges(self, schema: Schema) -> tuple[Ranges, ...]:
        """Return the cells of each attribute, from public settings alone."""
        if self.cells is None:
            return leaf_ranges(schema)
        most = max(self.cells // schema.n_classes, 1)
        return tuple(each.ranges for each in fitted(schema, most_boxes=most))

    def n_groups(self, schema: Schema) -> int:
        """Return the number of cells times classes."""
        classes = schema.n_classes
        if self.cells is None:
            return prod((each.domain.size for each in schema.attributes), start=classes)
        return prod((len(each) for each in self.ranges(schema)), start=classes)

    def _total(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return what a noisy total is worth; 0 where the counts' sum is as good."""
        return epsilon * TOTAL_SHARE if self.n_groups(schema) >= TOTAL_FROM else Fraction(0)

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where there are more cells than can be numbered, before any budget is spent.

        Below that a public threshold keeps the rows that noise alone would list to two
        million.
        """
        require_domains(schema)
        require_share(epsilon * TOTAL_SHARE)
        n_groups = self.n_groups(schema)
        if n_groups > MOST_GROUPS:
            raise SettingError(
                f"The table has about 1e{log10(n_groups):.0f} cells, too many to publish.",
                where="publish.method",
                do="Give 'cells' (65536, say) to coarsen the attributes, drop attributes, or"
                " give coarser grids; hedge and privbayes take tables of any size.",
            )

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return the shares, and how many cells there are."""
        total = self._total(schema, epsilon)
        counts = epsilon - total
        n_groups = self.n_groups(schema)
        steps = (
            Step(on="total", share=total, times=1),
            Step(on="counts", share=counts, times=1),
        )
        least = public_threshold(n_groups, epsilon=counts)
        left_out = f"; counts below {least:,} are not listed" if least > 1 else ""
        return Outline(
            steps=tuple(step for step in steps if step.share),
            counts=counts,
            n_groups=n_groups,
            notes=(f"There are {n_groups:,} cells{left_out}.",),
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the noisy cells that are positive; the ledger is settled afterwards."""
        schema = run.engine.schema
        self.validate(schema, run.epsilon)
        run.progress("counting cells", None)
        total = self._total(schema, run.epsilon)
        return noisy_groups(run, self.ranges(schema), total_share=total)
