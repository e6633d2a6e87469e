"""Open the confidential data of a plan by their kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.count.settings import EngineSettings
from hedgerow.encode.schema import schema_of
from hedgerow.encode.universe import universe_of
from hedgerow.model.people import KeyedRule
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.pipeline.kinds.items import BasketKind, SequenceKind
from hedgerow.pipeline.kinds.kind import DataKind, Held
from hedgerow.pipeline.kinds.table import TableKind
from hedgerow.pipeline.place import DataPlace, Opening
from hedgerow.plan.model import Plan
from hedgerow.progress import Progress

if TYPE_CHECKING:
    from hedgerow.encode.sums import ColumnSums


def kind_of(plan: Plan) -> DataKind:
    """Return the kind of data that a plan describes, with its domains laid out."""
    return kind_over(schema_of(plan) if plan.items is None else universe_of(plan))


def kind_over(domain: Schema | Universe) -> DataKind:
    """Return the kind of data over a domain."""
    if isinstance(domain, Schema):
        return TableKind(schema=domain)
    return (SequenceKind if domain.place.ordered else BasketKind)(universe=domain)


def open_engine(
    domain: Schema | Universe,
    place: DataPlace,
    *,
    settings: EngineSettings,
    progress: Progress,
    sums: ColumnSums | None = None,
    people: KeyedRule | None = None,
) -> Held:
    """Return an engine that holds the data of a place; close it after use."""
    opening = Opening(place=place, settings=settings, progress=progress, sums=sums, people=people)
    return kind_over(domain).open(opening)
