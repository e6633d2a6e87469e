"""Evaluate a release: all measures, for the data owner."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, get_args

from hedgerow.errors import SettingError
from hedgerow.evaluation import basket_tasks, sequence_tasks, tasks
from hedgerow.evaluation.evaluation import FOR_OWNER, FORMAT_VERSION, Evaluation
from hedgerow.evaluation.subject import (
    EvaluatedSubject,
    TableSubject,
    subject_of,
)
from hedgerow.model.certificate import Certificate
from hedgerow.progress import Progress, no_progress, stretch
from hedgerow.release.generalise import OptionalPlan
from hedgerow.report.headlines import Facts

Task = Literal[
    "fidelity",
    "classification",
    "clustering",
    "counting",
    "relations",
    "itemsets",
    "loss",
    "risk",
    "people",
    "prefixes",
    "substrings",
    "patterns",
    "lengths",
]
TASKS: tuple[Task, ...] = get_args(Task)

_OF_TABLES: dict[str, Callable[..., Facts]] = {
    "fidelity": tasks.columns_and_pairs,
    "classification": tasks.classification,
    "clustering": tasks.clustering,
    "counting": tasks.counting,
    "relations": tasks.related,
    "loss": tasks.loss,
    "risk": tasks.reidentification,
    "people": tasks.people,
}
_OF_BASKETS: dict[str, Callable[..., Facts]] = {
    "counting": basket_tasks.basket_counting,
    "itemsets": basket_tasks.itemsets,
}
_OF_SEQUENCES: dict[str, Callable[..., Facts]] = {
    "prefixes": sequence_tasks.begun_with,
    "substrings": sequence_tasks.held_runs,
    "patterns": sequence_tasks.patterns,
    "lengths": sequence_tasks.lengths,
}


def _known(subject: EvaluatedSubject) -> dict[str, Callable[..., Facts]]:
    """Return the tasks for this kind of release."""
    if isinstance(subject, TableSubject):
        return _OF_TABLES
    return _OF_SEQUENCES if subject.ordered else _OF_BASKETS


def evaluate(
    release: Any,
    data: Any,
    *,
    test: Any = None,
    tasks: Sequence[str] | str = "all",
    plan: OptionalPlan = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Evaluation:
    """Measure the utility of a release, compared with the raw data.

    Parameters
    ----------
    release : Release, BasketRelease or path
        A release, its folder, or with a ``plan`` a table or basket file of any other tool.
    data : path or dataframe
        The confidential data from which the release was made.
    test : path or dataframe, optional
        Records that are not in the release, to test classifiers.
    tasks : sequence of str or "all", default="all"
        For tables some of fidelity, classification, clustering, counting, relations, loss, risk
        and people; for baskets counting and itemsets; for sequences prefixes, substrings,
        patterns and lengths.
    plan : path, mapping or Plan, optional
        Sets the domains of a plain file, and the format of files.
    out : path, optional
        Folder for `evaluation.html` and `evaluation.json`, outside the release.
    force : bool, default=False
        Replace an existing evaluation in ``out``.
    seed : int, default=0
        Random seed.
    progress : callable, optional
        Called with the name of a step and the fraction of it that is done.

    Returns
    -------
    Evaluation
        All figures in ``facts``.

    Raises
    ------
    SettingError
        If a task is unknown or does not suit the release.
    DataError
        If the data cannot be read or lack an attribute of the release.
    ReleaseError
        If the release cannot be read, or the folder cannot be written.

    Notes
    -----
    Privacy: none. The figures are computed from the confidential records without noise.

    Examples
    --------
    >>> import hedgerow
    >>> import pyarrow as pa
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...         "protects": "records", "confirmed": True,
    ...         "publish": {"method": "hedge", "epsilon": 4}}
    >>> visits = pa.table({"age": [20, 70] * 500, "ward": ["A", "B"] * 500})
    >>> release = hedgerow.publish(plan, data=visits, seed=1)
    >>> "counting" in evaluate(release, visits, tasks=["counting"]).facts
    True

    """
    subject = subject_of(release, data, test=test, plan=plan, progress=progress)
    chosen, skipped = _chosen(subject, tasks)
    facts = _head(subject)
    seconds: dict[str, float] = {}
    for at, task in enumerate(chosen):
        done = stretch(partial(progress, f"measuring {task}"), at, len(chosen))
        done(0.0)
        start = time.perf_counter()
        facts[task] = _known(subject)[task](subject, seed=seed, done=done)
        seconds[task] = round(time.perf_counter() - start, 3)
    evaluation = Evaluation(facts={**facts, "skipped": skipped, "seconds": seconds, "seed": seed})
    if out is not None:
        progress("writing", None)
        evaluation.write(out, apart_from=release, force=force)
    return evaluation


def _chosen(
    subject: EvaluatedSubject, tasks: Sequence[str] | str
) -> tuple[list[str], dict[str, str]]:
    """Return the tasks to run, in their order, and the reasons for skipped ones."""
    known = _known(subject)
    wanted = [tasks] if isinstance(tasks, str) else list(tasks)
    skipped: dict[str, str] = {}
    if "all" in wanted or not wanted:
        wanted = list(known)
        lacking = _lacks_class(subject)
        if lacking:
            wanted.remove("classification")
            skipped["classification"] = lacking
        nobody = _lacks_people(subject)
        if nobody is not None and "people" in wanted:
            wanted.remove("people")
            if _protects_people(subject):
                skipped["people"] = nobody
    for task in wanted:
        if task not in known:
            raise SettingError(
                f"{task!r} is not a task for {_kind(subject)}.",
                where="task",
                do=f"Give some of: {', '.join(known)}, all.",
            )
    lacking = _lacks_class(subject)
    if "classification" in wanted and lacking:
        raise SettingError(lacking, where="task", do="Leave classification out.")
    nobody = _lacks_people(subject)
    if "people" in wanted and nobody is not None:
        raise SettingError(nobody, where="task", do="Leave people out.")
    return [task for task in known if task in wanted], skipped


def _kind(subject: EvaluatedSubject) -> str:
    if isinstance(subject, TableSubject):
        return "a table"
    return "sequences" if subject.ordered else "baskets"


def _lacks_class(subject: EvaluatedSubject) -> str | None:
    """Return the reason why classification does not apply, if any."""
    if not isinstance(subject, TableSubject):
        return None
    if subject.groups.classes is None:
        return "the release has no class"
    if subject.table.classes is None:
        return "the data has no column of the class"
    if subject.test is not None and subject.test.classes is None:
        return "the test rows have no column of the class"
    return None


def _protects_people(subject: EvaluatedSubject) -> bool:
    certificate = subject.certificate
    return certificate is not None and certificate.guarantee.person is not None


def _lacks_people(subject: EvaluatedSubject) -> str | None:
    """Return the reason why the people of records are not known, if any."""
    if not isinstance(subject, TableSubject) or subject.people is not None:
        return None
    if not _protects_people(subject):
        return "the release names no column of people"
    return "the data has no column of the people that the certificate names"


def _head(subject: EvaluatedSubject) -> Facts:
    if isinstance(subject, TableSubject):
        kind, shape = "table", str(subject.shape)
        rows, total = len(subject.groups), int(subject.groups.counts.sum())
        records = len(subject.table)
    else:
        kind, shape = ("sequences", "lists") if subject.ordered else ("baskets", "sets")
        rows, total, records = len(subject.release), subject.release.total, subject.records.total
    return {
        "format-version": FORMAT_VERSION,
        "for": FOR_OWNER,
        "release": {
            "name": subject.name,
            "kind": kind,
            "shape": shape,
            "rows": rows,
            "total": total,
            **_promised(subject.certificate),
        },
        "data": {"records": records, **_people_counted(subject)},
    }


def _people_counted(subject: EvaluatedSubject) -> Facts:
    """Return the number of people and the unit of the release's counts, if known."""
    certificate = subject.certificate
    person = None if certificate is None else certificate.guarantee.person
    if person is None:
        return {}
    if not isinstance(subject, TableSubject):
        return {"counted": "people" if person.join is not None else "records"}
    if subject.people is None:
        return {"counted": person.counted}
    return {"counted": person.counted, "people": len(subject.people.sizes)}


def _promised(certificate: Certificate | None) -> Facts:
    """Return the facts of the certificate, None without one."""
    if certificate is None:
        return {"method": None, "epsilon": None, "guarantee": None, "statement": None}
    guarantee = certificate.guarantee
    return {
        "method": certificate.method.name,
        "epsilon": None if guarantee.epsilon is None else str(guarantee.epsilon),
        "guarantee": guarantee.kind,
        "statement": guarantee.statement,
    }
