"""attack(release, data): run attacks on a release, for the data owner."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from hedgerow.errors import SettingError
from hedgerow.evaluation.evaluation import FOR_OWNER
from hedgerow.evaluation.subject import (
    BasketSubject,
    EvaluatedSubject,
    TableSubject,
    subject_of,
)
from hedgerow.model.certificate import Certificate
from hedgerow.progress import Progress, no_progress
from hedgerow.release.generalise import OptionalPlan
from hedgerow.report.headlines import Facts
from hedgerow.risks.attacks.limits import SwapLimits
from hedgerow.risks.attacks.overlap import rows_overlap, sets_overlap
from hedgerow.risks.attacks.pairs import INTERVAL_MISTAKE, VERDICT_MISTAKE, Sample
from hedgerow.risks.attacks.questions import NO_HOLDOUT, Judge
from hedgerow.risks.attacks.result import FORMAT_VERSION, AttackReport, check_attack_folder
from hedgerow.risks.attacks.set_attacks import SetCase, attack_sets, set_sample
from hedgerow.risks.attacks.settings import MOST_RECORDS, SHADOWS, AttackSettings
from hedgerow.risks.attacks.table_attacks import attack_table
from hedgerow.risks.attacks.table_game import TableCase, table_game

_ATTACKS = 7
_ATTACKS_ON_TWO = 4


def attack(
    release: Any,
    data: Any,
    *,
    holdout: Any = None,
    other: Any = None,
    other_data: Any = None,
    sensitive: Sequence[str] = (),
    plan: OptionalPlan = None,
    most_records: int = MOST_RECORDS,
    shadows: int = SHADOWS,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    seed: int = 0,
    progress: Progress = no_progress,
) -> AttackReport:
    """Run attacks on a release, for the data owner only.

    Parameters
    ----------
    release : Release, BasketRelease or path
        A release, its folder, the folder of a disclosure, or with a ``plan`` any table or
        basket file.
    data : path or dataframe
        The confidential data from which the release was made.
    holdout : path or dataframe, optional
        A random sample of the same population that is not in the release. Without it neither
        membership nor controls are run.
    other : Release, BasketRelease or path, optional
        A second release, to attack the difference of the two.
    other_data : path or dataframe, optional
        The data of the second release. By default ``data``.
    sensitive : sequence of str, optional
        Columns whose values are inferred. By default the class.
    plan : path, mapping or Plan, optional
        Sets the domains of a plain file, and the format of files.
    most_records : int, default=1000
        Maximum number of members that are attacked; they are sampled with the seed.
    shadows : int, default=4
        Number of shadow releases of simulated tables; 0 for none.
    out : path, optional
        Folder for `attack.html` and `attack.json`, outside the release.
    force : bool, default=False
        Replace an existing report in ``out``.
    seed : int, default=0
        Random seed.
    progress : callable, optional
        Called with the name of a step and the fraction of it that is done.

    Returns
    -------
    AttackReport
        All figures in ``facts``; ``html()`` is a page for a review board.

    Raises
    ------
    SettingError
        If a setting or a column is unknown, or the held-out records are the data.
    DataError
        If a file lacks the columns that identify people.

    Notes
    -----
    Privacy: none. The figures are computed from the confidential records without noise. Nothing
    is booked and no release changes. Choosing among releases by these figures would let the
    confidential data choose, which no epsilon covers.

    Examples
    --------
    >>> import hedgerow
    >>> import pyarrow as pa
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...         "protects": "records", "confirmed": True,
    ...         "publish": {"method": "hedge", "epsilon": 4}}
    >>> visits = pa.table({"age": [20, 70] * 500, "ward": ["A", "B"] * 500})
    >>> release = hedgerow.publish(plan, data=visits, seed=1)
    >>> attack(release, visits, most_records=20, shadows=0).facts["targets"]["attacked"]
    20

    """
    settings = AttackSettings(
        sensitive=tuple(sensitive), most_records=most_records, shadows=shadows, seed=seed
    )
    if out is not None:
        check_attack_folder(out, apart_from=release, force=force)
    start = time.perf_counter()
    opened = _Opened(
        release,
        data,
        holdout=holdout,
        other=other,
        other_data=other_data,
        plan=plan,
        progress=progress,
    )
    facts = opened.attacked(settings, progress)
    report = AttackReport(facts={**facts, "seconds": round(time.perf_counter() - start, 3)})
    if out is not None:
        progress("writing", None)
        report.write(out, apart_from=release, force=force)
    return report


class _Opened:
    """The release and all files, read by the release's domains (confidential)."""

    def __init__(
        self,
        release: Any,
        data: Any,
        *,
        holdout: Any,
        other: Any,
        other_data: Any,
        plan: OptionalPlan,
        progress: Progress,
    ) -> None:
        if other_data is not None and other is None:
            raise SettingError(
                "These data belong to a second release, which is not named.",
                where="other-data",
                do="Name it with --other RELEASE.",
            )

        def opened(one: Any, records: Any) -> Any:
            if one is None or records is None:
                return None
            return subject_of(one, records, plan=plan, progress=progress)

        self.subject: EvaluatedSubject = opened(release, data)
        self.holdout = opened(release, holdout)
        self.other = opened(other, data if other_data is None else other_data)
        if self.other is not None and _is_ordered(self.other) is not _is_ordered(self.subject):
            raise SettingError(
                "The two releases are of different kinds of data.",
                where="other",
                do="Give two releases of tables, of baskets or of sequences.",
            )
        self.other_data = opened(release, other_data)
        self.is_joined = plan is not None

    def attacked(self, settings: AttackSettings, progress: Progress) -> Facts:
        notes: list[str] = []
        subject, limits = self.subject, self._limits(notes)
        files = {"holdout": self.holdout, "other": self.other, "other_data": self.other_data}
        if isinstance(subject, TableSubject):
            game = table_game(TableCase(subject=subject, **files), settings)
            overlap = rows_overlap(game.members, game.outsiders)
            sample, n_sensitive = game.sample, len(game.aims.sensitive)
            judge = self._judge(limits, n_sensitive, settings)
            found = attack_table(game, judge, progress=progress)
            n_rows = len(game.rows)
        else:
            case = SetCase(subject=subject, **files)
            sample = set_sample(case, settings)
            overlap = sets_overlap(subject.records, case.outsiders, ordered=subject.ordered)
            judge = self._judge(limits, 1, settings)
            found = attack_sets(case, sample, settings, judge, progress=progress)
            n_rows = len(subject.release)
        if overlap is not None:
            notes.append(overlap)
        if self.holdout is None:
            notes.append(f"Membership and the controls were not run: {NO_HOLDOUT}.")
        return {
            **self._head(sample, judge, settings),
            "rows-compared": n_rows,
            **found,
            "notes": notes,
        }

    def _judge(
        self, limits: SwapLimits | None, n_sensitive: int, settings: AttackSettings
    ) -> Judge:
        """Divide the probability of a false alarm over all verdicts of the run."""
        n_attacks = _ATTACKS + n_sensitive
        if self.other is not None:
            n_attacks += _ATTACKS_ON_TWO + n_sensitive
        # Each attack is compared with its control and with the bound.
        return Judge(limits=limits, mistake=VERDICT_MISTAKE / (2 * n_attacks), seed=settings.seed)

    def _limits(self, notes: list[str]) -> SwapLimits | None:
        """Return the bound of the guarantee, or note why there is none."""
        certificate = self.subject.certificate
        if certificate is None or certificate.guarantee.epsilon is None:
            notes.append("The release has no guarantee: there is no bound on any attack.")
            return None
        guarantee = certificate.guarantee
        if not guarantee.private:
            notes.append(
                "The release was made with a seed: the bound holds for those who do not know it."
            )
        is_baskets = isinstance(self.subject, BasketSubject) and guarantee.person is not None
        if is_baskets and not self._joins_people(certificate):
            notes.append(
                "The release protects people, and records are not joined by person here: the bound"
                " for people is not shown. Give the plan if records of a person are joined."
            )
            return None
        return SwapLimits.of(guarantee.epsilon or 0, guarantee.delta or 0)

    def _joins_people(self, certificate: Certificate) -> bool:
        person = certificate.guarantee.person
        return person is not None and person.join is not None and self.is_joined

    def _head(self, sample: Sample, judge: Judge, settings: AttackSettings) -> Facts:
        subject = self.subject
        guarantee = None if subject.certificate is None else subject.certificate.guarantee
        by_person = guarantee is not None and guarantee.person is not None
        if isinstance(subject, BasketSubject) and judge.limits is None:
            by_person = False
        return {
            "format-version": FORMAT_VERSION,
            "for": FOR_OWNER,
            "release": {
                "name": subject.name,
                "kind": _kind(subject),
                **_release_facts(subject.certificate),
            },
            "data": {"records": _n_records(subject)},
            "holdout": None if self.holdout is None else {"records": _n_records(self.holdout)},
            "targets": {
                "unit": "people" if by_person else "records",
                "attacked": len(sample),
                "pairs": len(sample.outsiders),
                "pairs-that-fix": sample.n_fixing,
                "reference": len(sample.reference),
            },
            "intervals": {
                "confidence": 1 - INTERVAL_MISTAKE,
                "verdict-mistake": VERDICT_MISTAKE,
            },
            "pair-bound": None if judge.limits is None else judge.limits.accuracy,
            "seed": settings.seed,
            "most-records": settings.most_records,
        }


def _is_ordered(subject: EvaluatedSubject) -> bool | None:
    """Return whether records are sequences; ``None`` for those of a table."""
    return None if isinstance(subject, TableSubject) else subject.ordered


def _kind(subject: EvaluatedSubject) -> str:
    if isinstance(subject, TableSubject):
        return f"table of {'records' if subject.shape == 'records' else 'boxes'}"
    return "sequences" if subject.ordered else "baskets"


def _n_records(subject: EvaluatedSubject) -> int:
    return len(subject.table) if isinstance(subject, TableSubject) else subject.records.total


def _release_facts(certificate: Certificate | None) -> Facts:
    if certificate is None:
        return {"method": None, "epsilon": None, "delta": None, "statement": None}
    guarantee = certificate.guarantee
    return {
        "method": certificate.method.name,
        "epsilon": None if guarantee.epsilon is None else str(guarantee.epsilon),
        "delta": None if guarantee.delta is None else str(guarantee.delta),
        "statement": guarantee.statement,
    }
