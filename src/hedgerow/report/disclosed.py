"""The public report of a disclosure: what was promised, and how coarse each attribute became.

Its figures come from the disclosed table, the plan and the certificate alone. Risks do not: they
depend on the raw dictionary and on everybody's weights, and are on the owner's page.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.draw.pictures import shortened
from hedgerow.model.certificate import Certificate
from hedgerow.model.schema import Schema
from hedgerow.report.budget import budget_picture
from hedgerow.report.nist import nist_rows
from hedgerow.report.page import Bar, files_there, rendered

MOST_ATTRIBUTES = 60
MOST_ATTRIBUTES_OPEN = 4
MOST_ASSUMED = 60

FILES = (
    ("disclosed.csv", "The records, in the order of the data, made coarser. Start here."),
    ("dictionary.csv", "What every column holds: values, and the labels of coarser ones."),
    ("datapackage.json", "The same for programs: a Frictionless data package."),
    ("certificate.json", "Every fact of this page and more, for auditors and programs."),
)


@dataclass(frozen=True, kw_only=True)
class Coarseness:
    """How much records show of one attribute: bars from the exact value to nothing."""

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
    """Return the page as HTML with its style inside; it lists ``files`` only.

    Privacy: it is made from the disclosed nodes and the certificate, so that it tells no more
    than those do.
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
    # 0: the value itself; then depth by depth; last: the root, which says nothing.
    step = np.where(is_leaf, 0, tallest - tree.depth[nodes])
    counts = np.bincount(np.where(nodes == 0, tallest, step), minlength=tallest + 1)
    longest = max(int(counts.max(initial=0)), 1)
    bars = tuple(
        Bar(label=_words(at, tallest), count=n, percent=round(100 * n / longest, 1))
        for at, n in enumerate(counts.tolist())
    )
    return Coarseness(name=shortened(name), bars=bars)


def _words(step: int, tallest: int) -> str:
    if step == 0:
        return "the value itself"
    if step == tallest:
        return "nothing (suppressed)"
    return f"a group at level {tallest - step} of {tallest}"
