"""Settings of private disclosure: every record at its own best generalisation, published.

Three methods: `supermodular` (pure epsilon), `truthful` (no invented records, with a delta)
and `sample` (the printed algorithm, with the delta that can be proved for it).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    Field,
    PlainSerializer,
    PlainValidator,
    StrictBool,
    WithJsonSchema,
    model_validator,
)

from hedgerow.plan.disclose import Sensitivity
from hedgerow.plan.fields import Delta, Factor, Name, PlanModel, Portion, Width, mistake, shown
from hedgerow.plan.numbers import plain_number
from hedgerow.plan.publishing import PrivatePublishPlan

MAX_COUNT = 10**12


def _depths(value: object) -> dict[str, tuple[int, ...]]:
    if not isinstance(value, Mapping) or not value:
        raise mistake(
            "is not a mapping of attributes to depths",
            "Give, for example, {age: [0, 1, 2]}; 0 is the root.",
        )
    return {str(name): _depth_list(listed, str(name)) for name, listed in value.items()}


def _depth_list(value: object, name: str) -> tuple[int, ...]:
    whole = isinstance(value, list | tuple) and all(
        isinstance(each, int) and not isinstance(each, bool) and 0 <= each <= 255 for each in value
    )
    if not whole or not value:
        raise mistake(
            "is not a list of depths", "Give whole numbers from 0, the root, up.", key=(name,)
        )
    return tuple(sorted(set(value)))  # type: ignore[call-overload]  # whole numbers, as checked


Depths = Annotated[
    dict[str, tuple[int, ...]],
    PlainValidator(_depths),
    PlainSerializer(lambda depths: {name: list(listed) for name, listed in depths.items()}),
    WithJsonSchema(
        {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "integer", "minimum": 0},
            },
        }
    ),
]


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_COUNT:
        raise mistake(f"{shown(value)} is out of range", "Give a whole number from 1 up.")
    return value


Count: TypeAlias = Annotated[
    int,
    PlainValidator(_count),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_COUNT}),
]


class PersonalPlan(PlanModel):
    """Each person's own factor on the sensitivities, as a value of the record says."""

    by: Name = Field(description="the attribute whose value says how sensitive a person is")
    factors: dict[Name, Factor] = Field(
        description="a mapping of that attribute's values to factors, from 0; others have 1"
    )


class PrivateDisclosurePlan(PrivatePublishPlan):
    """What private disclosure weighs: risk, utility, and the generalisations to choose from."""

    measure: Literal["depth", "leaves", "log", "lm", "xiao-tao"] = Field(
        "depth", description="how utility is measured: depth, leaves, log, lm or xiao-tao"
    )
    risk_weight: Factor | None = Field(
        None,
        alias="lambda",
        description="the weight of low risk against utility, from 0 up; by default half of the"
        " most utility to the power kappa",
    )
    power: Factor = Field(
        Fraction(1), alias="kappa", description="the power of utility: 0, or a number from 1 up"
    )
    floor: Width = Field(
        Fraction(1), description="what is added to the sensitivity of every form, above 0"
    )
    model: Literal[1, 2] = Field(
        1, description="the risk model: 1, by sensitivities, or 2, the same for everybody"
    )
    sensitivities: dict[Name, Sensitivity] = Field(
        {},
        description="a mapping of attributes to a weight, or to labels of values with a weight"
        " each",
    )
    personal: PersonalPlan | None = Field(
        None, description="a mapping with an attribute and the factors of its values"
    )
    levels: Depths | None = Field(
        None,
        description="a mapping of attributes to the depths of their taxonomies that may be"
        " disclosed; by a public rule where it is not given",
    )

    @model_validator(mode="after")
    def _check_weighing(self) -> Self:
        if 0 < self.power < 1:
            raise mistake(
                f"{shown(plain_number(self.power))} is out of range",
                "Give 0 or a number from 1 up.",
                key=("kappa",),
            )
        if self.model == 2:
            for name in ("sensitivities", "personal", "floor"):
                if name in self.model_fields_set:
                    raise mistake(
                        "model 2 looks at no weights", "Remove it, or change model.", key=(name,)
                    )
        return self

    def refuse(self, key: str, what: str, do: str) -> Any:
        """Return the mistake of a setting of this method."""
        return mistake(what, do, key=(key,))


class SupermodularPublish(PrivateDisclosurePlan):
    """supermodular: every record's best generalisation by a private synopsis; pure epsilon."""

    method: Literal["supermodular"] = Field(
        "supermodular", description="the publishing method: supermodular"
    )
    share: Portion = Field(
        Fraction(2, 5),
        description="the part of epsilon that buys the synopsis, above 0 and below 1",
    )
    threshold: Count = Field(
        1, description="the least records that a generalisation must seem to fit, from 1 up"
    )
    rate: Portion | None = Field(
        None,
        description="the part of the records to use, chosen at random and kept secret, above 0"
        " and below 1; all, if not given",
    )


class TruthfulPublish(PrivateDisclosurePlan):
    """truthful: true generalisations of a random sample, in groups that are large enough."""

    method: Literal["truthful"] = Field("truthful", description="the publishing method: truthful")
    delta: Delta = Field(
        description="the chance that the guarantee fails, above 0 and below 1: a number such as"
        " 1e-6"
    )
    share: Portion = Field(
        Fraction(2, 5),
        description="the part of epsilon that buys the synopsis, above 0 and below 1",
    )
    threshold: Count = Field(
        1, description="the least records that a generalisation must seem to fit, from 1 up"
    )
    rate: Portion | None = Field(
        None,
        description="the part of the records to publish, above 0 and below 1; by default the"
        " largest that the budget allows",
    )

    @model_validator(mode="after")
    def _check_delta(self) -> Self:
        if self.delta == 0:
            raise self.refuse(
                "delta",
                "true records cannot be published with delta 0",
                "Give a small number above 0, such as 1e-6, or use supermodular.",
            )
        return self


class SamplePublish(PrivateDisclosurePlan):
    """sample: the printed algorithm, whose guarantee is next to none."""

    method: Literal["sample"] = Field("sample", description="the publishing method: sample")
    faithful: StrictBool = Field(
        False, description="true: this method exists only as the paper prints it"
    )
    version: Literal["utility", "risk"] = Field(
        "utility",
        description="what generalisations are drawn by: utility, or risk at a utility of at-least",
    )
    at_least: Factor | None = Field(
        None, description="the least utility of a generalisation, from 0; for version risk"
    )
    beta: Portion = Field(
        Fraction(1, 2),
        description="the part of the records that is left out, above e^-epsilon and below 1",
    )
    theta: Portion = Field(
        Fraction(1, 10),
        description="the least part of all records that a generalisation must fit, above 0 and"
        " below 1",
    )
    least_records: Count = Field(
        description="a number that the table surely has more records than, known to the public"
    )

    @model_validator(mode="after")
    def _check_version(self) -> Self:
        if not self.faithful:
            raise self.refuse(
                "faithful",
                "the printed algorithm promises nothing worth having, so it is run on request only",
                "Give 'faithful: true', or use supermodular or truthful.",
            )
        if (self.version == "risk") != (self.at_least is not None):
            raise self.refuse(
                "at-least",
                "version risk needs it, and version utility has none",
                "Give at-least and 'version: risk', or neither.",
            )
        if self.version == "risk" and self.model == 2:
            raise self.refuse("model", "version risk weighs sensitivities", "Give 1.")
        if self.version == "risk" and self.risk_weight is not None:
            raise self.refuse("lambda", "version risk has no such weight", "Remove it.")
        return self
