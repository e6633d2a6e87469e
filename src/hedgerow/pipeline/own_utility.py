"""A custodian's own utility function in a run: where it may stand, and its trial before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hedgerow.errors import PlanError
from hedgerow.model.schema import Schema
from hedgerow.plan.model import Plan

if TYPE_CHECKING:
    from hedgerow.methods.diffmulti.own_utility import OwnUtility


def check_own_utility(plan: Plan, utility: OwnUtility) -> None:
    """Refuse a utility function where nothing would use it, or nothing is shown of it."""
    publish = plan.publish
    if publish is None or publish.method != "diffmulti":
        raise PlanError(
            "Only the method diffmulti takes a utility function.",
            where="utility",
            do="Give 'method: diffmulti', or leave the function out.",
        )
    if getattr(publish, "score", None) is not None:
        raise PlanError(
            f"The score of the plan and the utility function {utility.name!r} exclude each other.",
            where="publish.score",
            do="Remove the score, or leave the function out.",
        )
    if getattr(publish, "purpose", None) == "clustering":
        raise PlanError(
            f"'for: clustering' and the utility function {utility.name!r} exclude each other.",
            where="publish.for",
            do="Remove 'for', or leave the function out.",
        )
    if plan.count == "people":
        raise PlanError(
            "A utility function is not shown to follow the weight of a record.",
            where="count",
            do="Give 'count: records'.",
        )


def with_own_utility(method: Any, utility: OwnUtility, schema: Schema) -> Any:
    """Return DiffMulti with the function as its score, if no simulated table refutes it."""
    from hedgerow.methods.diffmulti.try_utility import try_utility

    classes = schema.class_attribute
    n_classes = 1 if classes is None else classes.domain.size
    try_utility(utility, n_classes=n_classes).check()
    return replace(method, score=utility.score())
