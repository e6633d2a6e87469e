"""Settings of DiffMulti."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, StrictBool, model_validator

from hedgerow.plan.fields import Clusters, Splits, TreeDepth, mistake
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


CLUSTERS = 2
"""Clusters that boxes are made for, as in the paper, unless the plan says otherwise."""


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
    clusters: Clusters | None = Field(
        None,
        description="for clustering: how many clusters records are in, 2 to 20; 2 by default",
    )
    h: Splits = Field(1000, description="the number of specialisations of all boxes, from 0")
    score: Literal["discernibility", "ncp", "max", "infogain"] | None = Field(
        None,
        description="how specialisations are compared: discernibility, ncp, max or infogain; by"
        " default max for classification, discernibility for general, ncp for counting, and by"
        " clusters for clustering",
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
                "The faithful variant has no such setting.",
                "Remove it, or change faithful.",
                key=("depth",),
            )
        return self

    @model_validator(mode="after")
    def _check_clusters(self) -> Self:
        if self.clusters is not None and (self.purpose != "clustering" or self.score is not None):
            raise mistake(
                "Only for: clustering, without a score, has clusters.",
                "Remove it, or give 'for: clustering' and no score.",
                key=("clusters",),
            )
        return self

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters that boxes are made for; ``None`` if that is not their purpose."""
        if self.purpose != "clustering" or self.score is not None:
            return None
        return self.clusters or CLUSTERS

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
        from hedgerow.methods.diffmulti.clusters import CLUSTERS as NO_CLUSTERS_YET
        from hedgerow.methods.diffmulti.diffmulti import DiffMulti
        from hedgerow.methods.diffmulti.scores import multi_score

        clustered = self.n_clusters is not None
        return DiffMulti(
            specialisations=self.h,
            score=NO_CLUSTERS_YET
            if clustered
            else multi_score(self.score_name, faithful=self.faithful),
            clusters=self.n_clusters,
            fair=self.distribution == "fair",
            depth=self.depth,
            faithful=self.faithful,
        )
