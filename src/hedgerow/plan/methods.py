"""What each publishing method can be told: one class per method, and the list of them.

A new method is a subclass of :class:`hedgerow.plan.publishing.PublishPlan` with its own
settings, added to :data:`PUBLISH_METHODS`. Plan files, overrides, messages and the JSON
schema follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, GetCoreSchemaHandler, StrictBool, model_validator
from pydantic_core import CoreSchema, core_schema

from hedgerow.plan.baselines import (
    BasicTablePublish,
    DPCubePublish,
    PrivBayesPublish,
    RpsPublish,
)
from hedgerow.plan.fields import Factor, Length, Splits, Steps, TreeDepth, Width, mistake
from hedgerow.plan.k_anonymity import FullDomainPublish, MondrianPublish, TdsPublish
from hedgerow.plan.private_disclosure import SamplePublish, SupermodularPublish, TruthfulPublish
from hedgerow.plan.publishing import PrivatePublishPlan, PublishPlan

DEFAULT_METHOD = "hedge"
DEFAULT_BASKET_METHOD = "diffpart"


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


class DiffMultiPublish(PrivatePublishPlan):
    """DiffMulti: boxes of their own for every region, by private top-down specialisation."""

    method: Literal["diffmulti"] = Field(
        "diffmulti", description="the publishing method: diffmulti"
    )
    purpose: Literal["classification", "general", "clustering", "counting"] = Field(
        "general",
        alias="for",
        description="what the release is for: classification, general, clustering or counting",
    )
    h: Splits = Field(1000, description="the number of specialisations of all boxes, from 0")
    score: Literal["discernibility", "ncp", "max", "infogain"] | None = Field(
        None,
        description="how specialisations are compared: discernibility, ncp, max or infogain; by"
        " default max for classification, discernibility for general, ncp otherwise",
    )
    distribution: Literal["fair", "even"] = Field(
        "fair",
        description="how specialisations are handed down: fair, by noisy counts, or even",
    )
    depth: TreeDepth | None = Field(
        None, description="the most specialisations on a path; unless faithful"
    )
    faithful: StrictBool = Field(
        False, description="true to run the algorithm as the paper prints it, else false"
    )

    @model_validator(mode="after")
    def _check_depth(self) -> Self:
        if self.faithful and self.depth is not None:
            raise mistake(
                "the faithful variant has no such setting",
                "Remove it, or change faithful.",
                key=("depth",),
            )
        return self

    @property
    def score_name(self) -> Literal["discernibility", "ncp", "max", "infogain"]:
        """The score that is used: the one given, or that of the purpose."""
        if self.score is not None:
            return self.score
        if self.purpose == "classification":
            return "max"
        return "discernibility" if self.purpose == "general" else "ncp"


class HedgePublish(PrivatePublishPlan):
    """hedge: boxes grown together and then apart, for any purpose."""

    method: Literal["hedge"] = Field("hedge", description="the publishing method: hedge")
    purpose: Literal["classification", "clustering", "counting", "general"] | None = Field(
        None,
        alias="for",
        description="what the release is for: classification, clustering, counting or general;"
        " classification where there is a class, else general",
    )
    score: Literal["gini", "ncp", "skew"] | None = Field(
        None, description="how splits are compared: gini, ncp or skew; by the purpose"
    )

    def class_needed(self) -> bool:
        """Whether the settings make no sense without a class."""
        return self.purpose == "classification" or self.score == "gini"

    def score_name(self, *, has_class: bool) -> str:
        """The score that is used: the one given, or the purpose's own."""
        if self.score is not None:
            return self.score
        purpose = self.purpose or ("classification" if has_class else "general")
        scores = {"classification": "gini", "general": "ncp"}
        return scores.get(purpose, "skew")


class DiffPartPublish(PrivatePublishPlan):
    """DiffPart: baskets by private top-down partitioning over a taxonomy of the items."""

    publishes: ClassVar[Literal["table", "baskets"]] = "baskets"

    method: Literal["diffpart"] = Field("diffpart", description="the publishing method: diffpart")
    false_positives: Width = Field(
        Fraction(1, 20),
        description="how many partitions without records may pass a test by noise alone, on"
        " average; unless faithful",
    )
    max_length: Length | None = Field(
        None, description="the most items of a record, longer ones are cut; unless faithful"
    )
    faithful: StrictBool = Field(
        False, description="true to run the algorithm as the paper prints it, else false"
    )
    c1: Factor | None = Field(
        None, description="the factor of the threshold of counts; if faithful"
    )
    c2: Factor | None = Field(None, description="the factor of the threshold of tests; if faithful")

    def applying(self) -> dict[str, Any]:
        """Return the settings of the variant that is run."""
        others = {name.replace("_", "-") for name in self._of_the_other_variant()}
        return {name: value for name, value in super().applying().items() if name not in others}

    def _of_the_other_variant(self) -> tuple[str, ...]:
        return ("false_positives", "max_length") if self.faithful else ("c1", "c2")

    @model_validator(mode="after")
    def _check_variant(self) -> Self:
        for name in self._of_the_other_variant():
            if name in self.model_fields_set and getattr(self, name) is not None:
                raise mistake(
                    "the faithful variant has no such setting"
                    if self.faithful
                    else "only the faithful variant has this setting",
                    "Remove it, or change faithful.",
                    key=(name.replace("_", "-"),),
                )
        return self


class BasicPublish(PrivatePublishPlan):
    """Basic: noise on the count of every possible basket, for small universes."""

    publishes: ClassVar[Literal["table", "baskets"]] = "baskets"

    method: Literal["basic"] = Field("basic", description="the publishing method: basic")


PUBLISH_METHODS: dict[str, type[PublishPlan]] = {
    "hedge": HedgePublish,
    "diffgen": DiffGenPublish,
    "diffmulti": DiffMultiPublish,
    "diffpart": DiffPartPublish,
    "basic": BasicPublish,
    "basic-table": BasicTablePublish,
    "rps": RpsPublish,
    "dpcube": DPCubePublish,
    "privbayes": PrivBayesPublish,
    "supermodular": SupermodularPublish,
    "truthful": TruthfulPublish,
    "sample": SamplePublish,
    "mondrian": MondrianPublish,
    "tds": TdsPublish,
    "full-domain": FullDomainPublish,
}


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
