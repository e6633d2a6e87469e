"""The report: one page, standing alone, that a manager can read.

Every figure on it comes from the certificate and the published groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.encode.schema import Schema
from hedgerow.partition.groups import Groups
from hedgerow.release.certificate import Certificate, CountNoise, factor_text
from hedgerow.release.pictures import budget_slices, picture, shortened
from hedgerow.release.precision import sum_within
from hedgerow.release.table import leaf_labels, range_labels

LARGEST = 15
MOST_PICTURES = 40
MOST_LISTED = 60
MOST_COLUMNS = 12

STRENGTHS = (
    (Fraction(1, 10), "very strong"),
    (Fraction(1), "strong"),
    (Fraction(3), "moderate"),
    (Fraction(10), "weak"),
    (Fraction(10**9), "very weak"),
)
"""Words for epsilon up to each bound: a rule of thumb, and the page says so."""

WEAK_FROM = Fraction(5)

_SCALE = (0.01, 50.0)
_BELIEFS = (0.01, 0.1, 0.5)


def render_report(schema: Schema, groups: Groups, certificate: Certificate) -> str:
    """Return the page as HTML with its style and drawings inside.

    Privacy: the groups are noisy and the certificate is public, so the page is, too.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("hedgerow.release", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shortened"] = shortened
    environment.filters["whole"] = lambda number: f"{number:,}"
    telling = [at for at, ranges in enumerate(groups.ranges) if len(ranges) > 1]
    silent = [at for at, ranges in enumerate(groups.ranges) if len(ranges) == 1]
    return environment.get_template("report.html.j2").render(
        certificate=certificate,
        promise=_promise(certificate),
        precision=_precision(certificate.counts),
        slices=budget_slices(certificate.budget),
        pictures=[picture(schema.attributes[at], groups, at) for at in telling[:MOST_PICTURES]],
        n_not_pictured=max(len(telling) - MOST_PICTURES, 0),
        silent=[shortened(schema.attributes[at].name) for at in silent[:MOST_LISTED]],
        n_not_listed=max(len(silent) - MOST_LISTED, 0),
        assumed=certificate.assumed_public[:MOST_LISTED],
        class_name=schema.class_attribute.name if schema.class_attribute else "",
        classes=_classes(schema, groups),
        largest=_largest(schema, groups),
        n_groups=len(groups),
        files=FILES,
    )


@dataclass(frozen=True, kw_only=True)
class Belief:
    """How far a release can move what somebody believed before, in per cent."""

    before: str
    lowest: str
    highest: str


@dataclass(frozen=True, kw_only=True)
class Promise:
    """Epsilon in plain words."""

    factor: str
    strength: str
    is_weak: bool
    at: float
    zones: tuple[tuple[str, float, float], ...]
    beliefs: tuple[Belief, ...]


def _promise(certificate: Certificate) -> Promise | None:
    epsilon = certificate.guarantee.epsilon
    if epsilon is None:
        return None
    edges = [0.0, *(_on_scale(float(bound)) for bound, _ in STRENGTHS)]
    zones = tuple(
        (word, edges[at], round(edges[at + 1] - edges[at], 2))
        for at, (_, word) in enumerate(STRENGTHS)
    )
    return Promise(
        factor=factor_text(epsilon),
        strength=next(word for bound, word in STRENGTHS if epsilon <= bound),
        is_weak=epsilon > WEAK_FROM,
        at=_on_scale(float(epsilon)),
        zones=zones,
        beliefs=tuple(_belief(before, float(epsilon)) for before in _BELIEFS),
    )


def _on_scale(epsilon: float) -> float:
    low, high = (math.log(end) for end in _SCALE)
    place = (math.log(epsilon) - low) / (high - low)
    return round(100 * min(max(place, 0.0), 1.0), 2)


def _belief(before: float, epsilon: float) -> Belief:
    """Odds move by a factor of at most e to the epsilon, up or down."""
    odds = before / (1 - before)
    highest = 1 / (1 + math.exp(-epsilon) / odds)
    lowest = odds * math.exp(-epsilon) / (1 + odds * math.exp(-epsilon))
    return Belief(before=_per_cent(before), lowest=_per_cent(lowest), highest=_per_cent(highest))


def _per_cent(chance: float) -> str:
    """Return a chance in per cent without ever rounding to certainty."""
    shown = 100 * chance
    if shown > 99.9:
        return "over 99.9 %"
    if shown < 0.1:
        return "under 0.1 %"
    digits = f"{shown:.1f}" if shown < 10 or shown > 90 else f"{shown:.0f}"
    return f"{digits.removesuffix('.0')} %"


@dataclass(frozen=True, kw_only=True)
class Precision:
    """What the noise means for one count and for sums of counts."""

    within: int
    sums: tuple[tuple[int, int], ...]
    threshold: int | None
    shift: float


def _precision(counts: CountNoise | None) -> Precision | None:
    if counts is None:
        return None
    sums = tuple((n, sum_within(counts.share, n_counts=n)) for n in (1, 10, 100, 1000))
    return Precision(
        within=counts.within_95,
        sums=sums,
        threshold=counts.threshold,
        shift=round(counts.lowered_by or 0.0, 1),
    )


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A label with a published count and its length in per cent of the longest."""

    label: str
    count: int
    percent: float


def _classes(schema: Schema, groups: Groups) -> tuple[Bar, ...]:
    target = schema.class_attribute
    if target is None or groups.classes is None or target.domain.size > 30:
        return ()
    totals = np.zeros(target.domain.size, dtype=np.int64)
    np.add.at(totals, groups.classes, groups.counts)
    longest = max(int(totals.max()), 1)
    return tuple(
        Bar(label=shortened(label), count=total, percent=round(100 * total / longest, 1))
        for label, total in zip(leaf_labels(target.domain), totals.tolist(), strict=True)
    )


@dataclass(frozen=True, kw_only=True)
class Largest:
    """The groups with the largest published counts, columns that tell them apart only."""

    names: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], int, float], ...]
    n_left_out: int


def _largest(schema: Schema, groups: Groups) -> Largest:
    telling = [at for at, ranges in enumerate(groups.ranges) if len(ranges) > 1]
    shown = telling[:MOST_COLUMNS]
    # A stable sort of the canonical order: equal counts stay in the order of the file.
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
    return Largest(names=tuple(names), rows=rows, n_left_out=len(telling) - len(shown))


def _cells(schema: Schema, groups: Groups, attribute: int, order: Any) -> list[str]:
    labels = range_labels(schema.attributes[attribute].domain, groups.ranges[attribute])
    return [shortened(labels[at], 40) for at in groups.index[attribute][order].tolist()]


FILES = (
    ("release.csv", "The release: one row per group, its count last. Start here."),
    ("release.parquet", "The same table for programs (if it was asked for)."),
    (
        "records.csv",
        "Invented rows drawn from the groups, for tools that want rows (if asked for).",
    ),
    ("recoding.json", "The ranges, to put other rows in the same groups: hedgerow generalise."),
    ("certificate.json", "Every fact of this page and more, for auditors and programs."),
)
