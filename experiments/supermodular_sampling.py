"""[TKDE, Fig. 4]: what exponential sampling of generalisations keeps.

Algorithm 2 is run several times, as printed. Beside that, the mean utility of a record under its
sampling is computed exactly, from the chances of all its generalisations: what the average over
more and more runs tends to. Beside both is what [TKDE, Thm. 3(ii)] promises.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from experiments.figure import FigurePoint, Scene, Unit
from experiments.releases import diffgen, released
from experiments.tables import diabetes, rows, with_attributes
from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.lattice import Parts, parts_of
from hedgerow.disclosure.lattice.risk import Severities
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.private.printed_delta import PrintedTerms
from hedgerow.disclosure.private.printed_utility import PromisedUtility, promised_utility
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective
from hedgerow.evaluation.placing import places
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
    cubes = [given.cubes(record) for record in records.tolist()]
    told = np.array([_of_record(cube, rate, thetas, n) for cube in cubes])
    best, whole, frequent = told.mean(axis=0).tolist()
    pairs = zip(cubes, records.tolist(), strict=True)
    grouped = float(np.mean([cube[0][_node_of(given, at, groups)] for cube, at in pairs]))
    promised = promised_of(given, best, rate, part)
    drawn_whole = algorithm_2(cubes, np.zeros(THRESHOLDS), rate, n=n, part=part, rng=rng)
    drawn = algorithm_2(cubes, thetas, rate, n=n, part=part, rng=rng)
    panel, x = ("(b) by sample", part) if unit["part"] else ("(a) by budget", unit["epsilon"])
    lines = {"optimal": best, "sampling, whole lattice": whole, "sampling, t-frequent": frequent}
    if unit["part"]:
        lines["of the whole table"] = frequent * part
        del lines["sampling, whole lattice"]
    else:
        lines["runs of Algorithm 2, whole lattice"] = drawn_whole
    lines |= {
        "runs of Algorithm 2, t-frequent": drawn,
        "group sampling (DiffGen)": grouped,
        "promised by Theorem 3(ii)": promised.part * best,
    }
    return [FigurePoint(panel, line, x, y) for line, y in lines.items() if not math.isnan(y)]


def promised_of(given: Disclosed, best: float, rate: float, part: float) -> PromisedUtility:
    """Return what [TKDE, Thm. 3(ii)] promises where the best mean utility is ``best``."""
    chains = given.dictionary.chains
    return promised_utility(
        rate * best,
        n_attributes=len(chains),
        height=max(chain.tallest for chain in chains),
        beta=1 - part,
    )


def algorithm_2(
    cubes: Sequence[tuple[Floats, NDArray[np.int64]]],
    thetas: Floats,
    rate: float,
    *,
    n: int,
    part: float,
    rng: np.random.Generator,
) -> float:
    """Return the mean utility over runs of [TKDE, Alg. 2], one for each θ; NaN if all are empty.

    As many records are sampled as in a table of ``n``, at most as many as there are cubes.
    """
    means = []
    for theta in thetas.tolist():
        size = min(int(rng.binomial(n, part)), len(cubes))  # line 4
        utilities = []
        for at in rng.permutation(len(cubes))[:size].tolist():  # line 5
            values, matches = cubes[at]
            kept = values[matches >= theta * n]  # lines 2, 3
            chances = np.exp(rate * (kept - kept.max()))
            utilities.append(float(rng.choice(kept, p=chances / chances.sum())))  # line 6
        if utilities:
            means.append(float(np.mean(utilities)))
    return float(np.mean(means)) if means else math.nan


def _of_record(
    cube: tuple[Floats, NDArray[np.int64]], rate: float, thetas: Floats, n: int
) -> tuple[float, float, float]:
    """Return the best utility of a record and the means over the lattice and what is frequent."""
    values, matches = cube
    every = np.ones(values.shape, dtype=np.bool_)
    frequent = [expected(values, matches >= theta * n, rate) for theta in thetas.tolist()]
    return float(values.max()), expected(values, every, rate), float(np.mean(frequent))


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
