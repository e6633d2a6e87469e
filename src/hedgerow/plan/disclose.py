"""The part of a plan that says how single records are disclosed: at what risk, how useful.

There are three families of methods, one class each: searches of the threshold model, the
aggregate model and its approximation. Nothing of this is differentially private.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from hedgerow.plan.fields import Factor, Name, Number, Place, PlanModel, Width, mistake, shown
from hedgerow.plan.numbers import NotANumberError, exact_number, plain_number

DEFAULT_DISCLOSURE = "aruba"
_PER_CENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*", re.ASCII)
_THRESHOLD = "Give a number, a share of the record's own utility such as 60%, or half."


@dataclass(frozen=True, kw_only=True)
class UtilityThreshold:
    """How useful a record has to stay: a number, or a share of what it was worth itself."""

    value: Fraction
    of_most: bool

    def __str__(self) -> str:
        return f"{plain_number(self.value * 100)}%" if self.of_most else str(self.plain())

    def plain(self) -> int | float | str:
        """Return the threshold as a plan file writes it."""
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
        raise mistake("is neither a number nor a share", _THRESHOLD) from None
    if share and number > 100:
        raise mistake(f"{shown(value)} is out of range", "Give a share from 0% to 100%.")
    if number < 0:
        raise mistake(f"{shown(value)} is out of range", "Give 0 or a number above.")
    return UtilityThreshold(value=number / 100 if share else number, of_most=bool(share))


AtLeast = Annotated[
    UtilityThreshold,
    PlainValidator(_threshold),
    PlainSerializer(UtilityThreshold.plain),
    WithJsonSchema({"type": ["number", "string"]}),
]


def _sensitivity(value: object) -> Fraction | dict[str, Fraction]:
    if isinstance(value, Mapping):
        if not value:
            raise mistake("lists no value", "Give a weight, or labels with a weight each.")
        return {str(label): _weight(weight, (str(label),)) for label, weight in value.items()}
    return _weight(value, ())


def _weight(value: object, key: tuple[str, ...]) -> Fraction:
    try:
        number = exact_number(value)
    except NotANumberError as error:
        raise mistake(str(error), "Give a weight from 0 up.", key=key) from None
    if not 0 <= number <= 10**9:
        raise mistake("is out of range", "Give a weight from 0 to 1e9.", key=key)
    return number


def _plain_sensitivity(value: Fraction | dict[str, Fraction]) -> Any:
    if isinstance(value, dict):
        return {label: plain_number(weight) for label, weight in value.items()}
    return plain_number(value)


Sensitivity = Annotated[
    Fraction | dict[str, Fraction],
    PlainValidator(_sensitivity),
    PlainSerializer(_plain_sensitivity),
    WithJsonSchema({"type": ["number", "string", "object"]}),
]


def _weights(value: object) -> str | dict[str, str]:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, Mapping) and value:
        for attribute, column in value.items():
            if not isinstance(column, str) or not column:
                raise mistake("is not the name of a column", "Give a text.", key=(str(attribute),))
        return {str(attribute): column for attribute, column in value.items()}
    raise mistake(
        "is neither a file nor a mapping of attributes to columns",
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
    """How useful a disclosed record is, and how useful it has to stay."""

    measure: Literal["depth", "leaves", "log", "lm", "xiao-tao"] = Field(
        "depth", description="how utility is measured: depth, leaves, log, lm or xiao-tao"
    )
    at_least: AtLeast | None = Field(
        None,
        description="the least utility of a record: a number, a share of its own such as 60%, or"
        " half",
    )


class RiskPlan(PlanModel):
    """How risk is measured: by what model, whose weights, and what counts as a match."""

    model: Literal[1, 2, 3] = Field(1, description="the risk model: 1, 2 or 3")
    printed: StrictBool = Field(
        False, description="true for model 3 as the paper prints it, which is not monotone"
    )
    at_most: Width | None = Field(None, description="the most risk of a record, above 0")
    sensitivities: dict[Name, Sensitivity] = Field(
        {},
        description="a mapping of attributes to a weight, or to labels of values with a weight"
        " each",
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
        description="which records of the dictionary fit a disclosed one: hierarchical or jaro",
    )
    similar_from: Factor | None = Field(
        None, description="the least Jaro similarity of a match, from 0 to 1"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.printed and self.model != 3:
            raise mistake(
                "models 1 and 2 are as printed anyway",
                "Remove it, or choose model 3.",
                key=("printed",),
            )
        if self.similar_from is not None:
            self._check_similarity(self.similar_from)
        if self.model == 2:
            for name in ("sensitivities", "weights", "inner"):
                if name in self.model_fields_set:
                    raise mistake(
                        "model 2 looks at no weights", "Remove it, or change model.", key=(name,)
                    )
        return self

    def _check_similarity(self, least: Fraction) -> None:
        if self.consistency != "jaro":
            raise mistake(
                "only jaro compares by similarity",
                "Remove it, or set consistency: jaro.",
                key=("similar-from",),
            )
        if least > 1:
            raise mistake(
                f"{shown(plain_number(least))} is out of range",
                "Give a number from 0 to 1.",
                key=("similar-from",),
            )


class DisclosePlan(PlanModel):
    """How to disclose: the method, and what risk and utility are."""

    family: ClassVar[str]

    method: str
    utility: UtilityPlan = Field(
        UtilityPlan(), description="a mapping with the measure of utility and its threshold"
    )
    risk: RiskPlan = Field(
        RiskPlan(), description="a mapping with the risk model, its weights and its threshold"
    )
    against: Place | None = Field(
        None,
        description="the path of the attacker's dictionary, a table with the same attributes;"
        " without it, the data",
    )

    def _refuse(self, section: str, key: str, why: str, do: str) -> None:
        raise mistake(why, do, key=(section, key))

    def _refuse_unlike_threshold(self) -> None:
        """Refuse what the aggregate model and its approximation cannot be told."""
        if self.risk.model == 3:
            self._refuse("risk", "model", f"{self.method} has no model 3", "Give 1 or 2.")
        if self.risk.consistency != "hierarchical":
            self._refuse(
                "risk",
                "consistency",
                f"{self.method} needs a risk that falls with every generalisation",
                "Leave it out, or choose another method.",
            )
        if self.utility.at_least is not None:
            self._refuse(
                "utility", "at-least", f"{self.method} has no such threshold", "Remove it."
            )


class ThresholdDisclose(DisclosePlan):
    """The threshold model: the least risk at a utility, or the most utility at a risk."""

    family: ClassVar[str] = "threshold"

    method: Literal["aruba", "btda", "branch-and-bound", "brute-force"] = Field(
        "aruba", description="the search: aruba, btda, branch-and-bound or brute-force"
    )
    rate: Factor | None = Field(
        None,
        description="for the least risk minus rate times utility, from 0 up; in place of both"
        " thresholds",
    )

    @model_validator(mode="after")
    def _check_goal(self) -> Self:
        given = {
            ("utility", "at-least"): self.utility.at_least,
            ("risk", "at-most"): self.risk.at_most,
            ("rate",): self.rate,
        }
        goals = [key for key, value in given.items() if value is not None]
        if len(goals) > 1:
            raise mistake(
                f"{'.'.join(goals[0])} is given, too",
                "Keep one of: utility.at-least, risk.at-most, rate.",
                key=goals[1],
            )
        if self.rate is not None and self.method in ("aruba", "btda"):
            raise mistake(
                f"{self.method} needs a threshold",
                "Choose branch-and-bound or brute-force, or give a threshold.",
                key=("rate",),
            )
        return self

    @property
    def threshold(self) -> UtilityThreshold | None:
        """The utility to keep: half, if nothing is asked for; nothing under another goal."""
        if self.risk.at_most is not None or self.rate is not None:
            return None
        return self.utility.at_least or UtilityThreshold(value=Fraction(1, 2), of_most=True)


class AggregateDisclose(DisclosePlan):
    """The aggregate model: low risk and high utility in one number, exactly."""

    family: ClassVar[str] = "aggregate"

    method: Literal["aggregate"] = Field("aggregate", description="the method: aggregate")
    risk_weight: Factor = Field(
        Fraction(100),
        alias="lambda",
        description="the weight of low risk against utility, from 0 up; the paper's, times the"
        " size of the dictionary",
    )
    power: Factor = Field(
        Fraction(1), alias="kappa", description="the power of utility: 0, or a number from 1 up"
    )
    floor: Factor = Field(
        Fraction(1), description="what is added to the sensitivity of every form, from 0 up"
    )
    top: Literal["allowed", "excluded"] = Field(
        "allowed",
        description="whether the form that says nothing is allowed or excluded; with floor 0 it"
        " must be excluded",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unlike_threshold()
        if self.risk.at_most is not None:
            self._refuse("risk", "at-most", "aggregate has no such threshold", "Remove it.")
        if 0 < self.power < 1:
            raise mistake(
                f"{shown(plain_number(self.power))} is out of range",
                "Give 0 or a number from 1 up.",
                key=("kappa",),
            )
        if self.floor == 0 and self.top == "allowed" and self.risk.model != 2:
            raise mistake(
                "the form that says nothing would always be the best",
                "Give a floor above 0, or 'top: excluded'.",
                key=("floor",),
            )
        if self.top == "excluded" and self.power.denominator > 1:
            raise mistake(
                "only whole powers can leave out the form that says nothing",
                "Give a whole kappa, or allow that form.",
                key=("top",),
            )
        return self


class ApproxDisclose(DisclosePlan):
    """The approximated threshold model: about the most utility at a risk."""

    family: ClassVar[str] = "approx"

    method: Literal["approx"] = Field("approx", description="the method: approx")
    width: Width = Field(
        Fraction(1, 10), description="how wide slices of sensitivity are, above 0 (epsilon)"
    )
    share: Width = Field(
        Fraction(1, 2),
        description="which share of the matches that it needs a form must have, above 0, at most"
        " 1 (sigma 1)",
    )
    excess: Number = Field(
        Fraction(2), description="how far sensitivity may exceed its slice, from 1 up (sigma 2)"
    )
    floor: Width = Field(
        Fraction(1), description="what is added to the sensitivity of every form, above 0"
    )
    faithful: StrictBool = Field(
        False, description="true to round at random as the paper prints it, else false"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unlike_threshold()
        if self.risk.at_most is None:
            self._refuse("risk", "at-most", "is missing", "Give the most risk of a record.")
        if self.share > 1:
            raise mistake("is out of range", "Give a number above 0, at most 1.", key=("share",))
        if self.excess < 1:
            raise mistake("is out of range", "Give a number from 1 up.", key=("excess",))
        return self


DISCLOSE_FAMILIES: dict[str, type[DisclosePlan]] = {
    "threshold": ThresholdDisclose,
    "aggregate": AggregateDisclose,
    "approx": ApproxDisclose,
}

DISCLOSE_METHODS: dict[str, type[DisclosePlan]] = {
    "aruba": ThresholdDisclose,
    "btda": ThresholdDisclose,
    "branch-and-bound": ThresholdDisclose,
    "brute-force": ThresholdDisclose,
    "aggregate": AggregateDisclose,
    "approx": ApproxDisclose,
}


def family_of(value: Any) -> str | None:
    """Return the family of the method that a ``disclose`` section names, or of the default."""
    if isinstance(value, DisclosePlan):
        return value.family
    method = value.get("method", DEFAULT_DISCLOSURE) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping):
        method = DEFAULT_DISCLOSURE  # not a mapping at all: the method's own check says so
    model = DISCLOSE_METHODS.get(method) if isinstance(method, str) else None
    return None if model is None else model.family


class _ByFamily:
    """Tells pydantic to check ``disclose`` with the class of the method it names."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {
            name: handler.generate_schema(model) for name, model in DISCLOSE_FAMILIES.items()
        }
        return core_schema.tagged_union_schema(choices, discriminator=family_of)


AnyDisclosePlan: TypeAlias = Annotated[DisclosePlan, _ByFamily]


def check_disclosed_attributes(plan: DisclosePlan, roles: Mapping[str, str]) -> None:
    """Refuse weights of attributes that are not disclosed, or in columns that are not read."""
    predictors = [name for name, role in roles.items() if role == "predictor"]
    named: dict[str, Any] = {"sensitivities": plan.risk.sensitivities}
    if isinstance(plan.risk.weights, dict):
        named["weights"] = plan.risk.weights
        for name, column in plan.risk.weights.items():
            if roles.get(column, "drop") != "drop":
                raise mistake(
                    f"the column {shown(column)} has the role {roles[column]}",
                    "Give a column of its own, which the plan does not list or drops.",
                    key=("disclose", "risk", "weights", name),
                )
    for section, weights in named.items():
        for name in weights:
            if name not in predictors:
                raise mistake(
                    "is not an attribute with the role predictor",
                    f"Give one of: {', '.join(predictors)[:300]}.",
                    key=("disclose", "risk", section, name),
                )
