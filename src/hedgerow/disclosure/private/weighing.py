"""Settings shared by the methods of private disclosure: weights of risk and utility."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from hedgerow.plan.disclose import Severity
from hedgerow.plan.fields import Factor, Name, PlanModel, Width, mistake, respelt, shown
from hedgerow.plan.numbers import plain_number
from hedgerow.plan.settings import PrivateSettings

MAX_COUNT = 10**12


def _depths(value: object) -> dict[str, tuple[int, ...]]:
    if not isinstance(value, Mapping) or not value:
        raise mistake(
            "This is not a mapping of attributes to depths.",
            "Give, for example, {age: [0, 1, 2]}; 0 is the root.",
        )
    return {str(name): _depth_list(listed, str(name)) for name, listed in value.items()}


def _depth_list(value: object, name: str) -> tuple[int, ...]:
    whole = isinstance(value, list | tuple) and all(
        isinstance(each, int) and not isinstance(each, bool) and 0 <= each <= 255 for each in value
    )
    if not whole or not value:
        raise mistake(
            "This is not a list of depths.", "Give whole numbers from 0, the root, up.", key=(name,)
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
        raise mistake(f"{shown(value)} is out of range.", "Give a whole number from 1 up.")
    return value


Count: TypeAlias = Annotated[
    int,
    PlainValidator(_count),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_COUNT}),
]


class PersonalFactors(PlanModel):
    """Each person's own factor on the severities, by a value of the record."""

    by: Name = Field(description="the attribute whose value says how sensitive a person is")
    factors: dict[Name, Factor] = Field(
        description="a mapping of that attribute's values to factors, from 0; others have 1"
    )


class PersonalSettings(PrivateSettings):
    """The weights of risk and utility, and the generalisations to choose from."""

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
        Fraction(1), description="what is added to the severity of every form, above 0"
    )
    model: Literal[1, 2] = Field(
        1, description="the risk model: 1, by severities, or 2, the same for everybody"
    )
    severities: dict[Name, Severity] = Field(
        {},
        description="a mapping of attributes to a weight, or to labels of values with a weight"
        " each",
    )
    personal: PersonalFactors | None = Field(
        None, description="a mapping with an attribute and the factors of its values"
    )
    levels: Depths | None = Field(
        None,
        description="a mapping of attributes to the depths of their taxonomies that may be"
        " disclosed; by a public rule where it is not given",
    )

    @model_validator(mode="before")
    @classmethod
    def _respelt(cls, value: object) -> object:
        return respelt(value, sensitivities="severities")

    @model_validator(mode="after")
    def _check_weighing(self) -> Self:
        if 0 < self.power < 1:
            raise mistake(
                f"{shown(plain_number(self.power))} is out of range.",
                "Give 0 or a number from 1 up.",
                key=("kappa",),
            )
        if self.model == 2:
            for name in ("severities", "personal", "floor"):
                if name in self.model_fields_set:
                    raise mistake(
                        "Model 2 uses no weights.", "Remove it, or change the model.", key=(name,)
                    )
        return self

    def refuse(self, key: str, what: str, do: str) -> Any:
        """Return the mistake of a setting of this method."""
        return mistake(what, do, key=(key,))
