"""What the differentially private baselines can be told."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hedgerow.plan.fields import Cells, Degree, Height
from hedgerow.plan.publishing import PrivatePublishPlan


class BasicTablePublish(PrivatePublishPlan):
    """Noise on every cell of the contingency table."""

    method: Literal["basic-table"] = Field(
        "basic-table", description="the publishing method: basic-table"
    )
    cells: Cells | None = Field(
        None, description="the most cells, classes included; attributes are coarsened to fit"
    )


class RpsPublish(PrivatePublishPlan):
    """RPS: boxes by recursive private medians of attributes taken at random."""

    method: Literal["rps"] = Field("rps", description="the publishing method: rps")
    height: Height = Field(8, description="how often a box is halved, from 1 to 16")


class DPCubePublish(PrivatePublishPlan):
    """DPCube: noisy cells, a kd-tree over them, and fresh counts of its boxes."""

    method: Literal["dpcube"] = Field("dpcube", description="the publishing method: dpcube")
    cells: Cells = Field(
        65536,
        description="the most cells of the first phase, classes included; attributes are"
        " coarsened to fit",
    )


class PrivBayesPublish(PrivatePublishPlan):
    """PrivBayes: invented records from a Bayesian network with noisy marginals."""

    method: Literal["privbayes"] = Field(
        "privbayes", description="the publishing method: privbayes"
    )
    degree: Degree = Field(3, description="the most parents of an attribute, from 1 to 4")
