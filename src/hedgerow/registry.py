"""From the ``publish`` part of a plan to the method that runs it."""

from __future__ import annotations

from hedgerow.errors import InternalError
from hedgerow.partition.basic import Basic
from hedgerow.partition.baskets import BasketMethod
from hedgerow.partition.box_scores import BOX_SCORES
from hedgerow.partition.diffgen import DiffGen
from hedgerow.partition.diffmulti import DiffMulti
from hedgerow.partition.diffmulti_scores import multi_score
from hedgerow.partition.diffpart import DiffPart
from hedgerow.partition.hedge import Hedge
from hedgerow.partition.method import Method, PlainMethod
from hedgerow.partition.scores import SCORES
from hedgerow.plan.methods import (
    BasicPublish,
    DiffGenPublish,
    DiffMultiPublish,
    DiffPartPublish,
    HedgePublish,
)
from hedgerow.plan.publishing import PublishPlan


def method_for(publish: PublishPlan, *, has_class: bool) -> Method:
    """Return the method with the settings of a plan, for a table with or without a class."""
    if isinstance(publish, HedgePublish):
        return Hedge(score=BOX_SCORES[publish.score_name(has_class=has_class)])
    if isinstance(publish, DiffGenPublish):
        return DiffGen(
            specialisations=publish.h if isinstance(publish.h, int) else None,
            score=SCORES[publish.score_name],
            faithful=publish.faithful,
        )
    if isinstance(publish, DiffMultiPublish):
        return DiffMulti(
            specialisations=publish.h,
            score=multi_score(publish.score_name, faithful=publish.faithful),
            fair=publish.distribution == "fair",
            depth=publish.depth,
            faithful=publish.faithful,
        )
    raise InternalError(f"the plan's method {publish.method!r} is not known here")


def basket_method_for(publish: PublishPlan) -> BasketMethod:
    """Return the method for set-valued data with the settings of a plan."""
    if isinstance(publish, DiffPartPublish):
        return DiffPart(
            faithful=publish.faithful,
            false_positives=publish.false_positives,
            max_length=publish.max_length,
            c1=publish.c1,
            c2=publish.c2,
        )
    if isinstance(publish, BasicPublish):
        return Basic()
    raise InternalError(f"the plan's method {publish.method!r} is not known here")


def plain_method_for(publish: PublishPlan) -> PlainMethod:
    """Return the method without a guarantee that has the settings of a plan."""
    raise InternalError(f"the plan's method {publish.method!r} is not known here")
