"""publish(plan): the only module that knows the whole chain.

The order is what keeps promises: everything that can be refused is refused first, the
confidential table is read and encoded, the persistent ledger is booked, and only then
is noise drawn. A run that fails after the booking stays booked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hedgerow.count.settings import EngineSettings
from hedgerow.errors import ChangedPlanError, SettingError, UnconfirmedPlanError
from hedgerow.pipeline.account import Account, dataset_name
from hedgerow.pipeline.prepare import (
    AnyPrepared,
    AnyRelease,
    DataPlace,
    PlanLike,
    PreparedPlain,
    PreparedPrivate,
    Run,
    fingerprint,
    prepare,
)
from hedgerow.plan.load import plan_digest
from hedgerow.privacy.budget import EpsilonLike, PathLedger
from hedgerow.privacy.ledger import Entry
from hedgerow.privacy.source import RandomSource, SeededSource, SystemSource
from hedgerow.progress import Progress, no_progress
from hedgerow.release.certify import RunFacts
from hedgerow.release.write import CERTIFICATE, check_destination

LEAST_EXPECTED = 16
"""So many letters of a fingerprint tell it from all others."""


def publish(
    plan: PlanLike,
    *,
    data: Any = None,
    out: str | os.PathLike[str] | None = None,
    records: bool = False,
    parquet: bool = False,
    force: bool = False,
    engine: Literal["memory", "stream", "spark"] = "memory",
    memory: str | int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    master: str | None = None,
    session: Any = None,
    seed: int | None = None,
    expect: str | None = None,
    progress: Progress = no_progress,
    method: str | None = None,
    epsilon: EpsilonLike | None = None,
    faithful: bool | None = None,
    **settings: Any,
) -> AnyRelease:
    """Return a release, and write it where ``out`` says.

    What the plan describes decides what comes back: a `Release` of a table with
    ``attributes``, a `BasketRelease` of set-valued data with ``items``.

    ``data`` is a file, a database URL or any dataframe, and replaces the plan's own.
    ``method``, ``epsilon``, ``faithful`` and further ``settings`` (such as ``h``) replace
    those of the plan. A ``seed`` makes the run reproducible and *not private*: its
    certificate says so and the ledger does not book it.

    ``engine`` says what counts the records: ``memory``, ``stream`` for data larger than
    memory (within ``memory``, such as ``"2GB"``, with codes in a private folder under
    ``scratch``), or ``spark`` (on ``master``, or an existing ``session``). The same seed
    gives the same release on each.

    ``expect`` is the fingerprint that `hedgerow check` showed, or at least its first sixteen
    letters: a plan or a taxonomy that has changed since is refused.

    Privacy: the release costs the plan's epsilon under adding or removing one record,
    booked on the data set's ledger before any noise is drawn. Methods without epsilon, such
    as those of k-anonymity, give no such guarantee: their certificate says so, and there is
    nothing to book.
    """
    counting = EngineSettings.of(
        engine, memory=memory, scratch=scratch, master=master, session=session
    )
    ready = prepare(plan, method=method, epsilon=epsilon, faithful=faithful, **settings)
    _check_unchanged(ready, expect)
    if not ready.plan.confirmed:
        raise UnconfirmedPlanError(
            "nobody has confirmed that the domains in this plan are public knowledge",
            where="confirmed",
            do="Read every domain, replace what was taken from the data, then set"
            " 'confirmed: true'.",
        )
    source: RandomSource = SystemSource() if seed is None else SeededSource(seed)
    if out is not None:
        check_destination(out, force=force)
    task = _Task(
        data=data,
        source=source,
        progress=progress,
        counting=counting,
        out=out,
        writing={"records": records, "parquet": parquet, "force": force},
    )
    return task.plain(ready) if isinstance(ready, PreparedPlain) else task.private(ready)


def _check_unchanged(ready: AnyPrepared, expect: str | None) -> None:
    if expect is None:
        return
    if len(expect) < LEAST_EXPECTED:
        raise SettingError(
            f"has fewer than {LEAST_EXPECTED} letters",
            where="expect",
            do="Give the fingerprint that 'hedgerow check' shows.",
        )
    if not fingerprint(ready).startswith(expect.lower()):
        raise ChangedPlanError(
            "this is not the plan that was checked: it, a taxonomy of it or an option has changed",
            where="expect",
            do="Run 'hedgerow check' again with the same options, and publish what it shows if"
            " those who answer for the data agree.",
        )


@dataclass(frozen=True, kw_only=True)
class _Task:
    """One release to make: what was asked for, and where it goes."""

    data: Any
    source: RandomSource
    progress: Progress
    counting: EngineSettings
    out: str | os.PathLike[str] | None
    writing: dict[str, bool]

    def private(self, ready: PreparedPrivate) -> AnyRelease:
        """Return the release of a method whose epsilon the ledger books."""
        books = not self.source.reproducible
        account = Account.of(ready.plan, ready.epsilon, self.data)
        if books:
            account.check_room(ready.epsilon, ready.delta)
        with self._engine(ready) as engine:
            booking = _book(ready, account) if books else None
            return self._booked(ready, engine, account, booking)

    def _booked(
        self, ready: PreparedPrivate, engine: Any, account: Account, booking: Entry | None
    ) -> AnyRelease:
        facts = RunFacts(
            epsilon=ready.epsilon,
            dataset=account.dataset,
            engine=engine.name,
            reproducible=self.source.reproducible,
            ledger=account.line(booking),
            delta=ready.delta,
            caveat=ready.caveat,
        )
        try:
            path = PathLedger(ready.epsilon)
            release = ready.run(engine, path=path, source=self.source, run=self._run(facts))
            self._write(release)
        except BaseException as error:
            account.failed(booking, error)
            raise
        account.released(booking, _digest(release, self.out))
        return release

    def plain(self, ready: PreparedPlain) -> AnyRelease:
        """Return the release of a method without a guarantee; there is nothing to book."""
        with self._engine(ready) as engine:
            facts = RunFacts(
                epsilon=None,
                dataset=dataset_name(ready.plan, self.data),
                engine=engine.name,
                reproducible=self.source.reproducible,
                ledger=None,
            )
            release = ready.run(engine, source=self.source, run=self._run(facts))
            self._write(release)
            return release

    @contextmanager
    def _engine(self, ready: AnyPrepared) -> Iterator[Any]:
        """Yield an engine that holds the data, and close it however the run ends."""
        place = DataPlace.of(ready.plan, self.data)
        engine = ready.read(place, self.counting, self.progress)
        with closing(engine):
            yield engine

    def _run(self, facts: RunFacts) -> Run:
        return Run(facts=facts, progress=self.progress)

    def _write(self, release: AnyRelease) -> None:
        if self.out is not None:
            self.progress("writing", None)
            release.write(self.out, source=self.source, **self.writing)


def _book(ready: PreparedPrivate, account: Account) -> Entry:
    """Book the release before its noise is drawn."""
    return account.book(
        ready.epsilon,
        method=ready.method.name,
        plan_digest=plan_digest(ready.plan),
        delta=ready.delta,
    )


def _digest(release: AnyRelease, out: str | os.PathLike[str] | None) -> str:
    """Return what names the release on the ledger: the digest of its certificate."""
    if out is None:
        return hashlib.sha256(release.certificate.to_json().encode()).hexdigest()
    return hashlib.sha256((Path(out) / CERTIFICATE).read_bytes()).hexdigest()
