"""From the ``publish`` part of a plan to the method of private disclosure that runs it."""

from __future__ import annotations

from fractions import Fraction

from hedgerow.errors import InternalError
from hedgerow.methods.personal.sample import PrintedSample
from hedgerow.methods.personal.supermodular import SupermodularDisclosure
from hedgerow.methods.personal.terms import Terms
from hedgerow.methods.personal.truthful import TruthfulDisclosure
from hedgerow.model.method import Method
from hedgerow.plan.private_disclosure import (
    PrivateDisclosurePlan,
    SamplePublish,
    SupermodularPublish,
    TruthfulPublish,
)


def private_disclosure_for(publish: PrivateDisclosurePlan) -> Method:
    """Return the method with the settings of a plan."""
    terms = Terms(plan=publish)
    if isinstance(publish, SupermodularPublish):
        return SupermodularDisclosure(
            terms=terms, share=publish.share, threshold=publish.threshold, rate=publish.rate
        )
    if isinstance(publish, TruthfulPublish):
        return TruthfulDisclosure(
            terms=terms,
            share=publish.share,
            threshold=publish.threshold,
            rate=publish.rate,
            delta_given=publish.delta,
        )
    if isinstance(publish, SamplePublish):
        return PrintedSample(
            terms=terms,
            version=publish.version,
            at_least=publish.at_least or Fraction(0),
            beta=publish.beta,
            theta=publish.theta,
            least_records=publish.least_records,
        )
    raise InternalError(f"the plan's method {publish.method!r} is not known here")
