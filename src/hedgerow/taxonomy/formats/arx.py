"""ARX hierarchies: one line per value, from the value up to the root.

``Bachelors;Undergraduate;Higher education;*``. Lines may have unequal lengths, and a label may be
repeated next to itself to fill up a line (``Never-married;Never-married;*``): such a run is one
node.
"""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.formats.links import Links
from hedgerow.taxonomy.formats.rows import Row, check_cells, join_rows, split_rows
from hedgerow.taxonomy.formats.text import at
from hedgerow.taxonomy.labels import displayed, first_repeated
from hedgerow.taxonomy.tree import Taxonomy


def looks_like_arx(rows: list[Row]) -> bool:
    """Return whether every row has several cells and all end in the same one."""
    ends = {row.cells[-1] for row in rows}
    return len(ends) == 1 and all(len(row.cells) > 1 for row in rows)


def read_arx(text: str, name: str) -> Taxonomy:
    """Return the taxonomy of an ARX file; ``name`` is the file's name in messages."""
    return arx_taxonomy(split_rows(text, name, fits=[looks_like_arx]), name)


def arx_taxonomy(rows: list[Row], name: str) -> Taxonomy:
    """Return the taxonomy of rows that lead from a value up to the root."""
    links = Links(name)
    leaf_line: dict[str, int] = {}
    for row in rows:
        way = _way_up(row, rows[0], name)
        if way[0] in leaf_line:
            raise _listed_twice(way, leaf_line, links, row.line)
        leaf_line[way[0]] = row.line
        for child, parent in pairwise(way):
            links.add(child, parent, row.line)
    for group in links.groups() & leaf_line.keys():
        raise links.fault(
            f"{displayed(group)} is a value on line {leaf_line[group]}, and a group of other"
            " values elsewhere.",
            line=leaf_line[group],
            value=group,
            do="Give the value a label of its own, or remove its line.",
        )
    return links.taxonomy()


def _way_up(row: Row, top: Row, name: str) -> list[str]:
    """Return the labels of a row without repetitions, value first, root last."""
    check_cells(row, name)
    where = at(name, row.line)
    if len(row.cells) < 2:
        raise TaxonomyError(
            f"{displayed(row.cells[0])} is alone in its row.",
            where=where,
            line=row.line,
            value=row.cells[0],
            do=(
                "Write each value with its groups and the root after it, separated by ';' or ',':"
                " value;group;*"
            ),
        )
    if row.cells[-1] != top.cells[-1]:
        raise TaxonomyError(
            f"The row of {displayed(row.cells[0])} ends in {displayed(row.cells[-1])}, but"
            f" line {top.line} ends in {displayed(top.cells[-1])}.",
            where=where,
            line=row.line,
            value=row.cells[0],
            do=(
                "The last cell of every row is the root: end all rows in the same label, such as"
                " '*'."
            ),
        )
    way = [label for label, _ in groupby(row.cells)]
    if len(set(way)) < len(way):
        twice = first_repeated(way)
        raise TaxonomyError(
            f"The label {displayed(twice)} occurs twice on one path, with others in between.",
            where=where,
            line=row.line,
            value=twice,
            do="Name each level of the row differently.",
        )
    if len(way) < 2:
        raise TaxonomyError(
            f"{displayed(way[0])} is a value and the root.",
            where=where,
            line=row.line,
            value=way[0],
            do="Remove the row, or end it in a root of another name.",
        )
    return way


def _listed_twice(
    way: list[str], leaf_line: dict[str, int], links: Links, line: int
) -> TaxonomyError:
    for child, parent in pairwise(way):
        links.add(child, parent, line)  # raises if the value has two parents
    return links.fault(
        f"{displayed(way[0])} is listed twice, on lines {leaf_line[way[0]]} and {line}.",
        line=line,
        value=way[0],
        do="Remove one of the two lines.",
    )


def write_arx(taxonomy: Taxonomy) -> str:
    """Return the taxonomy as ARX text: all rows of one length, short ones filled with the value."""
    labels = np.array(taxonomy.labels, dtype=object)
    height = int(taxonomy.height[0])
    columns = [labels[taxonomy.leaf_ancestors(depth)] for depth in range(height, -1, -1)]
    return join_rows(zip(*columns, strict=True), delimiter=";")
