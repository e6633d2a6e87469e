"""Child-parent pairs: one link per line, ``1001,110``.

Labels without a parent are roots; several roots get a common root ``*``. A first line
``child,parent`` is a heading, unless the words are labels of the tree.
"""

from __future__ import annotations

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.formats.links import Links
from hedgerow.taxonomy.formats.rows import Row, check_cells, join_rows, split_rows
from hedgerow.taxonomy.formats.text import at
from hedgerow.taxonomy.labels import displayed
from hedgerow.taxonomy.tree import Taxonomy

HEADING = ("child", "parent")


def looks_like_pairs(rows: list[Row]) -> bool:
    """Return whether every row has two cells."""
    return all(len(row.cells) == 2 for row in rows)


def has_heading(rows: list[Row]) -> bool:
    """Return whether the first row is a heading."""
    first = tuple(cell.lower() for cell in rows[0].cells)
    words = set(rows[0].cells)
    return (
        first == HEADING and len(rows) > 1 and not any(words & set(row.cells) for row in rows[1:])
    )


def read_pairs(text: str, name: str) -> Taxonomy:
    """Return the taxonomy of a file of pairs; ``name`` is the file's name in messages."""
    return pairs_taxonomy(split_rows(text, name, fits=[looks_like_pairs]), name)


def pairs_taxonomy(rows: list[Row], name: str) -> Taxonomy:
    """Return the taxonomy of rows that hold a label and its parent."""
    links = Links(name)
    for row in rows[1:] if has_heading(rows) else rows:
        _check_pair(row, name)
        child, parent = row.cells
        if not links.add(child, parent, row.line):
            raise links.fault(
                f"The pair {displayed(child)}, {displayed(parent)} is listed twice.",
                line=row.line,
                value=child,
                do="Remove one of the two lines.",
            )
    return links.taxonomy()


def _check_pair(row: Row, name: str) -> None:
    check_cells(row, name)
    if len(row.cells) != 2:
        raise TaxonomyError(
            f"The row of {displayed(row.cells[0])} has {len(row.cells)} cells.",
            where=at(name, row.line),
            line=row.line,
            value=row.cells[0],
            do="Write child,parent on each line, labels with a comma in quotes.",
        )


def write_pairs(taxonomy: Taxonomy) -> str:
    """Return the taxonomy as pairs in depth-first order."""
    labels, parent = taxonomy.labels, taxonomy.parent
    pairs = ((labels[node], labels[parent[node]]) for node in range(1, len(labels)))
    return join_rows(pairs, delimiter=",")
