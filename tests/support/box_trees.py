"""Random trees of boxes, and releases of them, for tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups, Tree
from hedgerow.model.locate import box_ranges
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.domain import CategoricalDomain

Span = tuple[int, int]


def parts_of(schema: Schema, attribute: int, span: Span, rng: np.random.Generator) -> list[Span]:
    """Divide a range: at a random border, or into the children of a taxonomy's node."""
    domain, (first, stop) = schema.attributes[attribute].domain, span
    if isinstance(domain, CategoricalDomain):
        node = domain.taxonomy.node_at(first, stop)
        while node is not None and len(domain.taxonomy.children(node)) == 1:
            node = int(domain.taxonomy.children(node)[0])
        if node is not None:
            children = domain.taxonomy.children(node)
            return [(int(domain.taxonomy.first[c]), int(domain.taxonomy.stop[c])) for c in children]
    if stop - first < 2:
        return []
    border = int(rng.integers(first + 1, stop))
    return [(first, border), (border, stop)]


def random_tree(
    schema: Schema, rng: np.random.Generator, *, splits: float = 0.7, depth: int = 4
) -> Tree:
    """Divide boxes at random, all but the first with a chance of ``splits``, down to ``depth``."""
    whole = tuple((0, attribute.domain.size) for attribute in schema.attributes)
    nodes = [(-1, -1, (0, 0))]
    box: list[int] = []
    level = [(0, whole)]
    for at_depth in range(depth + 1):
        after = []
        for node, spans in level:
            attribute = int(rng.integers(len(spans)))
            parts = parts_of(schema, attribute, spans[attribute], rng)
            box.append(-1)
            goes_on = at_depth < depth and (at_depth == 0 or rng.random() < splits)
            if not parts or not goes_on:
                box[node] = -2
                continue
            for part in parts:
                child = (*spans[:attribute], part, *spans[attribute + 1 :])
                after.append((len(nodes), child))
                nodes.append((node, attribute, part))
        level = after
    return tree_of(nodes, np.array(box) == -2, rng)


def tree_of(
    nodes: list[tuple[int, int, Span]], leaves: NDArray[np.bool_], rng: np.random.Generator
) -> Tree:
    n = len(nodes)
    box = np.full(n, -1, dtype=np.int32)
    box[leaves] = rng.permutation(np.count_nonzero(leaves))
    sizes = np.where(leaves, rng.integers(0, 200, n), 0).astype(np.float64)
    for node in range(n - 1, 0, -1):
        sizes[nodes[node][0]] += sizes[node]
    return Tree(
        parent=np.array([node[0] for node in nodes], np.int32),
        attribute=np.array([node[1] for node in nodes], np.int32),
        first=np.array([node[2][0] for node in nodes], np.int32),
        stop=np.array([node[2][1] for node in nodes], np.int32),
        box=box,
        sizes=sizes,
    )


def groups_of(
    schema: Schema, tree: Tree, rng: np.random.Generator, *, listed: float = 0.8
) -> Groups:
    """A release of the tree's boxes with made-up counts; some groups are not listed."""
    ranges, boxes = box_ranges(tree, [each.domain.size for each in schema.attributes])
    target = schema.class_attribute
    n_boxes, n_classes = len(boxes[0]), 1 if target is None else target.domain.size
    box, classes = np.divmod(np.arange(n_boxes * n_classes), n_classes)
    keep = rng.random(len(box)) < listed
    order = np.lexsort((classes, *(index[box] for index in reversed(boxes))))
    order = order[keep[order]]
    return Groups(
        ranges=ranges,
        index=tuple(index[box[order]] for index in boxes),
        classes=None if target is None else classes[order].astype(np.int32),
        counts=rng.integers(1, 100, len(order)).astype(np.int64),
        is_cut=False,
        tree=tree,
        boxes=boxes,
    )
