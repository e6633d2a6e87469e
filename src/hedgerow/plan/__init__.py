"""The plan file: attributes, roles, domains, method and budget."""

from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.load import dump_plan, load_plan, plan_digest, plan_mapping, plan_of
from hedgerow.plan.methods import (
    PUBLISH_METHODS,
    BasicPublish,
    DiffGenPublish,
    DiffPartPublish,
    HedgePublish,
)
from hedgerow.plan.model import AttributePlan, LedgerPlan, Plan
from hedgerow.plan.publishing import PrivatePublishPlan, PublishPlan

__all__ = [
    "PUBLISH_METHODS",
    "AttributePlan",
    "BasicPublish",
    "DiffGenPublish",
    "DiffPartPublish",
    "HedgePublish",
    "ItemsPlan",
    "LedgerPlan",
    "Plan",
    "PrivatePublishPlan",
    "PublishPlan",
    "dump_plan",
    "load_plan",
    "plan_digest",
    "plan_mapping",
    "plan_of",
]
