"""The owner's page of an evaluation: all figures as texts, tables and charts."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from hedgerow.draw.plots import bars
from hedgerow.errors import visible
from hedgerow.report.headlines import Facts, headlines
from hedgerow.report.page import rendered

LEARNER_NAMES = {
    "tree": "decision tree",
    "bayes": "naive Bayes",
    "svm": "linear SVM",
    "boosting": "gradient boosting",
}
LEARNERS = tuple(LEARNER_NAMES)


def render(facts: Facts) -> str:
    """Return the page as self-contained HTML."""
    return rendered(
        "evaluation.html.j2",
        facts=facts,
        release=facts["release"],
        headlines=headlines(facts),
        learners=LEARNERS,
        names=LEARNER_NAMES,
        plots=_plots(facts),
    )


def _plots(facts: Facts) -> dict[str, Any]:
    """Return the charts of the tasks that were measured, as safe markup."""
    from markupsafe import Markup

    is_baskets = facts["release"]["kind"] == "baskets"
    makers = {
        "fidelity": _columns,
        "classification": _accuracies,
        "clustering": _matches,
        "counting": _classes if is_baskets else _ranges,
        "marginals": _marginals,
        "itemsets": _top,
        "risk": _risks,
    }
    found = {}
    for name, make in makers.items():
        # Numbers and fixed texts need no escaping; matplotlib escapes names of columns in SVG.
        drawn = make(facts)
        if drawn is not None:
            found[name] = Markup(drawn)  # noqa: S704
    return found


MOST_BARS = 6
"""Columns whose errors are drawn, those furthest off."""


def _columns(facts: Facts) -> str | None:
    if "fidelity" not in facts:
        return None
    ordered = sorted(facts["fidelity"]["columns"], key=lambda each: -float(each["error"]))
    shown = ordered[:MOST_BARS]
    series: dict[str, list[float | None]] = {
        "release": [each["error"] for each in shown],
        "spread evenly": [each["even"] for each in shown],
    }
    labels = [_short(each["attributes"][0]) for each in shown]
    return bars(labels, series, what="records with the wrong value, %", quiet=["spread evenly"])


def _short(name: str) -> str:
    """Return the name of a column for an axis, on two lines if it is long."""
    lines = wrap(visible(name), 13)[:2]
    return "\n".join(lines)


def _accuracies(facts: Facts) -> str | None:
    if "classification" not in facts:
        return None
    task = facts["classification"]
    series: dict[str, list[float | None]] = {}
    for way, name in (("boxes", "release: groups"), ("records", "release: synthetic records")):
        if task["release"][way] is not None:
            series[name] = [task["release"][way][learner] for learner in LEARNERS]
    series["raw data (ceiling)"] = [task["ceiling"][learner] for learner in LEARNERS]
    values = [each for column in series.values() for each in column if each is not None]
    return bars(
        [LEARNER_NAMES[learner] for learner in LEARNERS],
        series,
        what="records classified correctly, %",
        quiet=["raw data (ceiling)"],
        line=("most frequent class (floor)", task["floor"]),
        lowest=max(0.0, min([task["floor"], *values]) - 0.05),
    )


def _matches(facts: Facts) -> str | None:
    if "clustering" not in facts:
        return None
    matches = facts["clustering"]["match-points"]
    series = {
        "records generalised": [each["generalised"] for each in matches],
        "clusters of the release": [each["release"] for each in matches],
        "by chance": [each["by-chance"] for each in matches],
    }
    if all(value is None for value in series["records generalised"]):
        del series["records generalised"]
    labels = [f"{each['clusters']} clusters" for each in matches]
    return bars(labels, series, what="Match Point, %", quiet=["by chance"])


def _ranges(facts: Facts) -> str | None:
    if "counting" not in facts or not facts["counting"]["ranges"]:
        return None
    ranges = facts["counting"]["ranges"]
    series = {
        "release, median": [each["median"] for each in ranges],
        "release, mean": [each["relative"] for each in ranges],
        "answering 0, mean": [each["answering-zero"] for each in ranges],
    }
    labels = [f"{each['attributes']}-way ranges" for each in ranges]
    return bars(labels, series, what="relative error, %", quiet=["answering 0, mean"])


def _marginals(facts: Facts) -> str | None:
    if "marginals" not in facts.get("counting", {}):
        return None
    marginals = facts["counting"]["marginals"]
    series = {
        "mean": [each["mean"] for each in marginals],
        "worst": [each["worst"] for each in marginals],
    }
    labels = [f"{each['ways']}-way marginals" for each in marginals]
    return bars(labels, series, what="total variation, %", quiet=["worst"])


def _classes(facts: Facts) -> str | None:
    if "counting" not in facts:
        return None
    classes = facts["counting"]["classes"]
    series = {
        "release": [each["relative"] for each in classes],
        "answering 0": [each["answering-zero"] for each in classes],
    }
    labels = [f"up to {each['longest-query']} items" for each in classes]
    return bars(labels, series, what="relative error, %", quiet=["answering 0"])


def _top(facts: Facts) -> str | None:
    if "itemsets" not in facts:
        return None
    top = facts["itemsets"]["top"]
    series = {
        "supports kept": [each["utility"] for each in top],
        "itemsets found": [each["found"] for each in top],
    }
    return bars([f"top {each['k']}" for each in top], series, what="utility, %")


def _risks(facts: Facts) -> str | None:
    risk = facts.get("risk")
    if risk is None or not risk["applicable"] or risk["release"] is None or risk["raw"] is None:
        return None

    def heights(table: Facts) -> list[float | None]:
        attackers = (table["prosecutor"], table["journalist"])
        means = [each[key] for each in attackers for key in ("highest", "mean")]
        return [*means, table["marketer"], table["uniques"]]

    labels = ["prosecutor\nhighest", "mean", "journalist\nhighest", "mean", "marketer", "uniques"]
    series = {"release": heights(risk["release"]), "raw data": heights(risk["raw"])}
    return bars(labels, series, what="risk, %", quiet=["raw data"])
