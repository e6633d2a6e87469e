"""From the ``publish`` part of a plan to the method that runs it."""

from __future__ import annotations

from hedgerow.errors import InternalError
from hedgerow.methods.basic.basic import Basic
from hedgerow.methods.basic_table.basic_table import BasicTable
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.scores import multi_score
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.methods.dpcube.dpcube import TwoPhaseCube
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.methods.kanonymity.full_domain import FullDomain
from hedgerow.methods.kanonymity.mondrian import Mondrian
from hedgerow.methods.kanonymity.tds import TopDownSpecialisation
from hedgerow.methods.personal.methods import private_disclosure_for
from hedgerow.methods.privbayes.privbayes import BayesianNetwork
from hedgerow.methods.rps.rps import RecursiveMedians
from hedgerow.model.method import BasketMethod, Method, PlainMethod
from hedgerow.plan.baselines import (
    BasicTablePublish,
    DPCubePublish,
    PrivBayesPublish,
    RpsPublish,
)
from hedgerow.plan.k_anonymity import FullDomainPublish, MondrianPublish, TdsPublish
from hedgerow.plan.methods import (
    BasicPublish,
    DiffGenPublish,
    DiffMultiPublish,
    DiffPartPublish,
    HedgePublish,
)
from hedgerow.plan.private_disclosure import PrivateDisclosurePlan
from hedgerow.plan.publishing import PublishPlan
from hedgerow.trees.box_scores import BOX_SCORES
from hedgerow.trees.scores import SCORES


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
    if isinstance(publish, PrivateDisclosurePlan):
        return private_disclosure_for(publish)
    return _private_baseline_for(publish)


def _private_baseline_for(publish: PublishPlan) -> Method:
    if isinstance(publish, BasicTablePublish):
        return BasicTable(cells=publish.cells)
    if isinstance(publish, RpsPublish):
        return RecursiveMedians(height=publish.height)
    if isinstance(publish, DPCubePublish):
        return TwoPhaseCube(cells=publish.cells)
    if isinstance(publish, PrivBayesPublish):
        return BayesianNetwork(degree=publish.degree)
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
    if isinstance(publish, MondrianPublish):
        return Mondrian(
            k=publish.k,
            relaxed=publish.relaxed,
            by_class=publish.purpose == "classification",
            ordered=publish.categories == "order",
        )
    if isinstance(publish, TdsPublish):
        return TopDownSpecialisation(k=publish.k)
    if isinstance(publish, FullDomainPublish):
        return FullDomain(
            k=publish.k,
            cost=publish.score,
            suppression=publish.suppression,
            fan_out=publish.fan_out,
        )
    raise InternalError(f"the plan's method {publish.method!r} is not known here")
