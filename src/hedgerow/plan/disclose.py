"""The part of a plan for the disclosure of single records: method, risk and utility.

There are three families of methods, one class each: searches of the threshold model, the
aggregate model and its approximation. Nothing of this is differentially private.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, GetCoreSchemaHandler, StrictBool, model_validator
from pydantic_core import CoreSchema, core_schema

from hedgerow.plan.disclose_parts import RiskPlan, Severity, UtilityPlan, UtilityThreshold
from hedgerow.plan.fields import (
    Factor,
    Name,
    Number,
    Place,
    PlanModel,
    Width,
    mistake,
    shown,
)
from hedgerow.plan.numbers import plain_number

__all__ = [
    "DEFAULT_DISCLOSURE",
    "DISCLOSE_FAMILIES",
    "DISCLOSE_METHODS",
    "AggregateDisclose",
    "AnyDisclosePlan",
    "ApproxDisclose",
    "DisclosePlan",
    "RiskPlan",
    "Severity",
    "ThresholdDisclose",
    "UtilityPlan",
    "UtilityThreshold",
    "check_disclosed_attributes",
    "family_of",
]

DEFAULT_DISCLOSURE = "aruba"


class DisclosePlan(PlanModel):
    """Settings of a disclosure: the method, and the measures of risk and utility."""

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
    recipient: Name | None = Field(
        None,
        description="the name of the recipient: earlier disclosures to them count towards the risk",
    )
    key: Name | None = Field(
        None,
        description=(
            "the column that identifies records among those disclosed before, one key for each"
            " record; by default their values"
        ),
    )
    memory: Place | None = Field(
        None,
        description=(
            "the path of the file that remembers all disclosures; by default given.sqlite beside"
            " the plan"
        ),
    )
    first: StrictBool = Field(
        False, description="true if this recipient has nothing yet, else false"
    )

    @model_validator(mode="after")
    def _check_recipient(self) -> Self:
        if self.recipient is None:
            for key in ("key", "memory", "first"):
                if getattr(self, key):
                    raise mistake(
                        "This setting needs a recipient.",
                        "Name the recipient with 'recipient: NAME', or remove this setting.",
                        key=(key,),
                    )
        elif self.risk.consistency != "hierarchical" or self.risk.printed:
            raise mistake(
                "Earlier disclosures to a recipient add up only if risk falls with every"
                " generalisation.",
                "Leave out 'consistency' and 'printed', or the recipient.",
                key=("recipient",),
            )
        return self

    def _refuse(self, section: str, key: str, why: str, do: str) -> None:
        raise mistake(why, do, key=(section, key))

    def _refuse_unlike_threshold(self) -> None:
        """Refuse settings that the aggregate model and its approximation do not have."""
        if self.risk.model == 3:
            self._refuse("risk", "model", f"{self.method} has no model 3.", "Give 1 or 2.")
        if self.risk.consistency != "hierarchical":
            self._refuse(
                "risk",
                "consistency",
                f"{self.method} needs a risk that falls with every generalisation.",
                "Leave it out, or choose another method.",
            )


class ThresholdDisclose(DisclosePlan):
    """The threshold model: the least risk at a utility, or the largest utility at a risk."""

    family: ClassVar[str] = "threshold"

    method: Literal["aruba", "btda", "branch-and-bound", "brute-force"] = Field(
        "aruba", description="the search: aruba, btda, branch-and-bound or brute-force"
    )
    rate: Factor | None = Field(
        None,
        description=(
            "the rate, from 0 up, to minimise risk minus rate times utility; instead of both"
            " thresholds"
        ),
    )
    moves: Literal["squares", "cube"] = Field(
        "squares",
        description=(
            "the walk of aruba along the frontier: squares, or cube as the paper prints it, which"
            " finds the same generalisation more slowly"
        ),
    )

    @model_validator(mode="after")
    def _check_goal(self) -> Self:
        thresholds = {
            ("utility", "at-least"): self.utility.at_least,
            ("risk", "at-most"): self.risk.at_most,
            ("rate",): self.rate,
        }
        goals = [key for key, value in thresholds.items() if value is not None]
        if len(goals) > 1:
            raise mistake(
                f"{'.'.join(goals[0])} is set as well.",
                "Keep one of: utility.at-least, risk.at-most, rate.",
                key=goals[1],
            )
        if self.rate is not None and self.method in ("aruba", "btda"):
            raise mistake(
                f"{self.method} needs a threshold.",
                "Choose branch-and-bound or brute-force, or give a threshold.",
                key=("rate",),
            )
        if self.moves != "squares" and self.method != "aruba":
            raise mistake(
                f"{self.method} does not walk along the frontier.",
                "Remove it, or choose the method aruba.",
                key=("moves",),
            )
        return self

    @property
    def threshold(self) -> UtilityThreshold | None:
        """The utility to keep: half by default, none under another goal."""
        if self.risk.at_most is not None or self.rate is not None:
            return None
        return self.utility.at_least or UtilityThreshold(value=Fraction(1, 2), of_most=True)


class AggregateDisclose(DisclosePlan):
    """The aggregate model: low risk and high utility in one number, exactly."""

    family: ClassVar[str] = "aggregate"

    method: Literal["aggregate"] = Field("aggregate", description="the method: aggregate")
    risk_weight: Factor = Field(
        alias="lambda",
        description=(
            "the weight of low risk against utility, from 0 up; the paper's, times the size of the"
            " dictionary"
        ),
    )
    power: Factor = Field(
        Fraction(1), alias="kappa", description="the power of utility: 0, or a number from 1 up"
    )
    floor: Factor = Field(
        Fraction(1), description="the constant added to every severity, from 0 up"
    )
    top: Literal["allowed", "excluded"] = Field(
        "allowed",
        description=(
            "allowed or excluded: whether a record may become its most general form; with floor 0"
            " it must be excluded"
        ),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unlike_threshold()
        if self.risk.at_most is not None:
            self._refuse(
                "risk", "at-most", "The method aggregate has no such threshold.", "Remove it."
            )
        if self.utility.at_least is not None:
            self._refuse(
                "utility", "at-least", "The method aggregate has no such threshold.", "Remove it."
            )
        if 0 < self.power < 1:
            raise mistake(
                f"{shown(plain_number(self.power))} is out of range.",
                "Give 0 or a number from 1 up.",
                key=("kappa",),
            )
        if self.floor == 0 and self.top == "allowed" and self.risk.model != 2:
            raise mistake(
                "The most general form of a record would always be the best.",
                "Give a floor above 0, or 'top: excluded'.",
                key=("floor",),
            )
        if self.top == "excluded" and self.power.denominator > 1:
            raise mistake(
                "Only whole powers can exclude the most general form.",
                "Give a whole kappa, or allow that form.",
                key=("top",),
            )
        return self


class ApproxDisclose(DisclosePlan):
    """The approximated threshold model: close to the largest utility at a risk, or the dual.

    With ``utility: {at-least: ...}`` instead of a limit on risk, close to the least risk there.
    """

    family: ClassVar[str] = "approx"

    method: Literal["approx"] = Field("approx", description="the method: approx")
    width: Width = Field(
        Fraction(1, 10), description="the width of the slices of severity, above 0 (epsilon)"
    )
    share: Width = Field(
        Fraction(1, 2),
        description=(
            "the share of the required matches that a generalisation must have, above 0, at most 1"
            " (sigma 1)"
        ),
    )
    excess: Number = Field(
        Fraction(2),
        description="the factor by which severity may exceed its slice, from 1 up (sigma 2)",
    )
    floor: Width = Field(Fraction(1), description="the constant added to every severity, above 0")
    faithful: StrictBool = Field(
        False, description="true to round at random as the paper prints it, else false"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unlike_threshold()
        if self.risk.at_most is None and self.utility.at_least is None:
            self._refuse(
                "risk",
                "at-most",
                "This setting is missing.",
                (
                    "Give the largest risk of a record, or the least utility: 'utility:"
                    " {at-least: ...}'."
                ),
            )
        if self.risk.at_most is not None and self.utility.at_least is not None:
            self._refuse(
                "utility", "at-least", "'risk.at-most' is set as well.", "Keep one of the two."
            )
        for name in ("share", "excess", "faithful"):
            if self.dual and name in self.model_fields_set and getattr(self, name) is not False:
                raise mistake(
                    "This setting has no meaning with 'utility.at-least'.",
                    "Remove it: with 'utility.at-least' the best result of rounding is taken.",
                    key=(name,),
                )
        if self.share > 1:
            raise mistake(
                "The value is out of range.", "Give a number above 0, at most 1.", key=("share",)
            )
        if self.excess < 1:
            raise mistake("The value is out of range.", "Give a number from 1 up.", key=("excess",))
        return self

    @property
    def dual(self) -> bool:
        """Return whether the goal is the least risk at a utility."""
        return self.risk.at_most is None


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
    """Return the family of the method in a ``disclose`` section, or of the default."""
    if isinstance(value, DisclosePlan):
        return value.family
    method = value.get("method", DEFAULT_DISCLOSURE) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping):
        method = DEFAULT_DISCLOSURE  # not a mapping: the method's own check reports it
    model = DISCLOSE_METHODS.get(method) if isinstance(method, str) else None
    return None if model is None else model.family


class _ByFamily:
    """Instruction to pydantic to check ``disclose`` with the class of its method."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {
            name: handler.generate_schema(model) for name, model in DISCLOSE_FAMILIES.items()
        }
        return core_schema.tagged_union_schema(choices, discriminator=family_of)


AnyDisclosePlan: TypeAlias = Annotated[DisclosePlan, _ByFamily]


def check_disclosed_attributes(plan: DisclosePlan, roles: Mapping[str, str]) -> None:
    """Refuse weights of attributes that are not disclosed, or in columns that are not read."""
    if plan.key is not None and roles.get(plan.key, "drop") not in ("drop", "identifier"):
        raise mistake(
            f"The column {shown(plan.key)} has the role {roles[plan.key]}.",
            "Give a column that is not disclosed: an identifier, or one that the plan does not"
            " list or drops.",
            key=("disclose", "key"),
        )
    if isinstance(plan.risk.weights, dict) and plan.key in plan.risk.weights.values():
        raise mistake(
            "This is also a column of weights.",
            "Give a column of its own.",
            key=("disclose", "key"),
        )
    predictors = [name for name, role in roles.items() if role == "predictor"]
    named: dict[str, Any] = {"severities": plan.risk.severities}
    if isinstance(plan.risk.weights, dict):
        named["weights"] = plan.risk.weights
        for name, column in plan.risk.weights.items():
            if roles.get(column, "drop") != "drop":
                raise mistake(
                    f"The column {shown(column)} has the role {roles[column]}.",
                    "Give a column of its own, which the plan does not list or drops.",
                    key=("disclose", "risk", "weights", name),
                )
    for section, weights in named.items():
        for name in weights:
            if name not in predictors:
                raise mistake(
                    "This is not an attribute with the role predictor.",
                    f"Give one of: {', '.join(predictors)[:300]}.",
                    key=("disclose", "risk", section, name),
                )
