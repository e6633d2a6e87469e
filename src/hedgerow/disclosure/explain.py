"""Explain to the owner how a record is generalised, and show the risk-utility plane of records.

All results are confidential: generalisations, risks and matches of single records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.confidential import Confidential, Problems, read_confidential
from hedgerow.disclosure.lattice.consistency import match_counter
from hedgerow.disclosure.lattice.lattice import Chains, Lattice, Node, total
from hedgerow.disclosure.lattice.matches import CUBE_UP_TO
from hedgerow.disclosure.lattice.threshold import (
    Balance,
    MaximiseUtility,
    MinimiseRisk,
    Objective,
    RecordLandscape,
)
from hedgerow.disclosure.prepare import PreparedDisclosure, given_to, prepare_disclosure
from hedgerow.disclosure.recipient import Recipient
from hedgerow.disclosure.solver_choice import n_workers, objective_of, solver_for
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats, Ints
from hedgerow.pipeline.prepare import PlanLike
from hedgerow.pipeline.signed import check_signed
from hedgerow.plan.disclose import AggregateDisclose, ApproxDisclose, ThresholdDisclose
from hedgerow.progress import Progress, no_progress
from hedgerow.taxonomy.domain import Domain

FOR_OWNER = "the owner of the data alone: these figures are not private"

MOST_FORMS = 1_500
"""Maximum number of generalisations listed for a record; of more, a selection is shown."""

_SLACK = 1e-9

_Goal = TypedDict(
    "_Goal",
    {
        "kind": str,
        "at-least": float,
        "at-most": float,
        "of-most": float,
        "about": bool,
        "rate": float,
        "lambda": float,
        "kappa": float,
    },
    total=False,
)
"""The objective of a record's disclosure, with its threshold, as JSON holds it."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReadyToExplain:
    """A prepared plan with its records (confidential)."""

    ready: PreparedDisclosure
    confidential: Confidential
    problems: Problems

    @classmethod
    def of(
        cls,
        plan: PlanLike,
        *,
        data: Any = None,
        against: Any = None,
        progress: Progress = no_progress,
        settings: dict[str, Any] | None = None,
    ) -> ReadyToExplain:
        """Read the inputs of the plan; refuse whatever `disclose` would refuse."""
        ready = prepare_disclosure(plan, settings or {})
        check_signed(ready.plan, ready.schema, given_to(ready, data, against))
        confidential = read_confidential(ready, data, against, progress=progress)
        recipient = Recipient.of(ready)
        known = None if recipient is None else recipient.recognise(confidential, ready).levels
        return cls(
            ready=ready, confidential=confidential, problems=Problems.of(ready, confidential, known)
        )

    def codes(self, job: int) -> list[int]:
        """Return the codes of one distinct record."""
        return [int(column[job]) for column in self.problems.records.codes]

    def landscape(self, job: int) -> RecordLandscape:
        """Return risk and utility over the lattice of one distinct record."""
        codes, risk = self.codes(job), self.ready.disclose.risk
        similar = {} if risk.similar_from is None else {"similar_from": float(risk.similar_from)}
        counter = (
            self.confidential.dictionary.counter(codes)
            if risk.consistency == "hierarchical"
            else match_counter(
                codes, self.confidential.dictionary, consistency="approximate", **similar
            )
        )
        return RecordLandscape.of(
            codes,
            counter,
            utility=self.ready.utility,
            severities=self.problems.severities,
            model=self.ready.model,
            person=job,
            known=self.problems.known_of(job),
        )


def explain_record(
    plan: PlanLike,
    record: int,
    *,
    data: Any = None,
    against: Any = None,
    workers: int | None = None,
    progress: Progress = no_progress,
    **settings: Any,
) -> dict[str, Any]:
    """Return a record's lattice, the chosen generalisation, and the alternatives.

    ``record`` is the row of the data, counted from 1. Confidential: for the owner alone.
    """
    known = ReadyToExplain.of(
        plan, data=data, against=against, progress=progress, settings=settings
    )
    job = _job(known, record)
    solver = solver_for(
        known.ready, known.confidential, known.problems, seed=0, workers=n_workers(workers)
    )
    found = solver.solve(job, job + 1)
    chosen = tuple(found.levels[0].tolist()) if found.feasible[0] else None
    landscape = known.landscape(job)
    lattice = landscape.lattice
    forms = _Forms.few(landscape, chosen) if lattice.n_nodes > CUBE_UP_TO else _Forms.all(landscape)
    goal = _goal(known.ready, landscape)
    return {
        "for": FOR_OWNER,
        "record": record,
        "records": len(known.confidential.rows),
        "method": known.ready.disclose.method,
        "model": known.ready.disclose.risk.model,
        "measure": known.ready.disclose.utility.measure,
        "goal": goal,
        "attributes": _attributes(known, job, landscape, chosen),
        "forms": lattice.n_nodes,
        "before": _form(landscape, lattice.bottom),
        "chosen": None if chosen is None else _form(landscape, chosen),
        "neighbours": _neighbours(known, landscape, chosen, goal),
        "reaching": forms.reaching(goal),
        "best": forms.best(goal, chosen),
        "points": forms.points(chosen),
        "frontier": forms.frontier(),
    }


def _job(known: ReadyToExplain, record: int) -> int:
    place = np.flatnonzero(known.confidential.rows == record - 1)
    if not len(place):
        raise SettingError(
            "This is not the number of a disclosed record.",
            where="record",
            do="Give a row of the data, counted from 1.",
        )
    return int(known.problems.kind[place[0]])


def _goal(ready: PreparedDisclosure, landscape: RecordLandscape) -> _Goal:
    """Return the goal, with the threshold that it has for this record."""
    disclose = ready.disclose
    if isinstance(disclose, AggregateDisclose):
        return {
            "kind": "aggregate",
            "lambda": float(disclose.risk_weight),
            "kappa": float(disclose.power),
        }
    if isinstance(disclose, ApproxDisclose) and not disclose.dual:
        return {"kind": "most-utility", "at-most": float(disclose.risk.at_most or 0), "about": True}
    objective: Objective
    if isinstance(disclose, ApproxDisclose) and disclose.utility.at_least is not None:
        required = disclose.utility.at_least
        objective = MinimiseRisk(at_least=float(required.value), of_most=required.of_most)
    elif isinstance(disclose, ThresholdDisclose):
        objective = objective_of(disclose)
    else:
        return {"kind": "other"}
    if isinstance(objective, Balance):
        return {"kind": "balance", "rate": objective.rate}
    if isinstance(objective, MaximiseUtility):
        return {"kind": "most-utility", "at-most": objective.at_most, "about": False}
    most = landscape.utility(landscape.lattice.bottom)
    least = objective.at_least * most if objective.of_most else objective.at_least
    if objective.of_most:
        return {"kind": "least-risk", "at-least": least, "of-most": objective.at_least}
    return {"kind": "least-risk", "at-least": least}


def _reaches(goal: _Goal, risk: Floats | float, utility: Floats | float) -> NDArray[np.bool_]:
    """Return which generalisations satisfy the constraint."""
    if goal["kind"] == "least-risk":
        least = goal["at-least"] - _SLACK * max(1.0, abs(goal["at-least"]))
        return np.asarray(utility) >= least
    if goal["kind"] == "most-utility":
        return np.asarray(risk) <= goal["at-most"] * (1 + _SLACK)
    return np.ones_like(np.asarray(risk), dtype=np.bool_)


def _form(landscape: RecordLandscape, node: Node) -> dict[str, Any]:
    parts = landscape.severity_parts
    return {
        "levels": list(node),
        "risk": landscape.risk(node),
        "utility": landscape.utility(node),
        "matches": landscape.counter.count(node),
        "severity": 1.0 if parts is None else total(parts, node),
    }


def _attributes(
    known: ReadyToExplain, job: int, landscape: RecordLandscape, chosen: Node | None
) -> list[dict[str, Any]]:
    found = []
    codes = known.codes(job)
    for at, (attribute, chain, code) in enumerate(
        zip(known.ready.schema.attributes, known.ready.chains, codes, strict=True)
    ):
        weights = None if landscape.severity_parts is None else landscape.severity_parts[at]
        levels = [
            {
                "label": _label(attribute.domain, chain, code, level),
                "values": int(chain.n_leaves[code, level]),
                "utility": float(landscape.utility_parts[at][level]),
                "weight": None if weights is None else float(weights[level]),
            }
            for level in range(landscape.lattice.heights[at] + 1)
        ]
        shown = None if chosen is None else int(chosen[at])
        found.append({"name": attribute.name, "levels": levels, "chosen": shown})
    return found


def _label(domain: Domain, chain: Chains, code: int, level: int) -> str:
    node = int(chain.nodes[code, level])
    return domain.label(int(chain.taxonomy.first[node]), int(chain.taxonomy.stop[node]))


def _neighbours(
    known: ReadyToExplain, landscape: RecordLandscape, chosen: Node | None, goal: _Goal
) -> list[dict[str, Any]]:
    """Return the generalisations one step from the chosen one, and whether each is acceptable."""
    if chosen is None:
        return []
    lattice = landscape.lattice
    steps = [("finer", node) for node in lattice.below(chosen)]
    steps += [("coarser", node) for node in lattice.above(chosen)]
    found = []
    for step, node in steps:
        form = _form(landscape, node)
        at = next(i for i, level in enumerate(node) if level != chosen[i])
        found.append(
            {
                "step": step,
                "attribute": known.ready.schema.attributes[at].name,
                "reaches": bool(_reaches(goal, form["risk"], form["utility"])),
                **form,
            }
        )
    return found


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Forms:
    """Generalisations of a record: one row of levels each, with risk and utility."""

    levels: Ints
    risk: Floats
    utility: Floats
    complete: bool

    @classmethod
    def all(cls, landscape: RecordLandscape) -> _Forms:
        return cls(
            levels=landscape.lattice.every_node().astype(np.int64),
            risk=landscape.risks().reshape(-1),
            utility=landscape.utilities().reshape(-1),
            complete=True,
        )

    @classmethod
    def few(cls, landscape: RecordLandscape, chosen: Node | None) -> _Forms:
        """Return a path from the record over the chosen one to the fully generalised one."""
        lattice = landscape.lattice
        nodes = _way(lattice.bottom, chosen or lattice.bottom)
        nodes += _way(chosen or lattice.bottom, lattice.top)
        distinct = list(dict.fromkeys(nodes))
        return cls(
            levels=np.array(distinct, dtype=np.int64),
            risk=np.array([landscape.risk(node) for node in distinct]),
            utility=np.array([landscape.utility(node) for node in distinct]),
            complete=False,
        )

    def reaching(self, goal: _Goal) -> int | None:
        """Return the number of acceptable ones, or ``None`` if not all were examined."""
        if not self.complete or goal["kind"] not in ("least-risk", "most-utility"):
            return None
        return int(np.count_nonzero(_reaches(goal, self.risk, self.utility)))

    def best(self, goal: _Goal, chosen: Node | None) -> list[dict[str, Any]]:
        """Return the best alternatives to the chosen one, by the goal."""
        if not self.complete or goal["kind"] not in ("least-risk", "most-utility", "balance"):
            return []
        good = np.flatnonzero(_reaches(goal, self.risk, self.utility))
        value = self.risk[good] if goal["kind"] == "least-risk" else -self.utility[good]
        other = -self.utility[good] if goal["kind"] == "least-risk" else self.risk[good]
        if goal["kind"] == "balance":
            value = self.risk[good] - goal["rate"] * self.utility[good]
        order = good[np.lexsort((other, value))]
        best = [self._facts(int(at)) for at in order[:9]]
        return [facts for facts in best if tuple(facts["levels"]) != chosen][:8]

    def points(self, chosen: Node | None) -> list[dict[str, Any]]:
        """Return the points to draw: all, or every k-th and those that matter."""
        n = len(self.risk)
        some = np.arange(n)
        if n > MOST_FORMS:
            some = np.linspace(0, n - 1, MOST_FORMS).round().astype(np.int64)
        if chosen is not None:
            own = np.flatnonzero((self.levels == np.array(chosen)).all(axis=1))
            some = np.union1d(some, own)
        return [self._facts(int(at)) for at in some]

    def frontier(self) -> list[list[float]]:
        """Return the lowest risk at every utility, from the highest utility down."""
        from hedgerow.disclosure.plane import Frontier

        if not self.complete:
            return []
        steps = Frontier(self.risk, self.utility)
        return [[float(u), float(r)] for u, r in zip(steps.utility, steps.risk, strict=True)]

    def _facts(self, at: int) -> dict[str, Any]:
        return {
            "levels": self.levels[at].tolist(),
            "risk": float(self.risk[at]),
            "utility": float(self.utility[at]),
        }


def _way(start: Node, stop: Node) -> list[Node]:
    """Return nodes on a path up from one to another, attribute after attribute."""
    way, here = [start], list(start)
    for at, level in enumerate(stop):
        while here[at] < level:
            here[at] += 1
            way.append(tuple(here))
    return way


def lattice_size(known: ReadyToExplain, job: int) -> int:
    """Return the number of generalisations of a distinct record."""
    return Lattice.of(known.codes(job), known.ready.chains).n_nodes
