"""The default publishing methods, in a small module, so that the command line loads little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

DEFAULT_METHOD = "weave"
DEFAULT_READABLE_METHOD = "hedge"
DEFAULT_BASKET_METHOD = "coterie"
DEFAULT_SEQUENCE_METHOD = "chain"

READABLE = "table"
"""Purpose of a release that people read: a generalised table."""

LEAST_STRENGTH = 225
"""Strength from which weave predicts a class about as well as hedge (research/weave.md)."""

USUAL_BOUND = 4
"""Records of one person that are assumed where the bound is chosen from the data."""


@dataclass(frozen=True, kw_only=True)
class DefaultChoice:
    """The default method for a table, and the reason in one sentence."""

    method: str
    reason: str


def table_choice(purpose: str | None, strength: Fraction | None) -> DefaultChoice:
    """Return the default method for a table; all that it depends on is public.

    ``strength`` is epsilon * records / columns, ``None`` where the plan does not give the number
    of records.

    >>> table_choice("general", Fraction(2000)).method
    'weave'
    >>> table_choice("classification", Fraction(100)).method
    'hedge'
    """
    if purpose == READABLE:
        return DefaultChoice(
            method=DEFAULT_READABLE_METHOD,
            reason="hedge is the default for a generalised table to read ('for: table').",
        )
    if purpose == "classification" and strength is not None and strength < LEAST_STRENGTH:
        return DefaultChoice(
            method=DEFAULT_READABLE_METHOD,
            reason="hedge is the default for predicting one class from few records: epsilon times"
            f" records per column is {float(strength):,.0f}, below {LEAST_STRENGTH}.",
        )
    return DefaultChoice(
        method=DEFAULT_METHOD, reason="weave is the default for rows that others analyse."
    )


def strength_of(
    epsilon: Fraction, *, records: int | None, n_columns: int, bound: int | None
) -> Fraction | None:
    """Return epsilon * records / columns; with a bound, epsilon is that of one record."""
    if records is None or n_columns < 1:
        return None
    return epsilon * records / (n_columns * (bound or 1))


def written_choice(plan: Mapping[str, Any], publish: Mapping[str, Any]) -> DefaultChoice:
    """Return the default method for the table of a plan as written, before it is checked.

    What is not written correctly is reported when the plan is checked.
    """
    attributes = plan.get("attributes")
    columns = list(attributes.values()) if isinstance(attributes, Mapping) else []
    released = [each for each in columns if _role(each) in ("predictor", "class")]
    try:
        epsilon = Fraction(str(publish.get("epsilon")))
    except (ValueError, ZeroDivisionError):
        return table_choice(_text(publish.get("for")), None)
    bound = plan.get("records-per-person")
    counted = plan.get("count") == "people"
    strength = strength_of(
        epsilon,
        records=_whole(plan.get("records")),
        n_columns=len(released),
        bound=None if counted else USUAL_BOUND if bound == "auto" else _whole(bound),
    )
    return table_choice(_text(publish.get("for")), strength)


def _role(column: object) -> object:
    return column.get("role", "predictor") if isinstance(column, Mapping) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
