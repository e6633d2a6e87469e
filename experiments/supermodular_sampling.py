"""[TKDE, Fig. 4]: what exponential sampling of generalisations keeps.

The mean utility of a record under the sampling of [TKDE, Alg. 2] is computed exactly, from
the chances of all its generalisations; only thresholds and records are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from experiments.figure import FigurePoint, Scene, Unit
from experiments.releases import diffgen, released
from experiments.tables import diabetes, rows, with_attributes
from hedgerow.evaluation.placing import places
from hedgerow.lattice.aggregate_objective import AggregateObjective
from hedgerow.lattice.dictionary import Dictionary
from hedgerow.lattice.lattice import Parts, parts_of
from hedgerow.lattice.risk import Severities
from hedgerow.lattice.utility import utility_tables
from hedgerow.methods.personal.printed_delta import PrintedTerms
from hedgerow.model.arrays import Floats
from hedgerow.model.groups import Groups
from hedgerow.model.table import EncodedTable

ATTRIBUTES = ["diag_1", "age", "admission_source_id", "discharge_disposition_id", "race"]
"""Categorical ones, so that the boxes of DiffGen are nodes of the taxonomies."""

FLOOR = 1.0
THETA = Fraction(1, 10)
SPECIALISATIONS = 10
THRESHOLDS = 20
"""Draws of the threshold of frequency in one run."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Disclosed:
    """A table, itself the dictionary, and the objective of its records."""

    table: EncodedTable
    dictionary: Dictionary
    utility: Parts
    severities: Severities

    @property
    def most(self) -> float:
        """The most utility of any record."""
        return float(sum(table.max() for table in self.utility))

    def cubes(self, record: int) -> tuple[Floats, NDArray[np.int64]]:
        """Return f and the matches of all generalisations of a record.

        λ times the number of records is half of the most utility.
        """
        codes = [int(column[record]) for column in self.table.codes]
        counter = self.dictionary.counter(codes)
        lattice = counter.lattice
        objective = AggregateObjective(
            lattice=lattice,
            utility_parts=parts_of(codes, self.utility, lattice),
            severity_parts=self.severities.parts(codes, lattice, record),
            risk_weight=self.most / 2 / self.dictionary.n_records,
            floor=FLOOR,
        )
        matches = counter.cube()
        return objective.over_cube(matches), matches

    def settings(self, epsilon: Fraction, beta: Fraction) -> PrintedTerms:
        """Return the settings of the printed algorithm, η = 2 (λ / φ + 1) among them."""
        n = self.dictionary.n_records
        return PrintedTerms(
            epsilon=epsilon,
            beta=beta,
            theta=THETA,
            least_records=n,
            n_nodes=int(np.prod([chain.tallest + 1 for chain in self.dictionary.chains])),
            reach=self.most,
            shift=2 * (self.most / 2 / n / FLOOR + 1),
        )


@cache
def disclosure(
    scene: Scene, weights: int, attributes: tuple[str, ...] = tuple(ATTRIBUTES)
) -> Disclosed:
    """Return the table with random weights of persons."""
    table = with_attributes(diabetes(scene), list(attributes))
    dictionary = Dictionary.of(table)
    personal = np.random.default_rng([2014, weights]).random((len(table), len(attributes)))
    return Disclosed(
        table=table,
        dictionary=dictionary,
        utility=utility_tables("depth", dictionary.chains),
        severities=Severities.of(dictionary.chains, personal=personal),
    )


def expected(values: Floats, allowed: NDArray[np.bool_], rate: float) -> float:
    """Return the mean of values drawn with chances exp(rate · value) among those allowed."""
    kept = values[allowed]
    chances = np.exp(rate * (kept - kept.max()))
    return float((chances * kept).sum() / chances.sum())


def sampling(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return mean utilities of sampling, of the optimum and of DiffGen [Fig. 4]."""
    given = disclosure(scene, unit.run)
    n = given.dictionary.n_records
    epsilon = Fraction(str(unit["epsilon"]))
    part = float(unit["part"]) or 1 / n  # 0: one record is expected
    rate = given.settings(epsilon, 1 - Fraction(part)).rate / n
    rng = unit.rng
    records = rng.permutation(n)[: scene.pick(full=300, quick=20)]
    thetas = rng.uniform(float(THETA), 1, THRESHOLDS)
    groups = released(diffgen(SPECIALISATIONS), given.table, epsilon=epsilon, source=unit.source)
    told = np.array(
        [_of_record(given, record, rate, thetas, groups) for record in records.tolist()]
    )
    best, whole, frequent, grouped = told.mean(axis=0).tolist()
    if not unit["part"]:
        return [
            FigurePoint("(a) by budget", "optimal", unit["epsilon"], best),
            FigurePoint("(a) by budget", "sampling, whole lattice", unit["epsilon"], whole),
            FigurePoint("(a) by budget", "sampling, t-frequent", unit["epsilon"], frequent),
            FigurePoint("(a) by budget", "group sampling (DiffGen)", unit["epsilon"], grouped),
        ]
    return [
        FigurePoint("(b) by sample", "optimal", part, best),
        FigurePoint("(b) by sample", "sampling, t-frequent", part, frequent),
        FigurePoint("(b) by sample", "of the whole table", part, frequent * part),
        FigurePoint("(b) by sample", "group sampling (DiffGen)", part, grouped),
    ]


def _of_record(
    given: Disclosed, record: int, rate: float, thetas: Floats, groups: Groups
) -> tuple[float, float, float, float]:
    values, matches = given.cubes(record)
    every = np.ones(values.shape, dtype=np.bool_)
    n = given.dictionary.n_records
    frequent = [expected(values, matches >= theta * n, rate) for theta in thetas.tolist()]
    return (
        float(values.max()),
        expected(values, every, rate),
        float(np.mean(frequent)),
        float(values[_node_of(given, record, groups)]),
    )


def _node_of(given: Disclosed, record: int, groups: Groups) -> tuple[int, ...]:
    """Return the levels at which a release generalises a record, by the width of its ranges."""
    place = places(groups, rows(given.table, np.array([record])))[0]
    node = []
    for at, chain in enumerate(given.dictionary.chains):
        ranges, code = groups.ranges[at], int(given.table.codes[at][record])
        width = int(ranges.stop[place[at]] - ranges.first[place[at]])
        height = int(chain.heights[code])
        node.append(int(np.flatnonzero(chain.n_leaves[code, : height + 1] == width)[-1]))
    return tuple(node)
