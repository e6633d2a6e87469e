"""Disclose a table: read it, solve each distinct record once, save progress, write the result."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.disclosure.certify import DisclosureFacts, certified_recipient, certify_disclosure
from hedgerow.disclosure.confidential import Confidential, Problems, read_confidential
from hedgerow.disclosure.lattice.consistency import match_counter
from hedgerow.disclosure.lattice.lattice import Levels
from hedgerow.disclosure.lattice.packed import Found
from hedgerow.disclosure.lattice.threshold import MinimiseRisk
from hedgerow.disclosure.movement import RiskMovement, RiskNotLoweredError
from hedgerow.disclosure.prepare import PreparedDisclosure, given_to, prepare_disclosure
from hedgerow.disclosure.recipient import Recipient
from hedgerow.disclosure.result import Disclosure, OwnerView
from hedgerow.disclosure.solver_choice import BlockSolver, joined_answers, n_workers, solver_for
from hedgerow.disclosure.solvers.records import RecordSolver
from hedgerow.disclosure.unfinished import Identity, Unfinished
from hedgerow.disclosure.uniform import UniformForms, Valued
from hedgerow.disclosure.work import HOURS, TooLongError, Watch, check_hours, expected_seconds
from hedgerow.errors import InputError, ReleaseError, SettingError
from hedgerow.model.arrays import Floats
from hedgerow.pipeline.prepare import PlanLike
from hedgerow.pipeline.signed import check_signed
from hedgerow.plan.disclose import ApproxDisclose
from hedgerow.plan.load import plan_digest
from hedgerow.progress import Progress, no_progress
from hedgerow.release.write import check_destination
from hedgerow.report.owner import RecipientHistory

_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|sqlite:")

FIRST_BLOCK = 64
SECONDS_PER_BLOCK = 2.0
"""Work in seconds that an interrupted run may lose."""


def disclose(
    plan: PlanLike,
    *,
    data: Any = None,
    against: Any = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    resume: bool = True,
    seed: int | None = None,
    workers: int | None = None,
    hours: float = HOURS,
    accept_risk: bool = False,
    on_risk: Callable[[RiskMovement], None] | None = None,
    on_recognised: Callable[[RecipientHistory], None] | None = None,
    progress: Progress = no_progress,
    **settings: Any,
) -> Disclosure:
    """Disclose single records, each generalised to the minimum risk at a required utility.

    Parameters
    ----------
    plan : Plan, mapping or path
        The plan, a mapping with the keys of a plan file, or the file.
    data : path, URL or dataframe, optional
        The confidential table, in place of the plan's.
    against : path, URL or dataframe, optional
        The attacker's dictionary, in place of the plan's. By default the data.
    out : path, optional
        Folder to write to. Partial results are kept beside it while the run lasts.
    force : bool, default=False
        Replace an existing disclosure in ``out``.
    resume : bool, default=True
        Resume an interrupted run.
    seed : int, optional
        Fix the random roundings of ``approx`` with ``faithful``, the only random step.
    workers : int, optional
        Number of processes. By default one per core.
    hours : float, default=6.0
        Refuse a run that is expected to take longer.
    accept_risk : bool, default=False
        Write the disclosure although its mean risk is above half of that of the original
        records.
    on_risk : callable, optional
        Called with the risk before and after, confidential, before anything is written.
    on_recognised : callable, optional
        Called with the records that the recipient already has, confidential.
    progress : callable, optional
        Called with the name of a step and the fraction of it that is done.
    **settings
        Settings of the plan's ``disclose`` section, such as ``method``,
        ``utility={"at-least": "half"}`` or ``risk={"model": 2}``.

    Returns
    -------
    Disclosure
        The generalised records, their certificate and the owner's figures.

    Raises
    ------
    PlanError, SettingError
        If the plan or a setting has a mistake.
    UnconfirmedPlanError, VoidSignatureError
        If the plan is not confirmed, or has changed since it was signed.
    RiskNotLoweredError
        If the mean risk does not fall to half. Nothing has been written.
    TooLongError
        If the work is expected to take longer than ``hours``.
    ReleaseError
        If the folder cannot be written.

    Notes
    -----
    Privacy: none in the sense of differential privacy; the certificate states it.
    ``Disclosure.owner`` and the folder `owner` are confidential. With a ``recipient``, earlier
    disclosures to that recipient count towards the risk, and this one is recorded.

    Examples
    --------
    >>> import pandas as pd
    >>> visits = pd.DataFrame({"age": [34, 61, 47] * 20, "ward": ["A", "B", "C"] * 20})
    >>> disclosed = disclose({
    ...     "attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B", "C"]}},
    ...     "confirmed": True,
    ...     "disclose": {"utility": {"at-least": "half"}},
    ... }, data=visits)
    >>> disclosed.to_pandas().iloc[0].tolist()
    ['[32, 36)', '*']

    """
    ready = prepare_disclosure(plan, settings)
    check_signed(ready.plan, ready.schema, given_to(ready, data, against))
    _check_seed(ready, seed)
    check_hours(hours)
    destination = None if out is None else check_destination(out, force=force)
    recipient = Recipient.of(ready)
    if recipient is not None and destination is not None:
        recipient.check_outside(destination)
    confidential = read_confidential(ready, data, against, progress=progress)
    problems = Problems.of(ready, confidential, _known(recipient, confidential, ready))
    drawn = secrets.randbits(63) if seed is None else seed
    kept = None
    if destination is not None:
        identity = _identity(ready, confidential, problems, seed)
        kept = Unfinished.beside(destination, identity, seed=drawn, resume=resume)
        drawn = kept.seed
    with _keeping(kept):
        watch = _watch(ready, problems, kept, hours=hours, workers=workers, progress=progress)
        cores = n_workers(workers)
        solver = solver_for(ready, confidential, problems, seed=drawn, workers=cores)
        found = _solved(solver, len(problems), kept, watch)
        owner = OwnerView(
            ready=ready,
            confidential=confidential,
            problems=problems,
            found=found,
            before=_before(ready, confidential, problems),
            recipient=recipient,
            already=_already(ready, confidential, problems, cores),
        )
        have = owner.what_they_have()
        if on_recognised is not None and have is not None:
            on_recognised(have)
        if on_risk is not None:
            on_risk(owner.movement)
        facts = _facts(ready, data=data, against=against, seeded=seed is not None)
        result = _result(owner, facts, accept_risk=accept_risk)
        if destination is not None and kept is not None:
            progress("writing", None)
            _write(result, destination, force=force)
            kept.remove()
        elif recipient is not None:
            recipient.book(ready, owner.nodes, folder=None)
    return result


def _write(result: Disclosure, destination: Path, *, force: bool) -> None:
    """Write the folder; the recipient's records are booked just before it gets its name."""
    owner, booked = result.owner, []
    recipient = owner.recipient
    if recipient is None:
        result.write(destination, force=force)
        return

    def book() -> None:
        booked.append(recipient.book(owner.ready, owner.nodes, folder=destination.name))

    result.write(destination, force=force, last=book)
    recipient.released(booked[0])


def _known(
    recipient: Recipient | None, confidential: Confidential, ready: PreparedDisclosure
) -> Levels | None:
    """Return the levels that the recipient has of each record, or ``None`` if there are none."""
    if recipient is None:
        return None
    known = recipient.recognise(confidential, ready)
    return known.levels if known.recognised.any() else None


def _already(
    ready: PreparedDisclosure, confidential: Confidential, problems: Problems, workers: int
) -> Floats | None:
    """Return the risk of what the recipient already has."""
    if problems.known is None:
        return None
    solver = RecordSolver(
        dictionary=confidential.dictionary,
        utility=ready.utility,
        severities=problems.severities,
        model=ready.model,
        objective=MinimiseRisk(at_least=0.0, of_most=True),
        known=problems.known,
        workers=workers,
    )
    return solver.solve(problems.records).risk


@contextmanager
def _keeping(kept: Unfinished | None) -> Iterator[None]:
    """Release saved answers at the end; delete those of a refused run, unless they took long."""
    try:
        yield
    except (RiskNotLoweredError, TooLongError) as error:
        if kept is not None and (isinstance(error, RiskNotLoweredError) or not kept.n_done):
            kept.remove()
        raise
    finally:
        if kept is not None:
            kept.release()


def _watch(
    ready: PreparedDisclosure,
    problems: Problems,
    kept: Unfinished | None,
    *,
    hours: float,
    workers: int | None,
    progress: Progress,
) -> Watch:
    return Watch(
        many=problems.many.astype(np.float64),
        seconds=expected_seconds(ready, problems, n_workers(workers)),
        hours=hours,
        progress=progress,
        first=0 if kept is None else kept.n_done,
    )


def _check_seed(ready: PreparedDisclosure, seed: int | None) -> None:
    disclose = ready.disclose
    if seed is not None and not (isinstance(disclose, ApproxDisclose) and disclose.faithful):
        raise SettingError(
            "This method has no random step.",
            where="seed",
            do="Omit it; it is for 'method: approx' with 'faithful: true'.",
        )


def _identity(
    ready: PreparedDisclosure, confidential: Confidential, problems: Problems, seed: int | None
) -> Identity:
    wanted = "" if seed is None else f"-{seed}"
    known = ""
    if problems.known is not None:
        known = f"-{hashlib.sha256(np.ascontiguousarray(problems.known).data).hexdigest()}"
    return Identity(
        plan_digest=plan_digest(ready.plan),
        data_digest=confidential.digest() + known + wanted,
        n_problems=len(problems),
        n_attributes=len(ready.chains),
    )


def _solved(solver: BlockSolver, n_problems: int, kept: Unfinished | None, watch: Watch) -> Found:
    """Solve block by block; blocks grow until one takes about two seconds."""
    parts: list[Found] = []
    keep: Callable[[Found], None] = parts.append if kept is None else kept.append
    start = 0 if kept is None else kept.n_done
    size = watch.block(start, SECONDS_PER_BLOCK, FIRST_BLOCK)
    try:
        while start < n_problems:
            watch.tell(start)
            begun = time.monotonic()
            stop = min(start + size, n_problems)
            keep(solver.solve(start, stop))
            start = stop
            seconds = time.monotonic() - begun
            if seconds < SECONDS_PER_BLOCK / 2:
                size *= 2
            elif seconds > 2 * SECONDS_PER_BLOCK:
                size = max(size // 2, 1)
    except InputError as error:
        # Settings that are impossible now will be impossible next time.
        if kept is not None and not isinstance(error, ReleaseError | TooLongError):
            kept.remove()
        raise
    watch.progress("solving", 1.0)
    if kept is not None:
        return kept.answers()
    return joined_answers(parts) if parts else solver.solve(0, 0)


def _result(owner: OwnerView, facts: DisclosureFacts, *, accept_risk: bool) -> Disclosure:
    """Return the disclosure, or refuse it if the risk did not fall."""
    movement = owner.movement
    if not (movement.lowered or accept_risk):
        raise RiskNotLoweredError(movement)
    risk = movement.certified(accepted=accept_risk)
    if owner.recipient is not None:
        risk = risk.model_copy(update={"recipient": certified_recipient(owner.recipient)})
    return Disclosure(certificate=certify_disclosure(owner.ready, facts, risk), owner=owner)


def _facts(ready: PreparedDisclosure, *, data: Any, against: Any, seeded: bool) -> DisclosureFacts:
    return DisclosureFacts(
        dataset=_dataset(ready, data),
        against=_dictionary_words(ready, against),
        random=isinstance(ready.disclose, ApproxDisclose) and ready.disclose.faithful,
        seeded=seeded,
    )


def _before(ready: PreparedDisclosure, confidential: Confidential, problems: Problems) -> Valued:
    """Return the risk and utility of the original records."""
    forms = UniformForms(ready=ready, confidential=confidential, problems=problems)
    valued = forms.valued(forms.as_they_are())
    if ready.disclose.risk.consistency == "hierarchical":
        return valued
    similar = ready.disclose.risk.similar_from
    exposure = ready.model.exposure(confidential.dictionary.n_records)
    risk = np.empty(len(problems))
    for job in range(len(problems)):
        codes = [int(column[job]) for column in problems.records.codes]
        counter = match_counter(
            codes,
            confidential.dictionary,
            consistency="approximate",
            **({} if similar is None else {"similar_from": float(similar)}),
        )
        weight = 1.0
        if ready.model.personal:
            parts = problems.severities.parts(codes, counter.lattice, job)
            weight = float(sum(part[0] for part in parts))
        risk[job] = weight * exposure[counter.count(counter.lattice.bottom)]
    return Valued(risk=risk, utility=valued.utility)


def _dataset(ready: PreparedDisclosure, data: Any) -> str:
    if ready.plan.ledger is not None:
        return ready.plan.ledger.name
    return _file_name(data if data is not None else ready.plan.data) or "disclosed records"


def _dictionary_words(ready: PreparedDisclosure, against: Any) -> str:
    place = against if against is not None else ready.disclose.against
    if place is None:
        return "all records of the table itself"
    return f"the records of {_file_name(place) or 'another table'}"


def _file_name(place: Any) -> str | None:
    """Return the name of a file without its folders, or ``None`` for databases and dataframes."""
    if not isinstance(place, str | os.PathLike) or _DATABASE.match(str(place)):
        return None
    return Path(place).name
