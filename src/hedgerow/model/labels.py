"""Labels of ranges and codes in published tables and pictures."""

from __future__ import annotations

from hedgerow.model.groups import Ranges
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.domain import CategoricalDomain, Domain


def count_column(schema: Schema) -> str:
    """Return the name of the count column: ``count``, or a longer one if that is taken."""
    taken = {attribute.name for attribute in schema.used()}
    name = "count"
    while name in taken:
        name = f"noisy_{name}"
    return name


def range_labels(domain: Domain, ranges: Ranges) -> list[str]:
    """Return the label of each range of one attribute; no two are the same."""
    pairs = list(zip(ranges.first.tolist(), ranges.stop.tolist(), strict=True))
    labels = [domain.label(first, stop) for first, stop in pairs]
    if len(set(labels)) == len(labels):
        return labels
    return [f"{label} #{first}-{stop}" for label, (first, stop) in zip(labels, pairs, strict=True)]


def leaf_labels(domain: Domain) -> list[str]:
    """Return the label of each code of a domain, in the order of codes."""
    if isinstance(domain, CategoricalDomain):
        return list(domain.taxonomy.leaf_labels)
    return [domain.label(code, code + 1) for code in range(domain.size)]
