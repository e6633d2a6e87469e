"""The public report of a disclosure: its statement, and the generalisation of each attribute.

All figures come from the disclosed table, the plan and the certificate. Risks depend on the raw
dictionary and on the weights of all records; they are on the owner's page only.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.draw.bars import Bar, bars_of
from hedgerow.draw.pictures import shortened
from hedgerow.model.certificate import Certificate
from hedgerow.model.schema import Schema
from hedgerow.report.budget import budget_picture
from hedgerow.report.nist import nist_rows
from hedgerow.report.page import files_there, rendered

MOST_ATTRIBUTES = 60
MOST_ATTRIBUTES_OPEN = 4
MOST_ASSUMED = 60

FILES = (
    ("disclosed.csv", "The generalised records, in the order of the data. Start here."),
    ("dictionary.csv", "Description of every column: values and generalised labels."),
    ("datapackage.json", "The same for programs: a Frictionless data package."),
    ("certificate.json", "All facts of this page and more, for auditors and programs."),
)


@dataclass(frozen=True, kw_only=True)
class Coarseness:
    """Records by the generalisation of one attribute: bars from exact to suppressed."""

    name: str
    bars: tuple[Bar, ...]


def render_disclosure_report(
    schema: Schema,
    chains: tuple[Chains, ...],
    nodes: list[NDArray[np.int32]],
    certificate: Certificate,
    *,
    files: Collection[str],
) -> str:
    """Return the page as self-contained HTML; it lists only ``files``.

    Privacy: it is computed from the disclosed nodes and the certificate, so it reveals no more
    than they do.
    """
    drawn = list(zip(schema.attributes, chains, nodes, strict=True))[:MOST_ATTRIBUTES]
    target = schema.class_attribute
    return rendered(
        "disclosed.html.j2",
        certificate=certificate,
        promise=None,
        precision=None,
        budget=budget_picture(certificate.budget),
        boxes=None,
        nist=nist_rows(certificate),
        assumed=certificate.assumed_public[:MOST_ASSUMED],
        attributes=[_coarseness(a.name, chain, node) for a, chain, node in drawn],
        n_not_drawn=max(len(chains) - MOST_ATTRIBUTES, 0),
        n_attributes=len(chains),
        n_records=len(nodes[0]) if nodes else 0,
        class_name=None if target is None else target.name,
        n_open=MOST_ATTRIBUTES_OPEN,
        listed=files,
        files=files_there(FILES, files),
    )


def _coarseness(name: str, chain: Chains, nodes: NDArray[np.int32]) -> Coarseness:
    tree = chain.taxonomy
    tallest = int(tree.height[0])
    is_leaf = (tree.stop - tree.first)[nodes] == 1
    # 0: the exact value; then one step per level; last: the root, which is suppression.
    step = np.where(is_leaf, 0, tallest - tree.depth[nodes])
    counts = np.bincount(np.where(nodes == 0, tallest, step), minlength=tallest + 1)
    bars = bars_of([_label(at, tallest) for at in range(tallest + 1)], counts.tolist())
    return Coarseness(name=shortened(name), bars=bars)


def _label(step: int, tallest: int) -> str:
    if step == 0:
        return "exact value"
    if step == tallest:
        return "suppressed"
    return f"group at level {tallest - step} of {tallest}"
