"""The owner's page of an evaluation: every figure in words, tables and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.draw.plots import bars
from hedgerow.report.finish import finished
from hedgerow.report.headlines import Facts, gain_text, headlines, per_cent
from hedgerow.report.page import shown_whole

if TYPE_CHECKING:
    from jinja2 import Template


LEARNER_NAMES = {
    "tree": "decision tree",
    "bayes": "naive Bayes",
    "svm": "linear SVM",
    "boosting": "gradient boosting",
}
LEARNERS = tuple(LEARNER_NAMES)


def render(facts: Facts) -> str:
    """Return the page as HTML with its style and plots inside."""
    return finished(
        _template().render(
            facts=facts,
            release=facts["release"],
            headlines=headlines(facts),
            learners=LEARNERS,
            names=LEARNER_NAMES,
            plots=_plots(facts),
        )
    )


def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("hedgerow.report", "templates"),
        autoescape=True,
        finalize=shown_whole,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["per_cent"] = per_cent
    environment.filters["gain"] = gain_text
    environment.filters["zip"] = zip
    environment.filters["whole"] = lambda number: f"{round(number):,}"
    return environment.get_template("evaluation.html.j2")


def _plots(facts: Facts) -> dict[str, Any]:
    """Return the plots of what was measured, safe to be put in the page as they are."""
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
        # Numbers and our own words need no escaping; matplotlib escapes names of columns in SVG.
        drawn = make(facts)
        if drawn is not None:
            found[name] = Markup(drawn)  # noqa: S704
    return found


MOST_BARS = 12
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
    labels = [str(each["attributes"][0])[:16] for each in shown]
    return bars(labels, series, what="records with the wrong value, %", quiet=["spread evenly"])


def _accuracies(facts: Facts) -> str | None:
    if "classification" not in facts:
        return None
    told = facts["classification"]
    series: dict[str, list[float | None]] = {}
    for way, name in (("boxes", "release: groups"), ("records", "release: drawn records")):
        if told["release"][way] is not None:
            series[name] = [told["release"][way][learner] for learner in LEARNERS]
    series["raw data (ceiling)"] = [told["ceiling"][learner] for learner in LEARNERS]
    values = [each for column in series.values() for each in column if each is not None]
    return bars(
        [LEARNER_NAMES[learner] for learner in LEARNERS],
        series,
        what="records classified rightly, %",
        quiet=["raw data (ceiling)"],
        line=("most frequent class (floor)", told["floor"]),
        lowest=max(0.0, min([told["floor"], *values]) - 0.05),
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
    told = facts["counting"]["ranges"]
    series = {
        "release, middle": [each["median"] for each in told],
        "release, mean": [each["relative"] for each in told],
        "answering 0, mean": [each["answering-zero"] for each in told],
    }
    labels = [f"{each['attributes']}-way ranges" for each in told]
    return bars(labels, series, what="relative error, %", quiet=["answering 0, mean"])


def _marginals(facts: Facts) -> str | None:
    if "marginals" not in facts.get("counting", {}):
        return None
    told = facts["counting"]["marginals"]
    series = {
        "mean": [each["mean"] for each in told],
        "worst": [each["worst"] for each in told],
    }
    labels = [f"{each['ways']}-way tables" for each in told]
    return bars(labels, series, what="total variation, %", quiet=["worst"])


def _classes(facts: Facts) -> str | None:
    if "counting" not in facts:
        return None
    told = facts["counting"]["classes"]
    series = {
        "release": [each["relative"] for each in told],
        "answering 0": [each["answering-zero"] for each in told],
    }
    labels = [f"up to {each['longest-query']} items" for each in told]
    return bars(labels, series, what="relative error, %", quiet=["answering 0"])


def _top(facts: Facts) -> str | None:
    if "itemsets" not in facts:
        return None
    told = facts["itemsets"]["top"]
    series = {
        "supports kept": [each["utility"] for each in told],
        "itemsets found": [each["found"] for each in told],
    }
    return bars([f"top {each['k']}" for each in told], series, what="utility, %")


def _risks(facts: Facts) -> str | None:
    told = facts.get("risk")
    if told is None or not told["applicable"] or told["release"] is None or told["raw"] is None:
        return None

    def of(risk: Facts) -> list[float | None]:
        attackers = (risk["prosecutor"], risk["journalist"])
        means = [each[key] for each in attackers for key in ("highest", "mean")]
        return [*means, risk["marketer"], risk["uniques"]]

    labels = ["prosecutor\nhighest", "mean", "journalist\nhighest", "mean", "marketer", "uniques"]
    series = {"release": of(told["release"]), "raw data": of(told["raw"])}
    return bars(labels, series, what="risk, %", quiet=["raw data"])
