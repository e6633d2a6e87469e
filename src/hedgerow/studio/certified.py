"""A certificate line by line: each fact with its explanation in the texts of the page."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from hedgerow.model.certificate import Certificate, factor_text
from hedgerow.privacy.budget import delta_text, epsilon_text
from hedgerow.report.page import settings_text


@dataclass(frozen=True, kw_only=True)
class CertifiedLine:
    """One line: ``key`` names the fact and its explanation."""

    key: str
    value: str
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CertifiedPart:
    """Consecutive lines with the same explanation."""

    key: str
    values: tuple[str, ...]
    facts: dict[str, Any]


def certified_parts(certificate: Certificate) -> list[CertifiedPart]:
    """Return the lines of a certificate, grouped by explanation."""
    return [
        CertifiedPart(key=key, values=tuple(line.value for line in lines), facts=facts)
        for (key, facts), lines in groupby(
            certified_lines(certificate), lambda line: (line.key, line.facts)
        )
    ]


def certified_lines(certificate: Certificate) -> list[CertifiedLine]:
    """Return the lines of a certificate, the most important first."""
    return [
        *_guarantee(certificate),
        *_noise(certificate),
        *_origin(certificate),
    ]


def _line(key: str, value: object, **facts: Any) -> CertifiedLine:
    return CertifiedLine(key=key, value=str(value), facts=facts)


def _guarantee(certificate: Certificate) -> list[CertifiedLine]:
    guarantee = certificate.guarantee
    lines = [_line("statement", guarantee.statement)]
    if guarantee.epsilon is not None:
        factor = factor_text(guarantee.epsilon)
        lines.append(_line("epsilon", epsilon_text(guarantee.epsilon), factor=factor))
        delta = guarantee.delta or 0
        lines.append(
            _line("delta_none" if delta == 0 else "delta_some", delta_text(Fraction(delta)))
        )
        if guarantee.unit is not None:
            lines.append(_line("unit", guarantee.protects(certificate.records_word)))
        lines.append(_line("neighbours", guarantee.neighbours))
    else:
        lines.append(_line("no_guarantee", guarantee.kind))
    if guarantee.person is not None:
        columns = ", ".join(guarantee.person.columns)
        lines.append(_line("person", columns, n=guarantee.person.records))
    lines.append(_line("private" if guarantee.private else "not_private", _yes(guarantee.private)))
    return lines


def _noise(certificate: Certificate) -> list[CertifiedLine]:
    counts, lines = certificate.counts, []
    if counts is not None:
        lines.append(_line("within", f"± {counts.within_95:,}"))
        lines.append(_line("noise", counts.noise))
        if counts.threshold is not None:
            lines.append(_line("threshold", f"{counts.threshold:,}"))
        if counts.adjustment is not None:
            lines.append(_line("adjustment", counts.adjustment))
    total = certificate.data.noisy_total
    if total is not None:
        lines.append(_line("total", f"{total:,}"))
    for spend in certificate.budget.spends[:40]:
        times = f" × {spend.times}" if spend.times > 1 else ""
        lines.append(_line("spend", f"{spend.on}: {spend.share}{times}"))
    lines.append(_line("budget", certificate.budget.total))
    return lines


def _origin(certificate: Certificate) -> list[CertifiedLine]:
    lines = [
        _line("method", certificate.method.name),
        _line("settings", settings_text(certificate.method.settings)),
        *(_line("departure", f"{each.what}", why=each.why) for each in certificate.departures),
        *(_line("assumed", each.what) for each in certificate.assumed_public[:60]),
        _line("random", certificate.randomness.source),
        _line("dataset", certificate.data.name),
        _line("created", certificate.created),
    ]
    if certificate.ledger is not None:
        booked = certificate.ledger
        lines.append(_line("ledger", f"{booked.dataset}, {booked.entry}"))
    if certificate.confirmed is not None:
        lines.append(_line("confirmed", certificate.confirmed.statement))
    if certificate.approved is not None:
        lines.append(_line("approved", certificate.approved.statement))
    if certificate.disclosure is not None:
        risk = certificate.disclosure
        lines.append(_line("unique_rows", f"{risk.unique_rows:,}"))
        lines.append(_line("verbatim", f"{100 * risk.verbatim:.1f} %"))
    if certificate.plan_sha256 is not None:
        lines.append(_line("plan", certificate.plan_sha256))
    lines.append(_line("files", len(certificate.files)))
    return lines


def _yes(value: bool) -> str:
    return "true" if value else "false"
