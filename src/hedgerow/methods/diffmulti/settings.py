"""What DiffMulti can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, StrictBool, model_validator

from hedgerow.plan.fields import Splits, TreeDepth, mistake
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class DiffMultiSettings(PrivateSettings):
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

    def refuses_people(self, *, has_class: bool) -> str | None:
        """Say why ``count: people`` is not offered with these settings; ``None`` where it is."""
        if self.score_name in ("infogain", "discernibility"):
            return f"the score {self.score_name} is not shown to follow the weight of a record"
        return None

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.methods.diffmulti.diffmulti import DiffMulti
        from hedgerow.methods.diffmulti.scores import multi_score

        return DiffMulti(
            specialisations=self.h,
            score=multi_score(self.score_name, faithful=self.faithful),
            fair=self.distribution == "fair",
            depth=self.depth,
            faithful=self.faithful,
        )
