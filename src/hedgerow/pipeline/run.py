"""One run of a private method: the bound on people's records, chosen or given, then the method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.groups import Groups
from hedgerow.model.method import AnyMethod
from hedgerow.model.people import PeopleRule
from hedgerow.model.run import Run
from hedgerow.pipeline.kinds.kind import Held
from hedgerow.pipeline.people import PeopleShares, choose_bound, in_persons, rule_with
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """Published groups and budget of a run; ``path`` is spent by the method per counted unit.

    ``people`` is the rule with the bound in use, ``choosing`` the budget of its choice.
    """

    published: Groups | NoisyBaskets
    path: PathLedger | None
    people: PeopleRule | None
    choosing: PathLedger | None = None


@runtime_checkable
class _Unbounded(Protocol):
    """An engine that holds all records of every person."""

    def sizes(self, most: int) -> NDArray[np.int64]: ...

    def bounded(self, rule: PeopleRule) -> Held: ...


def run_private(
    method: AnyMethod,
    engine: Held,
    *,
    shares: PeopleShares,
    people: PeopleRule | None,
    source: RandomSource,
    progress: Progress = no_progress,
) -> RunResult:
    """Return what a method publishes of the data that the engine holds, and what it spent.

    An engine that holds the records of ``people`` has them bounded first, by the bound of the
    rule or, with ``auto``, by one that is chosen here.

    Privacy: costs ``shares.epsilon`` for one person, or one record where there are no people
    (docs/privacy.md, L3): the choice of the bound, and the method at what is left, divided by
    how many units one person moves the counts by.
    """
    rule, choosing = people, None
    if rule is not None and isinstance(engine, _Unbounded):
        if shares.auto:
            bounding = Run.start(engine, epsilon=shares.chosen, source=source)
            most = choose_bound(bounding, engine.sizes(rule.most), shares=shares)
            rule, choosing = rule_with(rule, most), bounding.ledger
        progress("bounding records per person", None)
        engine = engine.bounded(rule)
    rate = shares.method / (1 if rule is None else rule.cost)
    run = Run.start(engine, epsilon=rate, source=source, progress=progress)
    published = method.publish(run)
    if not run.settled() or (choosing is not None and not choosing.settled()):
        raise InternalError("The method did not spend exactly its epsilon.")
    if rule is not None and isinstance(published, Groups):
        published = in_persons(published, rule.unit)
    return RunResult(published=published, path=run.ledger, people=rule, choosing=choosing)
