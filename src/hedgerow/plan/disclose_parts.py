"""The parts of a ``disclose`` section for utility and risk: thresholds, weights, models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    WithJsonSchema,
    model_validator,
)

from hedgerow.plan.fields import Factor, Name, PlanModel, Width, mistake, respelt, shown
from hedgerow.plan.numbers import NotANumberError, exact_number, plain_number

_PER_CENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*", re.ASCII)
_THRESHOLD = "Give a number, a share of the record's own utility such as 60%, or half."


@dataclass(frozen=True, kw_only=True)
class UtilityThreshold:
    """The least utility of a record: a number, or a share of the record's own utility."""

    value: Fraction
    of_most: bool

    def __str__(self) -> str:
        return f"{plain_number(self.value * 100)}%" if self.of_most else str(self.plain())

    def plain(self) -> int | float | str:
        """Return the threshold as it is written in a plan file."""
        return str(self) if self.of_most else plain_number(self.value)


def _threshold(value: object) -> UtilityThreshold:
    if isinstance(value, UtilityThreshold):
        return value
    if value == "half":
        return UtilityThreshold(value=Fraction(1, 2), of_most=True)
    share = _PER_CENT.fullmatch(value) if isinstance(value, str) else None
    try:
        number = exact_number(share[1] if share else value)
    except NotANumberError:
        raise mistake("This is neither a number nor a share.", _THRESHOLD) from None
    if share and number > 100:
        raise mistake(f"{shown(value)} is out of range.", "Give a share from 0% to 100%.")
    if number < 0:
        raise mistake(f"{shown(value)} is out of range.", "Give 0 or a number above.")
    return UtilityThreshold(value=number / 100 if share else number, of_most=bool(share))


AtLeast = Annotated[
    UtilityThreshold,
    PlainValidator(_threshold),
    PlainSerializer(UtilityThreshold.plain),
    WithJsonSchema({"type": ["number", "string"]}),
]


def _severity(value: object) -> Fraction | dict[str, Fraction]:
    if isinstance(value, Mapping):
        if not value:
            raise mistake("The list is empty.", "Give a weight, or labels with a weight each.")
        return {str(label): _weight(weight, (str(label),)) for label, weight in value.items()}
    return _weight(value, ())


def _weight(value: object, key: tuple[str, ...]) -> Fraction:
    try:
        number = exact_number(value)
    except NotANumberError as error:
        raise mistake(str(error), "Give a weight from 0 up.", key=key) from None
    if not 0 <= number <= 10**9:
        raise mistake("The value is out of range.", "Give a weight from 0 to 1e9.", key=key)
    return number


def _plain_severity(value: Fraction | dict[str, Fraction]) -> Any:
    if isinstance(value, dict):
        return {label: plain_number(weight) for label, weight in value.items()}
    return plain_number(value)


Severity = Annotated[
    Fraction | dict[str, Fraction],
    PlainValidator(_severity),
    PlainSerializer(_plain_severity),
    WithJsonSchema({"type": ["number", "string", "object"]}),
]


def _weights(value: object) -> str | dict[str, str]:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, Mapping) and value:
        for attribute, column in value.items():
            if not isinstance(column, str) or not column:
                raise mistake(
                    "This is not the name of a column.", "Give a text.", key=(str(attribute),)
                )
        return {str(attribute): column for attribute, column in value.items()}
    raise mistake(
        "This is neither a file nor a mapping of attributes to columns.",
        "Give the path of a table with one row per record, or {attribute: column}.",
    )


Weights = Annotated[
    str | dict[str, str],
    PlainValidator(_weights),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        }
    ),
]


class UtilityPlan(PlanModel):
    """The measure of utility and the least utility of a disclosed record."""

    measure: Literal["depth", "leaves", "log", "lm", "xiao-tao"] = Field(
        "depth", description="the measure of utility: depth, leaves, log, lm or xiao-tao"
    )
    at_least: AtLeast | None = Field(
        None,
        description="the least utility of a record: a number, a share of its own such as 60%, or"
        " half",
    )


class RiskPlan(PlanModel):
    """The measure of risk: the model, the weights, and the definition of a match."""

    model: Literal[1, 2, 3] = Field(1, description="the risk model: 1, 2 or 3")
    printed: StrictBool = Field(
        False, description="true for model 3 as the paper prints it, which is not monotone"
    )
    at_most: Width | None = Field(None, description="the largest risk of a record, above 0")
    severities: dict[Name, Severity] = Field(
        {},
        description="a mapping of attributes to a weight, or to labels of values with weights",
    )
    weights: Weights | None = Field(
        None,
        description="each person's own weights: the path of a table with one row per record, or a"
        " mapping of attributes to columns",
    )
    inner: Literal["harmonic", "constant"] = Field(
        "harmonic", description="the weight of a generalised value: harmonic or constant"
    )
    consistency: Literal["hierarchical", "jaro"] = Field(
        "hierarchical",
        description=(
            "the rule by which records of the dictionary match a disclosed one: hierarchical or"
            " jaro"
        ),
    )
    similar_from: Factor | None = Field(
        None, description="the least Jaro similarity of a match, from 0 to 1"
    )

    @model_validator(mode="before")
    @classmethod
    def _respelt(cls, value: object) -> object:
        return respelt(value, sensitivities="severities")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.printed and self.model != 3:
            raise mistake(
                "Models 1 and 2 are as printed anyway.",
                "Remove it, or choose model 3.",
                key=("printed",),
            )
        if self.similar_from is not None:
            self._check_similarity(self.similar_from)
        if self.model == 2:
            for name in ("severities", "weights", "inner"):
                if name in self.model_fields_set:
                    raise mistake(
                        "Model 2 uses no weights.", "Remove it, or change 'model'.", key=(name,)
                    )
        return self

    def _check_similarity(self, least: Fraction) -> None:
        if self.consistency != "jaro":
            raise mistake(
                "Only jaro compares by similarity.",
                "Remove it, or set 'consistency: jaro'.",
                key=("similar-from",),
            )
        if least > 1:
            raise mistake(
                f"{shown(plain_number(least))} is out of range.",
                "Give a number from 0 to 1.",
                key=("similar-from",),
            )
