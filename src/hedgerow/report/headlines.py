"""The few figures of an evaluation that are read first, each with a word for it.

The words are rules of thumb for a first look; docs/evaluate.md says what each figure means. No
figure is called good for its size alone: each stands beside the answer of who has no release
(always the most frequent class, always 0, evenly spread), and what is no better is poor.
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
        "fidelity": _fidelity,
        "classification": _classification,
        "clustering": _clustering,
        "counting": _basket_counting if is_baskets else _counting,
        "relations": _relations,
        "itemsets": _itemsets,
        "loss": _loss,
        "risk": _risk,
        "people": _people,
        "prefixes": _prefixes,
        "substrings": _substrings,
        "patterns": _patterns,
        "lengths": _lengths,
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


def error_verdict(error: float, *, trivial: float, good: float, fair: float) -> Grade:
    """Return a word for an error beside that of who answers without any release.

    What errs more than that is poor, and good is at most half of it.

    >>> error_verdict(0.09, trivial=0.04, good=0.1, fair=0.3)
    'poor'
    >>> error_verdict(0.09, trivial=0.15, good=0.1, fair=0.3)
    'fair'
    """
    if error > trivial:
        return "poor"
    grade = verdict(error, good=good, fair=fair)
    return "fair" if grade == "good" and 2 * error > trivial else grade


def gain_verdict(kept: float | None, value: float | None, floor: float | None) -> Grade | None:
    """Return a word for what is kept of the way from floor to ceiling.

    Where raw data teach nothing either, there is no way to keep a part of; what falls below the
    floor is poor even there.
    """
    if kept is not None:
        return verdict(kept, good=0.85, fair=0.5)
    return "poor" if value is not None and floor is not None and value < floor else None


def gain_text(kept: float | None, floor: float | None, ceiling: float | None) -> str:
    """Return the part of the way from floor to ceiling in words; never above 100 % or below 0.

    >>> gain_text(0.5, 0.6, 0.8), gain_text(5.11, 0.753, 0.757), gain_text(None, 0.75, 0.74)
    ('50.0 %', '100 %, above raw data', 'raw data below the floor')
    """
    if floor is None or ceiling is None:
        return "–"
    if kept is None:
        return "raw data below the floor" if ceiling < floor else "raw data at the floor"
    if kept < 0:
        return "0 %, below the floor"
    return "100 %, above raw data" if kept > 1 else per_cent(kept)


def worst(*grades: Grade) -> Grade:
    """Return the worst of some words.

    >>> worst("good", "poor", "fair")
    'poor'
    """
    return max(grades, key=("good", "fair", "poor").index)


def per_cent(part: float | None) -> str:
    """Return a part of one in per cent, for people.

    >>> per_cent(0.8312), per_cent(None), per_cent(0.00012)
    ('83.1 %', '–', '0.012 %')
    """
    if part is None:
        return "–"
    shown = 100 * part
    return f"{shown:.1f} %" if abs(shown) >= 1 or shown == 0 else f"{shown:.2g} %"


def _fidelity(facts: Facts) -> list[Headline]:
    """Return the errors in cells of the raw data, each with its worst column or pair."""
    against = facts["against"]
    lines = [
        ("1-way", f"1-way marginals, {against} with the wrong value", "even", (0.05, 0.15)),
        ("2-way", f"2-way marginals, {against} in the wrong cell", "even", (0.05, 0.15)),
        ("top", "counts of the ten most frequent values, off by", None, (0.1, 0.3)),
        ("means", "means, error in standard deviations", "answering-middle", (0.05, 0.2)),
    ]
    found = [
        _with_worst(facts[key], what, trivial=trivial, limits=limits)
        for key, what, trivial, limits in lines
        if facts[key] is not None
    ]
    occurs = facts["occurs"]
    if occurs is not None:
        found.append(
            Headline(
                task="fidelity",
                what="released records whose value occurs in the data, by column",
                value=_mean_and_worst(occurs),
                verdict=verdict(occurs["mean"], good=0.99, fair=0.95),
            )
        )
    return found


def _with_worst(
    facts: Facts, what: str, *, trivial: str | None, limits: tuple[float, float]
) -> Headline:
    """Return a mean error with the worst column; three times the limits bound the worst one."""
    good, fair = limits
    is_share = trivial != "answering-middle"
    grades = [
        error_verdict(
            value, trivial=1.0 if trivial is None else known[trivial], good=k * good, fair=k * fair
        )
        for k, value, known in ((1, facts["mean"], facts), (3, facts["worst"]["value"], facts))
    ]
    beside = {"even": "spread evenly", "answering-middle": "answering the middle"}
    shown = "" if trivial is None else f" ({beside[trivial]}: {_shown(facts[trivial], is_share)})"
    return Headline(
        task="fidelity",
        what=what,
        value=_mean_and_worst(facts, is_share=is_share) + shown,
        verdict=worst(*grades),
    )


def _mean_and_worst(facts: Facts, *, is_share: bool = True) -> str:
    name = " × ".join(facts["worst"]["attributes"])
    return (
        f"{_shown(facts['mean'], is_share)} on average;"
        f" worst: {name} {_shown(facts['worst']['value'], is_share)}"
    )


def _shown(value: float, is_share: bool) -> str:
    return per_cent(value) if is_share else f"{value:.3f}"


def _classification(facts: Facts) -> list[Headline]:
    release = facts["release"][facts["judged"]]
    found = []
    for learner, name in (("tree", "decision tree"), ("boosting", "gradient boosting")):
        told, floor, ceiling = release[learner], facts["floor"], facts["ceiling"][learner]
        below = ", which is below the floor" if ceiling < floor else ""
        found.append(
            Headline(
                task="classification",
                what=f"{name} learnt from the release",
                value=f"{per_cent(told)} right (floor {per_cent(floor)},"
                f" raw data {per_cent(ceiling)}{below})",
                verdict=gain_verdict(facts["kept"][learner], told, floor),
            )
        )
        found += [
            _measure(facts, "auc", learner, f"{name}, ranking rows by class (AUC)"),
            _measure(facts, "balanced-accuracy", learner, f"{name}, classes alike"),
            _measure(facts, "rare-recall", learner, f"{name}, rarer classes found", graded=False),
        ]
    return found


def _measure(
    facts: Facts, measure: str, learner: str, what: str, *, graded: bool = True
) -> Headline:
    """Return one measure beside accuracy.

    Recall has no word: answering with rare classes all the time would find all of them.
    """
    told = facts["measures"][measure]
    value = told["release"][facts["judged"]][learner]
    return Headline(
        task="classification",
        what=what,
        value=f"{per_cent(value)} (floor {per_cent(told['floor'])},"
        f" raw data {per_cent(told['ceiling'][learner])})",
        verdict=gain_verdict(told["kept"][learner], value, told["floor"]) if graded else None,
    )


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


def _people(facts: Facts) -> list[Headline]:
    counted = facts["counted"]
    found = [
        Headline(
            task="people",
            what="people all of whose records may count",
            value=f"{per_cent(facts['people-whole'])} of {facts['n-people']:,}"
            f" ({per_cent(facts['records-kept'])} of the records count)",
            verdict=None,
        )
    ]
    for name in ("people", "records"):
        told = next((each for each in facts[f"marginals-of-{name}"] if each["ways"] == 1), None)
        if told is None:
            continue
        beside = " (what it counts)" if name == counted else ""
        even = per_cent(told["even"])
        found.append(
            Headline(
                task="people",
                what=f"single values, error against {name}{beside}",
                value=f"{per_cent(told['mean'])} (spread evenly: {even})",
                verdict=error_verdict(told["mean"], trivial=told["even"], good=0.05, fair=0.15)
                if name == counted
                else None,
            )
        )
    return found


def _counting(facts: Facts) -> list[Headline]:
    counted = facts.get("against", "records")
    ranges = [
        Headline(
            task="counting",
            what=f"range queries of two attributes{_of(counted)}, error",
            value=f"{per_cent(each['median'])} in the middle, {per_cent(each['relative'])} on"
            f" average (answering 0: {per_cent(each['answering-zero'])})",
            verdict=_range_verdict(each),
        )
        for each in facts["ranges"]
        if each["attributes"] == 2
    ]
    tables = [
        Headline(
            task="counting",
            what=f"2-way marginals with numbers in 16 equal bins, {counted} in the wrong cell",
            value=f"{per_cent(each['mean'])} (spread evenly: {per_cent(each['even'])})",
            verdict=error_verdict(each["mean"], trivial=each["even"], good=0.05, fair=0.15),
        )
        for each in facts["marginals"]
        if each["ways"] == 2
    ]
    return ranges + tables


def _of(counted: str) -> str:
    return "" if counted == "records" else f", counting {counted}"


def _range_verdict(each: Facts) -> Grade:
    """Return a word for range queries: by the middle error, and by the mean beside answering 0."""
    middle = error_verdict(each["median"], trivial=each["zero-median"], good=0.1, fair=0.3)
    mean = error_verdict(each["relative"], trivial=each["answering-zero"], good=1.0, fair=1.0)
    return worst(middle, mean)


def _relations(facts: Facts) -> list[Headline]:
    found = []
    told = facts["impossible"]
    if told is not None:
        found.append(
            Headline(
                task="relations",
                what="released records in combinations that nobody has, by pair",
                value=f"{per_cent(told['mean'])} (spread evenly: {per_cent(told['even'])})",
                verdict=error_verdict(told["mean"], trivial=told["even"], good=0.01, fair=0.05),
            )
        )
    told = facts["correlations"]
    if told is not None:
        zero = told["answering-zero"]
        found.append(
            Headline(
                task="relations",
                what="correlations, mean distance",
                value=f"{told['mean-error']:.3f} (answering 0: {zero:.3f})",
                verdict=error_verdict(told["mean-error"], trivial=zero, good=0.05, fair=0.15),
            )
        )
    told = facts["mean-errors"]
    if told is not None:
        middle = told["answering-middle"]
        found.append(
            Headline(
                task="relations",
                what="means, error as a part of the domain",
                value=f"{per_cent(told['mean-error'])} (answering the middle: {per_cent(middle)})",
                verdict=error_verdict(told["mean-error"], trivial=middle, good=0.01, fair=0.05),
            )
        )
    return found


def _basket_counting(facts: Facts) -> list[Headline]:
    classes, mass = facts["classes"], facts["kept"]["mass"]
    mean, zero = (
        sum(each[key] for each in classes) / len(classes) for key in ("relative", "answering-zero")
    )
    return [
        Headline(
            task="counting",
            what="counting queries, average error",
            value=f"{per_cent(mean)} (answering 0: {per_cent(zero)})",
            verdict=error_verdict(mean, trivial=zero, good=0.05, fair=0.15),
        ),
        Headline(
            task="counting",
            what=f"{facts.get('against', 'records')} published, as a part of all",
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


def _prefixes(facts: Facts) -> list[Headline]:
    return _runs(facts, task="prefixes", what="counts of frequent prefixes")


def _substrings(facts: Facts) -> list[Headline]:
    return _runs(facts, task="substrings", what="counts of frequent substrings")


def _runs(facts: Facts, *, task: str, what: str) -> list[Headline]:
    told = [each["relative"] for each in facts["lengths"] if each["relative"] is not None]
    if not told:
        return []
    shown = ", ".join(per_cent(error) for error in told)
    return [
        Headline(
            task=task,
            what=f"{what} of 1 to {len(told)} items, average error",
            value=shown,
            verdict=verdict(max(told), good=0.05, fair=0.2),
        )
    ]


def _patterns(facts: Facts) -> list[Headline]:
    return [
        Headline(
            task="patterns",
            what=f"of the {facts['k']} most frequent patterns found, and their supports kept",
            value=f"{per_cent(facts['f1'])}, {per_cent(facts['utility'])}",
            verdict=verdict(facts["utility"], good=0.95, fair=0.8),
        )
    ]


def _lengths(facts: Facts) -> list[Headline]:
    away = facts["total-variation"]
    return [
        Headline(
            task="lengths",
            what="sequences whose length is another one",
            value=per_cent(away),
            verdict=verdict(away, good=0.02, fair=0.1),
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
