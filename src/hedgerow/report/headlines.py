"""The few figures of an evaluation that are read first, each with a word for it.

The words are rules of thumb for a first look; docs/evaluate.md says what each figure means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Grade = Literal["good", "fair", "poor"]
Facts = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One figure in words: what it is, its value, and how good that is (if that can be said)."""

    task: str
    what: str
    value: str
    verdict: Grade | None


def headlines(facts: Facts) -> tuple[Headline, ...]:
    """Return the first figures of every task that was measured."""
    found: list[Headline] = []
    is_baskets = facts["release"]["kind"] == "baskets"
    makers = {
        "classification": _classification,
        "clustering": _clustering,
        "counting": _basket_counting if is_baskets else _counting,
        "itemsets": _itemsets,
        "loss": _loss,
        "risk": _risk,
    }
    for task, make in makers.items():
        if task in facts:
            found += make(facts[task])
    return tuple(found)


def verdict(value: float, *, good: float, fair: float) -> Grade:
    """Return a word for a value, the limits rising or falling as they are given.

    >>> verdict(0.95, good=0.9, fair=0.7), verdict(0.2, good=0.05, fair=0.15)
    ('good', 'poor')
    """
    sign = 1 if good > fair else -1
    if sign * value >= sign * good:
        return "good"
    return "fair" if sign * value >= sign * fair else "poor"


def per_cent(part: float | None) -> str:
    """Return a part of one in per cent, for people.

    >>> per_cent(0.8312), per_cent(None), per_cent(0.00012)
    ('83.1 %', '–', '0.012 %')
    """
    if part is None:
        return "–"
    shown = 100 * part
    return f"{shown:.1f} %" if abs(shown) >= 1 or shown == 0 else f"{shown:.2g} %"


def _classification(facts: Facts) -> list[Headline]:
    release = facts["release"]["boxes"] or facts["release"]["records"]
    found = []
    for learner, name in (("tree", "decision tree"), ("boosting", "gradient boosting")):
        kept = facts["kept"][learner]
        found.append(
            Headline(
                task="classification",
                what=f"{name} learnt from the release",
                value=f"{per_cent(release[learner])} right (floor {per_cent(facts['floor'])},"
                f" raw data {per_cent(facts['ceiling'][learner])})",
                verdict=None if kept is None else verdict(kept, good=0.85, fair=0.5),
            )
        )
    return found


def _clustering(facts: Facts) -> list[Headline]:
    first = facts["match-points"][0]
    above = (first["release"] - first["by-chance"]) / max(1 - first["by-chance"], 1e-9)
    return [
        Headline(
            task="clustering",
            what=f"Match Point of {first['clusters']} clusters",
            value=f"{per_cent(first['release'])} (by chance {per_cent(first['by-chance'])})",
            verdict=verdict(above, good=0.8, fair=0.4),
        )
    ]


def _counting(facts: Facts) -> list[Headline]:
    ranges = [
        Headline(
            task="counting",
            what="range queries of two attributes, middle error",
            value=per_cent(each["median"]),
            verdict=verdict(each["median"], good=0.1, fair=0.3),
        )
        for each in facts["ranges"]
        if each["attributes"] == 2
    ]
    tables = [
        Headline(
            task="counting",
            what="tables of two attributes, records in the wrong cell",
            value=per_cent(each["mean"]),
            verdict=verdict(each["mean"], good=0.05, fair=0.15),
        )
        for each in facts["marginals"]
        if each["ways"] == 2
    ]
    return ranges + tables


def _basket_counting(facts: Facts) -> list[Headline]:
    errors = [each["relative"] for each in facts["classes"]]
    mean = sum(errors) / len(errors)
    mass = facts["kept"]["mass"]
    return [
        Headline(
            task="counting",
            what="counting queries, average error",
            value=per_cent(mean),
            verdict=verdict(mean, good=0.05, fair=0.15),
        ),
        Headline(
            task="counting",
            what="records published, as a part of all",
            value=per_cent(mass),
            verdict=verdict(-abs(mass - 1), good=-0.1, fair=-0.4),
        ),
    ]


def _itemsets(facts: Facts) -> list[Headline]:
    last = facts["top"][-1]
    return [
        Headline(
            task="itemsets",
            what=f"supports of the {last['k']} most frequent itemsets kept",
            value=per_cent(last["utility"]),
            verdict=verdict(last["utility"], good=0.95, fair=0.8),
        )
    ]


def _loss(facts: Facts) -> list[Headline]:
    best = facts["records"] or facts["groups"]
    return [
        Headline(
            task="loss",
            what="what a cell no longer says (NCP)",
            value=per_cent(best["ncp"]),
            verdict=None,
        )
    ]


def _risk(facts: Facts) -> list[Headline]:
    if not facts["applicable"] or facts["release"] is None:
        return []
    highest = facts["release"]["prosecutor"]["highest"]
    return [
        Headline(
            task="risk",
            what="highest risk that a record finds its person"
            + ("" if facts["certain"] else ", if rows are true records"),
            value=per_cent(highest),
            verdict=verdict(highest, good=0.05, fair=0.2) if facts["certain"] else None,
        )
    ]
