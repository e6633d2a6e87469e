"""From the ``publish`` part of a plan to the method that runs it."""

from __future__ import annotations

from hedgerow.errors import InternalError
from hedgerow.partition.diffgen import DiffGen
from hedgerow.partition.method import Method
from hedgerow.partition.scores import SCORES
from hedgerow.plan.methods import DiffGenPublish, PublishPlan


def method_for(publish: PublishPlan) -> Method:
    """Return the method with the settings of a plan."""
    if isinstance(publish, DiffGenPublish):
        return DiffGen(
            specialisations=publish.h if isinstance(publish.h, int) else None,
            score=SCORES[publish.score_name],
            faithful=publish.faithful,
        )
    raise InternalError(f"the plan's method {publish.method!r} is not known here")
