"""Settings of DiffGen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, StrictBool, model_validator

from hedgerow.plan.fields import Steps, mistake
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class DiffGenSettings(PrivateSettings):
    """DiffGen: a generalised contingency table by private top-down specialisation."""

    needs_class: ClassVar[bool] = True

    method: Literal["diffgen"] = Field("diffgen", description="the publishing method: diffgen")
    purpose: Literal["classification"] = Field(
        "classification", alias="for", description="what the release is for: classification"
    )
    h: Steps = Field(
        10,
        description="the number of specialisations, from 0; auto, by a noisy number of"
        " records; or all",
    )
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
                "The paper has no such score.",
                "Give max or infogain, or leave out faithful.",
                key=("score",),
            )
        return self

    @property
    def score_name(self) -> str:
        """The score that is used: the one given, or the default of the variant."""
        return self.score or ("max" if self.faithful else "gini")

    def refuses_people(self, *, has_class: bool) -> str | None:
        """Say why ``count: people`` is not offered with these settings; ``None`` where it is."""
        if self.score_name == "infogain":
            return f"the score {self.score_name} is not shown to follow the weight of a record"
        return None

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.methods.diffgen.diffgen import DiffGen
        from hedgerow.trees.scores import SCORES

        return DiffGen(
            specialisations=None if self.h == "all" else self.h,
            score=SCORES[self.score_name],
            faithful=self.faithful,
        )
