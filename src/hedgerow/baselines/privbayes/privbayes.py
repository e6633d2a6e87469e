"""PrivBayes: synthetic records from a Bayesian network with noisy marginals.

[Zhang, Cormode, Procopiuc, Srivastava and Xiao, SIGMOD 2014; TODS 42, 2017], the variant
for attributes of many values: hierarchical encoding, score R, theta-useful marginals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hedgerow.baselines.privbayes.departures import DEPARTURES
from hedgerow.baselines.privbayes.network import Encoding, NetworkGrowth
from hedgerow.baselines.privbayes.records import drawn_codes, noisy_conditionals
from hedgerow.count.joint import JointCounts
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Outline, Step
from hedgerow.model.points import groups_of_points
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.trees.coarsening import require_share

SIZE = Fraction(1, 50)
"""Share of epsilon for the noisy number of records."""

NETWORK = Fraction(3, 10)
"""Share of epsilon for the choices of the network: beta of [PrivBayes]."""

USEFULNESS = 4
"""Records per cell of a marginal, over the noise on it, at the least: theta of [PrivBayes]."""

MOST_RECORDS = 20_000_000
"""Records drawn at the most: at a tiny epsilon noise alone could ask for any number."""

EXAMPLE_RECORDS = 30_000
"""Number of records that an outline assumes, as it must not read the data."""


@dataclass(frozen=True, kw_only=True)
class BayesianNetwork:
    """Draw records from a network of noisy marginals.

    ``degree`` is the most parents of an attribute.

    Privacy: neighbours differ in one record. The number of records, every choice of the
    network and every marginal read all records, and cost epsilon together (sequential
    composition); drawing records is post-processing.
    """

    degree: int

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="privbayes",
            departures=DEPARTURES,
            details={
                "score": "R, in records",
                "sensitivity": "2 records",
                "choice": "exponential mechanism",
                "rate": "share / (2 sensitivity)",
                "theta": str(USEFULNESS),
                "rows": "invented records drawn from the network; their counts have no noise of"
                " their own",
            },
        )

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        require_domains(schema)
        n = len(list(schema.used()))
        network = epsilon * NETWORK / max(n - 1, 1)
        require_share(min(epsilon * SIZE, network, _marginals(epsilon, n)))

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what a run spends, and the cells of a marginal of 30,000 records."""
        return self.outline_of(schema, epsilon, EXAMPLE_RECORDS)

    def outline_of(self, schema: Schema, epsilon: Fraction, n_records: int) -> Outline:
        """Return what a run on ``n_records`` spends, and the cells of one of its marginals."""
        n = len(list(schema.used()))
        marginal = _marginals(epsilon, n)
        steps = [Step(on="number of records", share=epsilon * SIZE, times=1)]
        if n > 1:
            steps.append(Step(on="parents", share=epsilon * NETWORK / (n - 1), times=n - 1))
        steps.append(Step(on="marginals", share=marginal, times=n))
        cells = useful_cells(n_records, marginal)
        return Outline(
            steps=tuple(steps),
            counts=marginal,
            n_groups=cells,
            notes=(
                f"A marginal of {n_records:,} records has at most {cells:,} cells, and an"
                f" attribute at most {self.degree} parents. The rows are synthetic records.",
            ),
            counts_marginals=True,
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return synthetic records as points; the ledger is settled afterwards."""
        schema = run.engine.schema
        self.validate(schema, run.epsilon)
        encoding = Encoding.of(schema)
        n = len(encoding)
        counts = run.engine.sum(JointCounts(places=encoding.places, tables=(((0, 0),),)))
        total = run.noisy_total(counts, share=run.epsilon * SIZE, on="number of records")
        network = NetworkGrowth(
            run=run,
            encoding=encoding,
            degree=self.degree,
            most_cells=useful_cells(total, _marginals(run.epsilon, n)),
            share=run.epsilon * NETWORK / max(n - 1, 1),
        ).network()
        run.progress("counting marginals", None)
        laws = noisy_conditionals(run, encoding, network, total=total)
        run.progress("drawing records", None)
        n_records = min(max(total, 0), MOST_RECORDS)
        columns = drawn_codes(encoding, laws, n_records, source=run.source)
        classes = columns.pop() if schema.class_attribute is not None else None
        sizes = [attribute.domain.size for attribute in schema.attributes]
        return groups_of_points(columns, sizes, classes)


def useful_cells(n_records: int, share: Fraction) -> int:
    """Return the most cells of a marginal whose noise leaves it useful.

    Cells are that many that each has ``USEFULNESS`` times the scale of its noise in records,
    on average [PrivBayes, theta-usefulness].

    >>> useful_cells(30_000, Fraction(1, 20))
    375
    """
    return max(int(n_records * share / USEFULNESS), 1)


def _marginals(epsilon: Fraction, n: int) -> Fraction:
    """Return what one of ``n`` marginals costs at the least."""
    network = NETWORK if n > 1 else Fraction(0)
    return epsilon * (1 - SIZE - network) / n
