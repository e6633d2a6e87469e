"""Figures of one contender, computed by the tasks of `evaluate`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hedgerow.comparison.contenders import Contender
from hedgerow.evaluation import tasks

LEARNERS = ("tree", "boosting")


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Utility and cost of a release, for the data owner only.

    ``count_error`` is the median relative error of range queries over two columns;
    ``answering_zero`` the mean relative error of answering 0 to all of them; ``one_way_neutral``
    and ``two_way_neutral`` the share of records in the wrong cell of marginals in cells of the raw
    data, ``worst_column`` the column with the largest error of the former, ``worst_error``;
    ``two_way`` the share for 2-way marginals in public bins; ``learnt`` the accuracies of learners
    trained on the release. ``risk`` is the highest probability that a record is matched to its
    person, if
    rows are true records.
    """

    name: str
    method: str
    epsilon: str | None
    rows: int
    count_error: float | None
    answering_zero: float | None
    one_way_neutral: float
    worst_column: str
    worst_error: float
    two_way_neutral: float | None
    two_way: float | None
    floor: float | None
    ceiling: dict[str, float]
    learnt: dict[str, float]
    risk: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {name.replace("_", "-"): value for name, value in asdict(self).items()}


def figures_of(contender: Contender, *, seed: int) -> Figures:
    """Return the figures of one contender, for two columns, or for one if there is only one."""
    subject = contender.subject
    counting = tasks.counting(subject, seed=seed)
    ranges = _of_columns(counting["ranges"], "attributes")
    tables = _of_columns(counting["marginals"], "ways")
    neutral = tasks.columns_and_pairs(subject, seed=seed)
    worst, pairs = neutral["1-way"]["worst"], neutral["2-way"]
    learnt = _learnt(contender, seed)
    return Figures(
        name=contender.name,
        method=contender.method,
        epsilon=contender.epsilon,
        rows=len(subject.groups),
        count_error=None if ranges is None else ranges["median"],
        answering_zero=None if ranges is None else ranges["answering-zero"],
        one_way_neutral=neutral["1-way"]["mean"],
        worst_column=worst["attributes"][0],
        worst_error=worst["value"],
        two_way_neutral=None if pairs is None else pairs["mean"],
        two_way=None if tables is None else tables["mean"],
        risk=_risk(contender, seed),
        **learnt,
    )


def _of_columns(found: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """Return the figures for two columns, or for one if there is only one."""
    few = [each for each in found if each[key] <= 2]
    return max(few, key=lambda each: int(each[key]), default=None)


def _learnt(contender: Contender, seed: int) -> dict[str, Any]:
    subject = contender.subject
    target = subject.test or subject.table
    if subject.groups.classes is None or subject.table.classes is None or target.classes is None:
        return {"floor": None, "ceiling": {}, "learnt": {}}
    facts = tasks.classification(subject, seed=seed)
    best = facts["release"][facts["judged"]]
    return {
        "floor": facts["floor"],
        "ceiling": {name: facts["ceiling"][name] for name in LEARNERS},
        "learnt": {name: best[name] for name in LEARNERS},
    }


def _risk(contender: Contender, seed: int) -> float | None:
    """Return the highest risk of a record, or ``None`` if epsilon bounds it."""
    if contender.is_private:
        return None
    facts = tasks.reidentification(contender.subject, seed=seed)
    if not facts["applicable"] or facts["release"] is None:
        return None
    highest: float = facts["release"]["prosecutor"]["highest"]
    return highest
