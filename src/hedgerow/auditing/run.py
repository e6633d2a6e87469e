"""The audit itself: search for the worst event on some runs, test it on others.

Every pair of a subject is screened with a few runs. The pairs that look worst are run
again, many more times, and only these new runs count: the events to be tested are fixed
by then, and their number is part of the bounds (Bonferroni).
"""

from __future__ import annotations

import math
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context

from hedgerow.auditing.bounds import MISTAKE, certified
from hedgerow.auditing.cases import PairsOf, Unclaimed, method_subject, subjects
from hedgerow.auditing.events import Suspect, chosen_events, learnt_events
from hedgerow.auditing.neighbours import baskets_over, pairs_over
from hedgerow.auditing.people_cases import people_subjects, planned_people
from hedgerow.auditing.report import AuditReport, Finding, Verdict
from hedgerow.auditing.sequences import sequences_over
from hedgerow.auditing.subject import Claim, RunColumns, Subject, joined, n_runs
from hedgerow.errors import SettingError
from hedgerow.pipeline.kinds.items import BasketKind, SequenceKind
from hedgerow.pipeline.prepare import PlanLike, prepare
from hedgerow.plan.settings import PrivateSettings
from hedgerow.privacy.budget import EpsilonLike, parse_epsilon
from hedgerow.progress import Progress, no_progress

RUNS = 1200
SCREENED = 5
"""One in this number of the runs that test an event is spent on each pair to find it."""

LEAST_RUNS = 50
MOST_RUNS = 10_000_000
FINALISTS = 2
"""Number of pairs that are run again, in addition to the cheapest."""

EVENTS = 4
"""Number of learnt events of each such pair that are tested, in addition to the fixed ones."""

_CHUNK = 250

Map = Callable[..., Iterable[RunColumns]]


@dataclass(frozen=True, kw_only=True)
class _Order:
    """An order for a number of runs of a subject on one table of a pair."""

    subject: Subject
    pair: str
    has_record: bool
    runs: int
    seed: int

    def filled(self) -> RunColumns:
        return self.subject.sample(
            self.pair, has_record=self.has_record, runs=self.runs, seed=self.seed
        )


def _filled(order: _Order) -> RunColumns:
    return order.filled()


@dataclass(kw_only=True)
class _Lab:
    """Runs subjects, on one core or on several, each part with a seed of its own."""

    run: Map
    seed: int
    _parts: int = 0

    def samples(
        self, subject: Subject, wanted: Sequence[tuple[str, int]]
    ) -> Iterator[tuple[RunColumns, RunColumns]]:
        """Yield features of runs with the record and without, for each pair and its runs.

        All runs are ordered at once, so that no process waits while results are examined.
        """
        orders = [list(self._orders(subject, pair, runs)) for pair, runs in wanted]
        filled = iter(self.run(_filled, [order for each in orders for order in each]))
        for each in orders:
            parts = list(islice(filled, len(each)))
            yield joined(parts[: len(each) // 2]), joined(parts[len(each) // 2 :])

    def _orders(self, subject: Subject, pair: str, runs: int) -> Iterator[_Order]:
        chunk = _CHUNK * subject.times(pair)
        for has_record in (True, False):
            for done in range(0, runs, chunk):
                yield _Order(
                    subject=subject,
                    pair=pair,
                    has_record=has_record,
                    runs=min(chunk, runs - done),
                    seed=self._next_seed(),
                )

    def _next_seed(self) -> int:
        self._parts += 1
        return (self.seed << 32) + self._parts


@contextmanager
def _lab(jobs: int, seed: int | None) -> Iterator[_Lab]:
    start = secrets.randbits(62) if seed is None else seed
    if jobs == 1:
        yield _Lab(run=map, seed=start)
        return
    with (
        _without_main(),
        ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")) as pool,
    ):
        yield _Lab(run=pool.map, seed=start)


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep new processes from running the caller's script again, which they do not need."""
    main = sys.modules["__main__"]
    kept: dict[str, object] = {
        name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)
    }
    for name in kept:
        delattr(main, name)
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(kept)


def audit(
    methods: Sequence[str] = (),
    *,
    people: bool = False,
    plan: PlanLike | None = None,
    epsilon: EpsilonLike | None = None,
    runs: int = RUNS,
    pairs: Sequence[str] = (),
    seed: int | None = None,
    jobs: int = 1,
    progress: Progress = no_progress,
) -> AuditReport:
    """Try to refute the guarantee of methods by running them on worst-case tables.

    Parameters
    ----------
    methods : sequence of str, optional
        Methods to audit, each in all its variants. By default all.
    people : bool, default=False
        Use tables that differ in all records of one person, in every way in which methods
        protect people.
    plan : Plan, mapping or path, optional
        Audit the settings of this plan instead, on simulated neighbours over its public domains.
        It need not be confirmed, and its data are not read.
    epsilon : int, float, str or Fraction, optional
        Privacy budget to run with. By default 1, or the plan's.
    runs : int, default=1200
        Number of runs on each table of the worst pairs.
    pairs : sequence of str, optional
        Pairs of neighbours to use, such as ``"T1"``. By default all.
    seed : int, optional
        Make the audit reproducible.
    jobs : int, default=1
        Number of processes.
    progress : callable, optional
        Called with the name of a step and the fraction of it that is done.

    Returns
    -------
    AuditReport
        For each method the largest epsilon that the runs prove, beside the claimed one;
        ``refuted`` is true if one exceeds its claim.

    Raises
    ------
    SettingError
        If a method or a pair is unknown, or a setting is out of range.

    Notes
    -----
    Privacy: no confidential record is read; all tables are simulated. An audit can refute a
    guarantee and cannot prove one.

    Examples
    --------
    >>> audit(["noise"], runs=500, seed=1).refuted
    False

    """
    if plan is not None and methods:
        raise SettingError(
            "Methods and a plan exclude each other.", where="audit", do="Give one of them."
        )
    if plan is not None and people:
        raise SettingError(
            "People and a plan exclude each other.",
            where="audit",
            do="Give only the plan: its own line 'person' says who is protected.",
        )
    _check(runs, jobs)
    made_with = 1 if seed is None else seed
    listed: list[Subject | Unclaimed]
    if plan is None:
        claimed = parse_epsilon(1 if epsilon is None else epsilon)
        which = people_subjects if people else subjects
        listed = list(which(methods, epsilon=claimed, seed=made_with))
    else:
        listed = [_planned(plan, epsilon, seed=made_with)]
    return _audited(listed, runs=runs, pairs=pairs, seed=seed, jobs=jobs, progress=progress)


def _planned(plan: PlanLike, epsilon: EpsilonLike | None, *, seed: int) -> Subject | Unclaimed:
    """Return a plan's method with its settings, on pairs over its public domains."""
    ready = prepare(plan, epsilon=epsilon)
    settings = ready.settings
    if not isinstance(settings, PrivateSettings):
        return Unclaimed(name=settings.method)
    name = f"{settings.method}, as the plan has it"
    if ready.people is not None:
        return planned_people(ready, ready.people, name=name, seed=seed)
    # The claim of `sample` is only about tables with enough records.
    least = getattr(settings, "least_records", 0)
    if isinstance(ready.kind, SequenceKind):
        sequences = sequences_over(ready.taxonomy, epsilon=settings.epsilon, seed=seed)
        over = PairsOf(sequences=sequences)
    elif isinstance(ready.kind, BasketKind):
        over = PairsOf(baskets=baskets_over(ready.taxonomy, seed=seed))
    else:
        over = PairsOf(tables=pairs_over(ready.schema, seed=seed, least=least))
    return method_subject(settings, name=name, seed=seed, over=over)


def audit_subject(
    subject: Subject,
    *,
    runs: int = RUNS,
    pairs: Sequence[str] = (),
    seed: int | None = None,
) -> Verdict:
    """Return the result of an audit of anything with a claim, in this process."""
    _check(runs, 1)
    with _lab(1, seed) as lab:
        return _verdict(subject, lab, runs=runs, pairs=pairs, report=lambda _: None)


def _check(runs: int, jobs: int) -> None:
    if not LEAST_RUNS <= runs <= MOST_RUNS:
        raise SettingError.out_of_range("runs", runs, f"{LEAST_RUNS} to {MOST_RUNS:,}")
    if not 1 <= jobs <= 4 * (os.cpu_count() or 1):
        raise SettingError.out_of_range("jobs", jobs, "1 to four times the number of cores")


def _audited(
    listed: Sequence[Subject | Unclaimed],
    *,
    runs: int,
    pairs: Sequence[str],
    seed: int | None,
    jobs: int,
    progress: Progress,
) -> AuditReport:
    verdicts = []
    with _lab(jobs, seed) as lab:
        for place, subject in enumerate(listed):
            if isinstance(subject, Unclaimed):
                verdicts.append(Verdict.without_claim(subject.name))
                continue

            def report(done: float, place: int = place, name: str = subject.name) -> None:
                progress(name, (place + done) / len(listed))

            report(0.0)
            verdicts.append(_verdict(subject, lab, runs=runs, pairs=pairs, report=report))
    progress("done", 1.0)
    return AuditReport(verdicts=tuple(verdicts), mistake=MISTAKE)


@dataclass(frozen=True, kw_only=True)
class _Screened:
    """A pair, and its worst events in the screening."""

    pair: str
    suspects: list[Suspect]

    @property
    def promise(self) -> float:
        return max((suspect.promise for suspect in self.suspects), default=-math.inf)


def _verdict(
    subject: Subject,
    lab: _Lab,
    *,
    runs: int,
    pairs: Sequence[str],
    report: Callable[[float], None],
) -> Verdict:
    """Screen all pairs of a subject, then test the worst events of the worst pairs."""
    few = max(runs // SCREENED, LEAST_RUNS)
    names = _chosen(subject, pairs)
    steps = len(names) + SCREENED * min(FINALISTS + 1, len(names))
    screened: list[_Screened] = []
    first = lab.samples(subject, [(name, few * subject.times(name)) for name in names])
    for pair, sampled in zip(names, first, strict=True):
        suspects = [*chosen_events(*sampled), *learnt_events(*sampled, most=EVENTS)]
        screened.append(_Screened(pair=pair, suspects=suspects))
        report(len(screened) / steps)
    finalists = _finalists(subject, screened)
    n_events = sum(len(each.suspects) for each in finalists)
    fresh = lab.samples(
        subject, [(each.pair, runs * subject.times(each.pair)) for each in finalists]
    )
    findings: list[Finding] = []
    for place, (each, sampled) in enumerate(zip(finalists, fresh, strict=True)):
        findings += _tested(each, sampled, subject.claim, n_events=n_events)
        report((len(names) + SCREENED * (place + 1)) / steps)
    return Verdict(
        name=subject.name,
        claim=subject.claim,
        findings=tuple(sorted(findings, key=lambda found: -found.certified)),
        runs=2 * few * sum(subject.times(name) for name in names)
        + 2 * runs * sum(subject.times(each.pair) for each in finalists),
    )


def _finalists(subject: Subject, screened: Sequence[_Screened]) -> list[_Screened]:
    """Return the pairs to run again: those that look worst, and always the cheapest.

    A cheap pair is run more often than others, so its runs prove more.
    """
    ranked = sorted(screened, key=lambda each: -each.promise)
    cheapest = max(ranked, key=lambda each: subject.times(each.pair))
    worst = ranked[:FINALISTS]
    return worst if cheapest in worst else [*worst, cheapest]


def _chosen(subject: Subject, pairs: Sequence[str]) -> list[str]:
    """Return the requested pairs of the subject, or all."""
    names = [name for name in subject.pairs if not pairs or name in pairs]
    if not names:
        raise SettingError(
            f"{subject.name} does not have the pairs {', '.join(pairs)}.",
            where="pairs",
            do=f"Give some of: {', '.join(subject.pairs)}.",
        )
    return names


def _tested(
    screened: _Screened, samples: tuple[RunColumns, RunColumns], claim: Claim, *, n_events: int
) -> list[Finding]:
    """Count each event of a pair on new runs; the bounds of all events hold simultaneously."""
    runs = n_runs(samples[0])
    findings = []
    for suspect in screened.suspects:
        with_record, without = (int(suspect.event.holds(each).sum()) for each in samples)
        more, less = (with_record, without) if suspect.on_record else (without, with_record)
        epsilon = certified(more, less, runs, delta=float(claim.delta), mistake=MISTAKE / n_events)
        findings.append(
            Finding(
                pair=screened.pair,
                event=str(suspect.event),
                with_record=with_record,
                without=without,
                runs=runs,
                certified=max(epsilon, 0.0),
            )
        )
    return findings
