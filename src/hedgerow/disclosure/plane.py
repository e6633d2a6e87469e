"""The risk-utility plane of a table: the frontier, the chosen point and k-anonymous tables.

[ARUBA, Figs. 1, 2 and 9] and [TKDE, Fig. 1(a)]. Everything here is confidential: risks depend on
the raw dictionary and on personal weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.baselines.kanonymity.level_search import Cost
from hedgerow.disclosure.confidential import Confidential, Problems
from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.lattice.matches import CUBE_UP_TO
from hedgerow.disclosure.lattice.packed import Found
from hedgerow.disclosure.lattice.threshold import RecordLandscape
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.disclosure.uniform import UniformForms
from hedgerow.model.arrays import Floats, Ints
from hedgerow.report.owner import AnonymousTable, Plane, Point

MOST_RECORDS = 400
"""Maximum number of records behind the plane; fewer if their lattices are large."""

MOST_NODES = 1 << 24
"""Maximum number of nodes examined for it, over all records."""

ANONYMITIES = (2, 3, 5, 10, 25, 50, 100)
SHARES = np.linspace(0, 1, 21)
_SEED = 2008


class Frontier:
    """The lowest risk of a record at any utility, over all nodes of its lattice."""

    def __init__(self, risks: Floats, utilities: Floats) -> None:
        risk, utility = risks.reshape(-1), utilities.reshape(-1)
        order = np.lexsort((risk, -utility))
        risk, utility = risk[order], utility[order]
        least = np.minimum.accumulate(risk)
        better = np.concatenate([[True], least[1:] < least[:-1]])
        # From the most useful node on: every node with less risk than all before it.
        self.risk, self.utility = risk[better], utility[better]

    def at(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Return the lowest risk at utilities of at least the thresholds, and the utility there.

        Thresholds above the most useful node yield that node.
        """
        slack = 1e-12 * max(1.0, float(abs(self.utility[0])))
        n_useful = np.searchsorted(-self.utility, -(thresholds - slack), side="right")
        place = np.maximum(n_useful - 1, 0)
        return self.risk[place], self.utility[place]


def frontier_of(
    ready: PreparedDisclosure, confidential: Confidential, problems: Problems, job: int
) -> Frontier | None:
    """Return the frontier of a distinct record, or ``None`` if its lattice is too large."""
    codes = [int(column[job]) for column in problems.records.codes]
    if Lattice.of(codes, ready.chains).n_nodes > CUBE_UP_TO:
        return None
    landscape = RecordLandscape.of(
        codes,
        confidential.dictionary.counter(codes),
        utility=ready.utility,
        severities=problems.severities,
        model=ready.model,
        person=job,
        known=problems.known_of(job),
    )
    return Frontier(landscape.risks(), landscape.utilities())


def plane_of(
    ready: PreparedDisclosure,
    confidential: Confidential,
    problems: Problems,
    found: Found,
    *,
    anonymities: Sequence[int] = ANONYMITIES,
    most_records: int = MOST_RECORDS,
) -> Plane | None:
    """Return the plane of a disclosed table, from some of its records, or ``None`` without records.

    Withheld records have neither utility nor risk, and are not drawn.
    """
    jobs = _sample(problems, found, min(most_records, _affordable(ready, problems)))
    if not len(jobs):
        return None
    forms = UniformForms(ready=ready, confidential=confidential, problems=problems)
    before = forms.valued(forms.as_they_are())
    frontiers = [frontier_of(ready, confidential, problems, int(job)) for job in jobs]
    known = [frontier for frontier in frontiers if frontier is not None]
    complete = len(known) == len(jobs)
    tables = []
    cost: Cost = "height" if ready.measure == "depth" else "ncp"
    # A uniform table is no longer uniform once combined with the recipient's knowledge.
    wanted = anonymities if forms.searchable and problems.known is None else ()
    for k, form in forms.anonymous(wanted, cost=cost).items():
        valued = forms.valued(form)
        tables.append(
            AnonymousTable(
                k=k,
                anonymous=_mean(valued.risk[jobs], valued.utility[jobs]),
                best=_least(known, valued.utility[jobs]) if complete else None,
            )
        )
    return Plane(
        n_records=len(jobs),
        before=_mean(before.risk[jobs], before.utility[jobs]),
        after=_mean(found.risk[jobs], found.utility[jobs]),
        frontier=_curve(known, before.utility[jobs]) if complete else (),
        anonymous=tuple(tables),
    )


def _affordable(ready: PreparedDisclosure, problems: Problems) -> int:
    """Return the number of records that can be examined, except those with too large lattices."""
    n_nodes = np.ones(len(problems))
    for column, chain in zip(problems.records.codes, ready.chains, strict=True):
        n_nodes *= chain.heights[column] + 1.0
    small = n_nodes[n_nodes <= CUBE_UP_TO]
    return max(20, int(MOST_NODES / small.mean())) if len(small) else MOST_RECORDS


def _sample(problems: Problems, found: Found, most: int) -> Ints:
    records = np.flatnonzero(found.feasible[problems.kind])
    if len(records) > most:
        chosen = np.random.default_rng(_SEED).choice(len(records), most, replace=False)
        records = records[np.sort(chosen)]
    return problems.kind[records]


def _mean(risk: Floats, utility: Floats) -> Point:
    return Point(utility=float(utility.mean()), risk=float(risk.mean()))


def _least(frontiers: Sequence[Frontier], thresholds: Floats) -> Point:
    """Return the means of the lowest risks, with one threshold per record."""
    found = [frontier.at(thresholds[i : i + 1]) for i, frontier in enumerate(frontiers)]
    return _mean(
        np.concatenate([risk for risk, _ in found]),
        np.concatenate([utility for _, utility in found]),
    )


def _curve(frontiers: Sequence[Frontier], most: Floats) -> tuple[Point, ...]:
    """Return the means of the lowest risks at shares of every record's own utility."""
    found = [frontier.at(SHARES * most[i]) for i, frontier in enumerate(frontiers)]
    risk = np.mean([risk for risk, _ in found], axis=0)
    utility = np.mean([utility for _, utility in found], axis=0)
    points = [Point(utility=float(u), risk=float(r)) for u, r in zip(utility, risk, strict=True)]
    return tuple(points)
