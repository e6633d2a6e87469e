"""The plan's section on disclosure as a form, and the section from a sent form."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hedgerow.errors import InputError
from hedgerow.plan.numbers import NotANumberError, exact_number, plain_number
from hedgerow.studio.shell import Sent

MEASURES = ("depth", "leaves", "log", "lm", "xiao-tao")
DISCLOSERS = ("aruba", "btda", "branch-and-bound", "brute-force", "aggregate", "approx")
_EDITED = ("method", "utility", "risk", "against", "lambda", "kappa")


def section_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan's section on disclosure, empty if there is none."""
    section = data.get("disclose")
    return dict(section) if isinstance(section, Mapping) else {}


def weighed_columns(data: Mapping[str, Any]) -> list[str]:
    """Return the columns that are disclosed and can have weights."""
    attributes = data.get("attributes")
    if not isinstance(attributes, Mapping):
        return []
    return [
        str(name)
        for name, spec in attributes.items()
        if isinstance(spec, Mapping) and spec.get("role", "predictor") == "predictor"
    ]


def shown_weights(section: Mapping[str, Any], columns: list[str]) -> list[dict[str, str]]:
    """Return each column with its weight, the weights of its values, and individual weights."""
    risk = section.get("risk")
    severities = risk.get("severities", {}) if isinstance(risk, Mapping) else {}
    people = risk.get("weights") if isinstance(risk, Mapping) else None
    found = []
    for name in columns:
        severity = severities.get(name) if isinstance(severities, Mapping) else None
        by_value = severity if isinstance(severity, Mapping) else {}
        found.append(
            {
                "name": name,
                "weight": "" if severity is None or by_value else str(severity),
                "values": "\n".join(f"{label}: {weight}" for label, weight in by_value.items()),
                "person": str(people.get(name, "")) if isinstance(people, Mapping) else "",
            }
        )
    return found


def section_from(form: Sent, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section described by a form; settings outside the form are kept."""
    method = form.need("method")
    section = {key: value for key, value in before.items() if key not in _EDITED}
    section["method"] = method
    utility: dict[str, Any] = {}
    if form.get("measure") and form.get("measure") != "depth":
        utility["measure"] = form.get("measure")
    risk = _risk(form)
    if method == "aggregate":
        section["lambda"] = _number(form.get("lambda") or "4", "lambda")
        if form.get("kappa"):
            section["kappa"] = _number(form.get("kappa"), "kappa")
    elif form.get("goal") == "risk" or method == "approx":
        risk["at-most"] = _number(form.get("at-most") or "0.1", "at-most")
    else:
        at_least = form.get("at-least").strip() or "half"
        is_share = at_least == "half" or at_least.endswith("%")
        utility["at-least"] = at_least if is_share else _number(at_least, "at-least")
    if utility:
        section["utility"] = utility
    if risk:
        section["risk"] = risk
    if form.get("against").strip():
        section["against"] = form.get("against").strip()
    return section


def _risk(form: Sent) -> dict[str, Any]:
    risk: dict[str, Any] = {}
    model = form.get("model") or "1"
    if model != "1":
        risk["model"] = int(model) if model in ("2", "3") else 1
    if model == "2":
        return risk
    severities, people = {}, {}
    for name in form.all("column"):
        weight = form.get(f"weight:{name}").strip()
        values = _values(form.get(f"values:{name}"))
        if values:
            severities[name] = values
        elif weight:
            severities[name] = _number(weight, name)
        if form.get(f"person:{name}").strip():
            people[name] = form.get(f"person:{name}").strip()
    if severities:
        risk["severities"] = severities
    if form.get("weights-file").strip():
        risk["weights"] = form.get("weights-file").strip()
    elif people:
        risk["weights"] = people
    return risk


def _values(text: str) -> dict[str, Any]:
    found = {}
    for line in text.splitlines():
        if line.strip():
            label, _, weight = line.rpartition(":")
            if not label.strip():
                raise InputError(
                    "A line has no label.", where="weights of values", do="Write 'label: weight'."
                )
            found[label.strip()] = _number(weight, label.strip())
    return found


def _number(text: str, where: str) -> Any:
    try:
        number = plain_number(exact_number(text.strip()))
        # Numbers of plan files are read exactly as written, so they are written exactly.
        return Decimal(str(number)) if isinstance(number, float) else number
    except NotANumberError:
        raise InputError("This is not a number.", where=where, do="Give a number.") from None
