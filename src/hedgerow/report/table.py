"""The report of a release of a table: one self-contained page for non-technical readers.

All figures come from the certificate and the published groups.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.draw.axis import STEPS, by_splits
from hedgerow.draw.bars import Bar, bars_of
from hedgerow.draw.maps import HEIGHT, WIDTH, box_maps
from hedgerow.draw.maps import STRENGTHS as MAJORITIES
from hedgerow.draw.pictures import picture, shortened
from hedgerow.draw.strips import box_strips
from hedgerow.draw.tree import tree_picture
from hedgerow.model.certificate import Certificate
from hedgerow.model.groups import Groups
from hedgerow.model.labels import leaf_labels
from hedgerow.model.leaf_groups import leaf_groups
from hedgerow.model.schema import Schema
from hedgerow.report.budget import budget_picture
from hedgerow.report.measured import measured_tables
from hedgerow.report.nist import nist_rows
from hedgerow.report.page import files_there, precision_of, promise_of, rendered

FILES = (
    ("release.csv", "The release: one row per group, with its count. Start here."),
    ("release.parquet", "The same table for programs."),
    ("dictionary.csv", "Description of every column: labels, ranges, and the counts."),
    ("datapackage.json", "The same for programs: a Frictionless data package."),
    ("records.csv", "Synthetic rows drawn from the groups, for tools that need rows."),
    ("recoding.json", "The ranges, for assigning other rows to the groups: hedgerow generalise."),
    ("marginals.json", "Noisy 1-way marginals, used as weights for drawing synthetic rows."),
    ("tables", "The noisy marginals from which synthetic rows were drawn."),
    ("certificate.json", "All facts of this page and more, for auditors and programs."),
    (
        "signature.json",
        "The publisher's signature of the certificate: hedgerow verify --public-key.",
    ),
)
"""Files that a release may have, in the order of the page."""

LARGEST = 15
MOST_PICTURES = 40
MOST_LISTED = 60
MOST_COLUMNS = 12
FIRST = 2
"""Number of attributes shown when the page opens; the others are folded."""

MOST_OPEN_ROWS = 10
"""Maximum number of rows of one attribute that are not folded."""


def render_report(
    schema: Schema, groups: Groups, certificate: Certificate, *, files: Collection[str]
) -> str:
    """Return the page as self-contained HTML; it lists only ``files``.

    Privacy: the groups are noisy and the certificate is public, so the page is public.
    """
    kept = [at for at, ranges in enumerate(groups.ranges) if len(ranges) > 1]
    not_kept = [at for at, ranges in enumerate(groups.ranges) if len(ranges) == 1]
    pictured = kept[:MOST_PICTURES] if groups.tree is None else []
    return rendered(
        "report.html.j2",
        certificate=certificate,
        promise=promise_of(certificate),
        precision=precision_of(certificate.counts),
        budget=budget_picture(certificate.budget),
        boxes=_boxes(schema, groups),
        measured=measured_tables(schema, groups),
        pictures=[picture(schema.attributes[at], groups, at) for at in pictured],
        n_not_pictured=max(len(kept) - MOST_PICTURES, 0),
        not_kept=[shortened(schema.attributes[at].name) for at in not_kept[:MOST_LISTED]],
        n_not_listed=max(len(not_kept) - MOST_LISTED, 0),
        nist=nist_rows(certificate),
        assumed=certificate.assumed_public[:MOST_LISTED],
        class_name=schema.class_attribute.name if schema.class_attribute else "",
        classes=_classes(schema, groups),
        largest=_largest(schema, groups),
        n_groups=len(groups),
        n_open=FIRST,
        most_rows=MOST_OPEN_ROWS,
        listed=files,
        files=files_there(FILES, files),
    )


def _boxes(schema: Schema, groups: Groups) -> dict[str, Any] | None:
    """Return the pictures of boxes from a tree: that of the release, or that of a leaf table."""
    of_leaves = groups.tree is None and groups.leaves is not None
    if of_leaves and groups.leaves is not None:
        sizes = [attribute.domain.size for attribute in schema.attributes]
        has_class = schema.class_attribute is not None
        groups = leaf_groups(groups.leaves, sizes, has_class=has_class)
    if groups.tree is None:
        return None
    return {
        "of_leaves": of_leaves,
        "tree": tree_picture(schema, groups.tree),
        "maps": box_maps(schema, groups),
        "strips": box_strips(schema, groups),
        "by_marginals": groups.marginals is not None,
        "steps": STEPS,
        "majorities": MAJORITIES,
        "width": WIDTH,
        "height": HEIGHT,
    }


def _classes(schema: Schema, groups: Groups) -> tuple[Bar, ...]:
    target = schema.class_attribute
    if target is None or groups.classes is None or target.domain.size > 30:
        return ()
    totals = np.zeros(target.domain.size, dtype=np.int64)
    np.add.at(totals, groups.classes, groups.counts)
    labels = [shortened(label) for label in leaf_labels(target.domain)]
    return bars_of(labels, totals.tolist())


@dataclass(frozen=True, kw_only=True)
class Largest:
    """The groups with the largest published counts, with the columns in which they differ."""

    names: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], int, float], ...]
    n_omitted: int


def _largest(schema: Schema, groups: Groups) -> Largest:
    kept = by_splits(groups)
    shown = sorted(kept[:MOST_COLUMNS])
    # The sort is stable: groups with equal counts stay in the order of the file.
    order = np.argsort(-groups.counts, kind="stable")[:LARGEST]
    columns = [_cells(schema, groups, at, order) for at in shown]
    names = [schema.attributes[at].name for at in shown]
    target = schema.class_attribute
    if target is not None and groups.classes is not None:
        labels = leaf_labels(target.domain)
        columns.insert(0, [shortened(labels[at]) for at in groups.classes[order].tolist()])
        names.insert(0, target.name)
    counts = groups.counts[order].tolist()
    rows = tuple(
        (tuple(column[at] for column in columns), count, round(100 * count / counts[0], 1))
        for at, count in enumerate(counts)
    )
    return Largest(names=tuple(names), rows=rows, n_omitted=len(kept) - len(shown))


def _cells(schema: Schema, groups: Groups, attribute: int, order: Any) -> list[str]:
    domain, ranges = schema.attributes[attribute].domain, groups.ranges[attribute]
    places = groups.index[attribute][order]
    spans = zip(ranges.first[places].tolist(), ranges.stop[places].tolist(), strict=True)
    return [shortened(domain.label(first, stop), 40) for first, stop in spans]
