"""The disclosed table: each record's values at the levels that were found for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.model.labels import leaf_labels
from hedgerow.model.table import EncodedTable
from hedgerow.release.table import labelled
from hedgerow.taxonomy.domain import Domain

if TYPE_CHECKING:
    import pyarrow as pa


def disclosed_nodes(
    table: EncodedTable,
    chains: tuple[Chains, ...],
    levels: NDArray[np.uint8],
    feasible: NDArray[np.bool_],
) -> list[NDArray[np.int32]]:
    """Return the taxonomy node of each record and attribute, the root for withheld records."""
    return [
        np.where(feasible, chain.nodes[column, levels[:, i]], 0).astype(np.int32)
        for i, (chain, column) in enumerate(zip(chains, table.codes, strict=True))
    ]


def disclosed_table(
    table: EncodedTable,
    chains: tuple[Chains, ...],
    nodes: list[NDArray[np.int32]],
    feasible: NDArray[np.bool_],
) -> pa.Table:
    """Return one row per record, in the order of the table: labels, and the class if any.

    A withheld record shows the labels of the roots, and an empty class.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for attribute, chain, column in zip(table.schema.attributes, chains, nodes, strict=True):
        columns[attribute.name] = _labels(attribute.domain, chain, column)
    target = table.schema.class_attribute
    if target is not None and table.classes is not None:
        labels = leaf_labels(target.domain)
        shown = np.where(feasible, table.classes, len(labels))
        columns[target.name] = labelled(shown, [*labels, ""])
    return pa.table(columns)


def _labels(domain: Domain, chain: Chains, nodes: NDArray[np.int32]) -> pa.DictionaryArray:
    used, place = np.unique(nodes, return_inverse=True)
    tree = chain.taxonomy
    labels = [domain.label(int(tree.first[node]), int(tree.stop[node])) for node in used]
    # A node with a single child holds the same values as the child, and has the same label.
    distinct = list(dict.fromkeys(labels))
    position = {label: at for at, label in enumerate(distinct)}
    same = np.array([position[label] for label in labels], dtype=np.int32)
    return labelled(same[place], distinct)
