"""publish(plan): the only module that knows the whole chain.

The order protects the budget: everything that can be refused is refused first, the
confidential table is read and encoded, the whole chain is rehearsed on simulated records, the
persistent ledger is booked, and only then is noise drawn. A run that fails after the booking
stays booked; once its release is in place it has not failed, whatever happens then.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.count.settings import EngineSettings
from hedgerow.errors import ChangedPlanError, PublishNotice, SettingError
from hedgerow.ledger.ledger import Entry
from hedgerow.model.certificate import LedgerEntry
from hedgerow.model.compiler import SLOW, SLOW_FROM, has_compiler
from hedgerow.model.database import asked_of
from hedgerow.model.people import SampleKey
from hedgerow.pipeline.account import ReleaseAccount, unbooked_name
from hedgerow.pipeline.kinds.kind import AnyRelease, Held
from hedgerow.pipeline.noise import UNJUDGED, refuse_noise
from hedgerow.pipeline.output import Output, output_of
from hedgerow.pipeline.prepare import (
    PlanLike,
    Prepared,
    prepare,
)
from hedgerow.pipeline.rehearse import rehearse
from hedgerow.pipeline.retry import (
    RequestedRun,
    check_nothing_waits,
    release_in_place,
    say_where_booked,
)
from hedgerow.pipeline.signed import check_signed, given_beside
from hedgerow.pipeline.unit import check_unit
from hedgerow.plan.load import plan_digest
from hedgerow.privacy.budget import EpsilonLike
from hedgerow.privacy.source import RandomSource, SeededSource, SystemSource
from hedgerow.progress import Progress, no_progress
from hedgerow.release.certify import RunFacts, certify, spent_by
from hedgerow.release.domains import LEAST_EXPECTED
from hedgerow.release.folder import Written
from hedgerow.release.records import FROM_BOXES
from hedgerow.release.release import Release
from hedgerow.release.sign import sign_in_place
from hedgerow.release.signing_keys import read_signer
from hedgerow.release.write import check_destination

if TYPE_CHECKING:
    from hedgerow.encode.sums import ColumnSums
    from hedgerow.methods.diffmulti.own_utility import OwnUtility

Notice = Callable[[str], None]
"""Receives a notice for the publisher, as a sentence."""


def warn_of(sentence: str) -> None:
    """Issue a `PublishNotice`, as Python warns."""
    warnings.warn(sentence, PublishNotice, stacklevel=2)


def publish(
    plan: PlanLike,
    *,
    data: object = None,
    query: str | None = None,
    table: str | None = None,
    out: str | os.PathLike[str] | Output | None = None,
    engine: str | EngineSettings = "memory",
    seed: int | None = None,
    expect: str | None = None,
    even_if_noise: bool = False,
    progress: Progress = no_progress,
    notice: Notice = warn_of,
    method: str | None = None,
    epsilon: EpsilonLike | None = None,
    utility: OwnUtility | None = None,
    **settings: object,
) -> AnyRelease:
    """Publish data under a plan, and return the release.

    Parameters
    ----------
    plan : Plan, mapping or path
        The plan, a mapping with the keys of a plan file, or the file.
    data : path, URL or dataframe, optional
        Confidential data to read in place of those that the plan names.
    query, table : str, optional
        With a database URL in ``data``: the query to run, or the table to read.
    out : path or Output, optional
        Folder to write the release to, or an `Output` that also says which files, whether to
        replace an earlier release, and with which key to sign. Without it nothing is written.
    engine : str or EngineSettings, default="memory"
        What counts the records: ``"memory"``, ``"stream"`` or ``"stream:2GB"`` for data larger
        than memory, ``"spark"`` or ``"spark:local[4]"``, or an `EngineSettings`.
    seed : int, optional
        Make the run reproducible and **not private**. It is not booked, and its certificate
        says so.
    expect : str, optional
        Fingerprint of the plan that `check` reported, or at least its first 16 characters.
    even_if_noise : bool, default=False
        Publish although, by the plan's number of records, the release would be mostly noise.
    progress : callable, optional
        Called with the name of a step and the fraction of it that is done, or ``None``. Its
        errors do not end a run that is booked.
    notice : callable, optional
        Called with each sentence that the publisher should read. By default it is a warning.
    method : str, optional
        Method to use in place of the plan's.
    epsilon : int, float, str or Fraction, optional
        Budget to use in place of the plan's.
    utility : OwnUtility, optional
        Function by which `diffmulti` compares specialisations.
    **settings
        Further settings of the method, such as ``h`` or ``faithful``, in place of the plan's.

    Returns
    -------
    Release, BasketRelease or SequenceRelease
        The release of a table, of baskets (``items`` in the plan) or of sequences (ordered
        items).

    Raises
    ------
    PlanError, SettingError
        If the plan or a setting has a mistake, or a private plan states no privacy unit.
    UnconfirmedPlanError, VoidSignatureError, ChangedPlanError
        If the plan is not confirmed, or has changed since it was signed or checked.
    MostlyNoiseError
        If the release would be mostly noise. Nothing has been read or spent.
    LedgerError
        If the budget of the data set does not suffice.
    ReleaseError
        If the folder cannot be written.

    Notes
    -----
    Privacy: the release costs the plan's epsilon for the privacy unit that the plan states: a
    person with all their records, or one record. It is booked on the data set's ledger before
    any noise is drawn, and stays booked if the run fails after that. Methods without epsilon,
    such as those of k-anonymity, give no such guarantee, and nothing is booked.

    With ``covers`` in the plan, records outside the named values of a public column are left
    out, one by one, before anything is counted.

    .. deprecated:: 0.2
       ``memory``, ``scratch``, ``master`` and ``session``: give ``engine`` an `EngineSettings`.
       ``records``, ``parquet``, ``force``, ``again`` and ``sign``: give ``out`` an `Output`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...         "protects": "records", "confirmed": True,
    ...         "publish": {"method": "hedge", "epsilon": 1}}
    >>> visits = pa.table({"age": [20, 70] * 500, "ward": ["A", "B"] * 500})
    >>> release = publish(plan, data=visits, seed=1)  # a seed is for examples only
    >>> release.to_arrow().column_names[-1]
    'count'

    """
    data = asked_of(data, query=query, table=table)
    output = output_of(out, settings)
    writing = _writing(output)
    again = output is not None and output.again
    counting = _engine_settings(engine, settings)
    ready = prepare(plan, utility=utility, method=method, epsilon=epsilon, **settings)
    _check_unchanged(ready, expect)
    if ready.private:
        check_unit(ready.plan)
    check_signed(ready.plan, ready.domain, given_beside(ready.plan, data, utility=utility))
    task = _Task(
        ready=ready,
        data=data,
        source=SystemSource() if seed is None else SeededSource(seed),
        progress=progress,
        notice=notice,
        out=None if output is None else output.path,
        writing=writing,
    )
    if not again and utility is None:  # functions cannot be compared
        earlier = task.answered(counting)
        if earlier is not None:
            return earlier
    if output is not None:
        check_destination(output.path, force=writing["force"])
    if not even_if_noise:
        refuse_noise(ready)
    account = task.account()
    if account is not None and ready.plan.records is None and not even_if_noise:
        notice(UNJUDGED)
    if (ready.plan.records or 0) >= SLOW_FROM and not has_compiler():
        notice(SLOW)
    sums = None if account is None else account.sums()
    key = _sample_key(seed) if ready.people is not None else None
    with ready.opened(data, counting, progress, sums=sums, key=key) as holding:
        release = task.release(holding, account, sums)
    if writing["records"] and isinstance(release, Release) and not release.groups.are_points:
        notice(FROM_BOXES)
    return release


_ENGINE_KEYWORDS = ("memory", "scratch", "master", "session")


def _engine_settings(engine: str | EngineSettings, settings: dict[str, Any]) -> EngineSettings:
    """Return the engine, taking deprecated keywords of it out of ``settings``."""
    old = {name: settings.pop(name) for name in _ENGINE_KEYWORDS if name in settings}
    old = {name: value for name, value in old.items() if value is not None}
    if old:
        warnings.warn(
            f"Deprecated keywords of publish: {', '.join(old)}."
            " Give engine=hedgerow.EngineSettings.of(...).",
            DeprecationWarning,
            stacklevel=3,
        )
    if not isinstance(engine, EngineSettings):
        return EngineSettings.of(engine, **old)
    if old:
        raise SettingError(
            "The engine has its settings already.",
            where=next(iter(old)),
            do="Give it to EngineSettings.",
        )
    return engine


def _writing(output: Output | None) -> dict[str, Any]:
    """Return the settings of `write`; a key that cannot be used is refused before reading."""
    if output is None:
        return {"records": False, "parquet": False, "force": False, "signer": None}
    key = output.signing_key
    return {
        "records": output.records,
        "parquet": output.parquet,
        "force": output.force or output.again,
        "signer": None if key is None else read_signer(key),
    }


def _sample_key(seed: int | None) -> SampleKey:
    """Return a key for the samples of people's records; it takes nothing from other draws."""
    source = SystemSource() if seed is None else SeededSource.of_stream(seed, "people")
    first, second = source.words(2).tolist()
    return SampleKey(words=(first, second))


def _check_unchanged(ready: Prepared, expect: str | None) -> None:
    if expect is None:
        return
    if len(expect) < LEAST_EXPECTED:
        raise SettingError(
            f"The fingerprint has fewer than {LEAST_EXPECTED} letters.",
            where="expect",
            do="Give the fingerprint that 'hedgerow check' shows.",
        )
    if not ready.fingerprint().startswith(expect.lower()):
        raise ChangedPlanError(
            "This is not the plan that was checked: it, a taxonomy of it or an option has changed.",
            where="expect",
            do="Run 'hedgerow check' again with the same options, and publish what it shows if"
            " those who answer for the data agree.",
        )


@dataclass(frozen=True, kw_only=True)
class _Task:
    """One release to publish: its settings and its folder."""

    ready: Prepared
    data: object
    source: RandomSource
    progress: Progress
    notice: Notice
    out: Path | None
    writing: dict[str, Any]

    def answered(self, counting: EngineSettings) -> AnyRelease | None:
        """Return the release that is in place already, if this run was made before.

        One that is complete but not in its place must be recovered first.
        """
        if self.out is None or not self.ready.private or self.source.reproducible:
            return None
        requested = RequestedRun(
            ready=self.ready,
            data=self.data,
            out=self.out,
            engine=counting.kind,
            records=self.writing["records"],
            parquet=self.writing["parquet"],
        )
        earlier = release_in_place(requested)
        if earlier is None:
            check_nothing_waits(requested)
            return None
        if self.writing["signer"] is not None:
            sign_in_place(self.out, self.writing["signer"])
        self.notice(
            "This release was made before and is in its place. Nothing was read or spent."
            " For another one, which is booked and replaces it, say --again."
        )
        return earlier

    def account(self) -> ReleaseAccount | None:
        """Return the account that books the release, with room for it; seeded runs have none."""
        ready = self.ready
        if not ready.private or self.source.reproducible:
            return None
        cover = ready.kind.booked_cover(ready.plan, self.data)
        account = ReleaseAccount.of(ready.plan, ready.epsilon, self.data, cover=cover)
        account.check_room(ready.epsilon, ready.delta)
        return account

    def release(
        self, engine: Held, account: ReleaseAccount | None, sums: ColumnSums | None
    ) -> AnyRelease:
        """Rehearse, book, run, certify and write; what fails after the booking stays booked."""
        if account is None:
            return self._run(engine, self._facts(engine))[0]
        ready = self.ready
        self._rehearse(engine, account)
        booking = account.book(
            ready.epsilon,
            method=ready.settings.method,
            plan_digest=plan_digest(ready.plan),
            delta=ready.delta,
            sums=sums,
        )
        try:
            booked = replace(self, progress=_harmless(self.progress))
            release, written = booked._run(engine, self._facts(engine, account.line(booking)))
        except BaseException as error:
            kept = getattr(error, "kept", None)
            if kept is None:
                account.failed(booking, error)
                raise
            located = say_where_booked(error, kept, account.file)
            located.add_note(f"It is entry {booking.id} of the ledger, booked until then.")
            if located is error:
                raise
            raise located from error
        self._mark(account, booking, _digest(release, written))
        return release

    def _mark(self, account: ReleaseAccount, booking: Entry, digest: str) -> None:
        """Mark the entry as released; failing to do so does not undo the release."""
        try:
            account.released(booking, digest)
        except BaseException as error:  # even an interrupt comes too late to undo anything
            reason = getattr(error, "what", None) or type(error).__name__
            self.notice(
                f"The release is complete, but its entry {booking.id} of the ledger stays"
                f" 'booked', which counts as spent, too: {reason}."
            )

    def _rehearse(self, engine: Held, account: ReleaseAccount) -> None:
        """Run the chain on simulated records, so that errors occur before anything is booked."""
        self.progress("rehearsing", None)
        line = LedgerEntry(
            dataset=account.dataset,
            cap=account.cap,
            delta_cap=account.delta_cap,
            entry="rehearsal",
            people=account.terms.people,
        )

        def run(small: Held, ready: Prepared, source: RandomSource, out: Path | None) -> None:
            writing = {**self.writing, "force": False}
            task = replace(
                self, ready=ready, source=source, out=out, writing=writing, progress=no_progress
            )
            rehearsed, _ = task._run(small, task._facts(small, line))
            if out is None:
                rehearsed.report()

        out = self._destination()
        rehearse(self.ready, engine, out=out, run=run)
        self._destination()  # another run may have taken it meanwhile

    def _destination(self) -> Path | None:
        return (
            None if self.out is None else check_destination(self.out, force=self.writing["force"])
        )

    def _facts(self, engine: Held, line: LedgerEntry | None = None) -> RunFacts:
        ready = self.ready
        return RunFacts(
            epsilon=ready.epsilon if ready.private else None,
            dataset=unbooked_name(ready.plan, self.data),
            engine=engine.name,
            reproducible=self.source.reproducible,
            ledger=line,
            delta=ready.delta,
            caveat=ready.caveat,
            statement=ready.statement,
            covers=ready.kind.certified_cover(ready.plan, self.data),
        )

    def _run(self, engine: Held, facts: RunFacts) -> tuple[AnyRelease, Written | None]:
        ready = self.ready
        result = ready.run(engine, source=self.source, progress=self.progress)
        published = result.published
        certificate = certify(
            plan=ready.plan,
            settings=ready.settings,
            about=ready.method.about,
            domain=ready.domain,
            published=published,
            spent=spent_by(result.path, people=result.people, choosing=result.choosing),
            facts=replace(facts, people=result.people),
        )
        release = ready.kind.release(published, certificate)
        if self.out is None:
            return release, None
        self.progress("writing", None)
        return release, release.write(self.out, source=self.source, **self.writing)


def _harmless(progress: Progress) -> Progress:
    """Return a progress that cannot end a run: a closed terminal is no reason to lose it."""

    def report(step: str, share: float | None) -> None:
        with suppress(Exception):
            progress(step, share)

    return report


def _digest(release: AnyRelease, written: Written | None) -> str:
    """Return what names the release on the ledger: the digest of its certificate.

    It is that of what this run has written: the destination may hold another run's by now.
    """
    if written is not None:
        return written.certificate_sha256
    return hashlib.sha256(release.certificate.to_json().encode()).hexdigest()
