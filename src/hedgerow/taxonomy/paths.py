"""A tree from the paths to its leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.labels import displayed
from hedgerow.taxonomy.tree import Taxonomy


def from_paths(paths: Iterable[Sequence[str]]) -> Taxonomy:
    """Return the tree of paths from the root to each leaf.

    >>> from_paths([["any", "warm", "red"], ["any", "blue"]]).labels
    ('any', 'warm', 'red', 'blue')
    """
    number: dict[str, int] = {}
    parents: list[int] = []
    for path in paths:
        above = -1
        for label in path:
            node = number.setdefault(label, len(number))
            if node == len(parents):
                parents.append(above)
            elif parents[node] != above:
                raise TaxonomyError(
                    f"The label {displayed(label)} occurs twice.",
                    value=label,
                    do="Choose a root that is not the label of another node.",
                )
            above = node
    return Taxonomy.from_parents(list(number), parents)
