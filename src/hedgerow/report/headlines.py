"""Headlines of an evaluation: the main figures, each with a rating.

The ratings are rules of thumb; docs/evaluate.md explains the figures. No figure is rated good for
its size alone: each is compared with a trivial answer that needs no release (always the most
frequent class, always 0, an even spread), and what is not better than that is poor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Grade = Literal["good", "fair", "poor"]
Facts = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One figure: its name, its value and its rating, if it has one."""

    task: str
    what: str
    value: str
    verdict: Grade | None


def headlines(facts: Facts) -> tuple[Headline, ...]:
    """Return the main figures of all measured tasks."""
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
    """Return the rating of a value; high values are good if ``good`` is above ``fair``.

    >>> verdict(0.95, good=0.9, fair=0.7), verdict(0.2, good=0.05, fair=0.15)
    ('good', 'poor')
    """
    sign = 1 if good > fair else -1
    if sign * value >= sign * good:
        return "good"
    return "fair" if sign * value >= sign * fair else "poor"


def error_verdict(error: float, *, trivial: float, good: float, fair: float) -> Grade:
    """Return the rating of an error, compared with the error of a trivial answer.

    A larger error than the trivial one is poor; a good one is at most half of it.

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
    """Return the rating of the gain kept: the share of the distance from floor to ceiling.

    There is no gain to keep if the raw data give none; a value below the floor is poor even then.
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
    """Return the worst of several ratings.

    >>> worst("good", "poor", "fair")
    'poor'
    """
    return max(grades, key=("good", "fair", "poor").index)


def per_cent(part: float | None) -> str:
    """Return a share in per cent, for display.

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
        accuracy, floor = release[learner], facts["floor"]
        ceiling = facts["ceiling"][learner]
        below = ", which is below the floor" if ceiling < floor else ""
        found.append(
            Headline(
                task="classification",
                what=f"{name} trained on the release",
                value=f"{per_cent(accuracy)} correct (floor {per_cent(floor)},"
                f" raw data {per_cent(ceiling)}{below})",
                verdict=gain_verdict(facts["kept"][learner], accuracy, floor),
            )
        )
        found += [
            _measure(facts, "auc", learner, f"{name}, AUC"),
            _measure(facts, "balanced-accuracy", learner, f"{name}, balanced accuracy"),
            _measure(
                facts, "rare-recall", learner, f"{name}, recall of rare classes", graded=False
            ),
        ]
    return found


def _measure(
    facts: Facts, measure: str, learner: str, what: str, *, graded: bool = True
) -> Headline:
    """Return a measure other than accuracy.

    Recall is not rated: always predicting rare classes would find all of them.
    """
    measured = facts["measures"][measure]
    value = measured["release"][facts["judged"]][learner]
    return Headline(
        task="classification",
        what=what,
        value=f"{per_cent(value)} (floor {per_cent(measured['floor'])},"
        f" raw data {per_cent(measured['ceiling'][learner])})",
        verdict=(
            gain_verdict(measured["kept"][learner], value, measured["floor"]) if graded else None
        ),
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
            what="people whose records are all used",
            value=f"{per_cent(facts['people-whole'])} of {facts['n-people']:,}"
            f" ({per_cent(facts['records-kept'])} of the records are used)",
            verdict=None,
        )
    ]
    for name in ("people", "records"):
        single = next((each for each in facts[f"marginals-of-{name}"] if each["ways"] == 1), None)
        if single is None:
            continue
        is_counted = name == counted
        unit = " (the unit of its counts)" if is_counted else ""
        rating = error_verdict(single["mean"], trivial=single["even"], good=0.05, fair=0.15)
        found.append(
            Headline(
                task="people",
                what=f"1-way marginals, error compared with {name}{unit}",
                value=f"{per_cent(single['mean'])} (spread evenly: {per_cent(single['even'])})",
                verdict=rating if is_counted else None,
            )
        )
    return found


def _counting(facts: Facts) -> list[Headline]:
    counted = facts.get("against", "records")
    ranges = [
        Headline(
            task="counting",
            what=f"range queries over two attributes{_of(counted)}, relative error",
            value=f"median {per_cent(each['median'])}, mean {per_cent(each['relative'])}"
            f" (answering 0: {per_cent(each['answering-zero'])})",
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
    """Return the rating of range queries: the worse of those of the median and the mean error."""
    median = error_verdict(each["median"], trivial=each["zero-median"], good=0.1, fair=0.3)
    mean = error_verdict(each["relative"], trivial=each["answering-zero"], good=1.0, fair=1.0)
    return worst(median, mean)


def _relations(facts: Facts) -> list[Headline]:
    found = []
    impossible = facts["impossible"]
    if impossible is not None:
        mean, even = impossible["mean"], impossible["even"]
        found.append(
            Headline(
                task="relations",
                what="released records with pairs of values that do not occur in the data",
                value=f"{per_cent(mean)} (spread evenly: {per_cent(even)})",
                verdict=error_verdict(mean, trivial=even, good=0.01, fair=0.05),
            )
        )
    correlations = facts["correlations"]
    if correlations is not None:
        error, zero = correlations["mean-error"], correlations["answering-zero"]
        found.append(
            Headline(
                task="relations",
                what="correlations, mean absolute error",
                value=f"{error:.3f} (answering 0: {zero:.3f})",
                verdict=error_verdict(error, trivial=zero, good=0.05, fair=0.15),
            )
        )
    means = facts["mean-errors"]
    if means is not None:
        error, middle = means["mean-error"], means["answering-middle"]
        found.append(
            Headline(
                task="relations",
                what="means, error as a share of the domain",
                value=f"{per_cent(error)} (answering the middle: {per_cent(middle)})",
                verdict=error_verdict(error, trivial=middle, good=0.01, fair=0.05),
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
            what="counting queries, mean relative error",
            value=f"{per_cent(mean)} (answering 0: {per_cent(zero)})",
            verdict=error_verdict(mean, trivial=zero, good=0.05, fair=0.15),
        ),
        Headline(
            task="counting",
            what=f"published {facts.get('against', 'records')}, as a share of all",
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
    errors = [each["relative"] for each in facts["lengths"] if each["relative"] is not None]
    if not errors:
        return []
    return [
        Headline(
            task=task,
            what=f"{what} of 1 to {len(errors)} items, mean relative error",
            value=", ".join(per_cent(error) for error in errors),
            verdict=verdict(max(errors), good=0.05, fair=0.2),
        )
    ]


def _patterns(facts: Facts) -> list[Headline]:
    return [
        Headline(
            task="patterns",
            what=f"{facts['k']} most frequent patterns: found, and supports kept",
            value=f"{per_cent(facts['f1'])}, {per_cent(facts['utility'])}",
            verdict=verdict(facts["utility"], good=0.95, fair=0.8),
        )
    ]


def _lengths(facts: Facts) -> list[Headline]:
    error = facts["total-variation"]
    return [
        Headline(
            task="lengths",
            what="sequences in the wrong cell of the distribution of lengths",
            value=per_cent(error),
            verdict=verdict(error, good=0.02, fair=0.1),
        )
    ]


def _loss(facts: Facts) -> list[Headline]:
    best = facts["records"] or facts["groups"]
    return [
        Headline(
            task="loss",
            what="generalisation of a cell (NCP)",
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
            what="highest probability that a record is matched to its person"
            + ("" if facts["certain"] else ", if rows are true records"),
            value=per_cent(highest),
            verdict=verdict(highest, good=0.05, fair=0.2) if facts["certain"] else None,
        )
    ]
