"""What each publishing method can be told: one class per method, and the list of them.

A new method is a subclass of :class:`PublishPlan` with its own settings, added to
:data:`PUBLISH_METHODS`. Plan files, overrides, messages and the JSON schema follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetCoreSchemaHandler, StrictBool, model_validator
from pydantic_core import CoreSchema, core_schema

from hedgerow.plan.fields import Epsilon, PlanModel, Steps, mistake

DEFAULT_METHOD = "diffgen"


class PublishPlan(PlanModel):
    """How to publish: the method, and the settings that this method has."""

    needs_class: ClassVar[bool] = False
    """Whether some attribute must have the role ``class``."""

    method: str


class PrivatePublishPlan(PublishPlan):
    """The settings of a differentially private method."""

    epsilon: Epsilon = Field(description="the privacy budget: a number or a fraction such as '1/2'")


class DiffGenPublish(PrivatePublishPlan):
    """DiffGen: a generalised contingency table by private top-down specialisation."""

    needs_class: ClassVar[bool] = True

    method: Literal["diffgen"] = Field("diffgen", description="the publishing method: diffgen")
    purpose: Literal["classification"] = Field(
        "classification", alias="for", description="what the release is for: classification"
    )
    h: Steps = Field(10, description="the number of specialisations, from 0, or all")
    score: Literal["gini", "max", "infogain"] | None = Field(
        None,
        description="how specialisations are compared: gini, max or infogain; gini unless"
        " faithful, then max",
    )
    faithful: StrictBool = Field(
        False, description="true to run the algorithm as the paper prints it, else false"
    )

    @model_validator(mode="after")
    def _check_score(self) -> Self:
        if self.faithful and self.score == "gini":
            raise mistake(
                "the paper has no such score",
                "Give max or infogain, or leave out faithful.",
                key=("score",),
            )
        return self

    @property
    def score_name(self) -> str:
        """The score that is used: the one given, or the default of the variant."""
        return self.score or ("max" if self.faithful else "gini")


PUBLISH_METHODS: dict[str, type[PublishPlan]] = {"diffgen": DiffGenPublish}


def method_of(value: Any) -> str | None:
    """Return the method that a ``publish`` section names, or the default one."""
    if isinstance(value, PublishPlan):
        return value.method
    if isinstance(value, Mapping):
        method = value.get("method", DEFAULT_METHOD)
        return method if isinstance(method, str) else None
    return DEFAULT_METHOD  # not a mapping at all: the method's own check says so


class _ByMethod:
    """Tells pydantic to check ``publish`` with the class of the method it names."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(model) for name, model in PUBLISH_METHODS.items()}
        return core_schema.tagged_union_schema(choices, discriminator=method_of)


AnyPublishPlan = Annotated[PublishPlan, _ByMethod]
