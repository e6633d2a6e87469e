"""A certificate line by line: each fact with what it means, in the words of the texts."""

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
    """One line: ``key`` is where the certificate says it and which words explain it."""

    key: str
    value: str
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CertifiedPart:
    """Lines that follow each other and mean the same."""

    key: str
    values: tuple[str, ...]
    facts: dict[str, Any]


def certified_parts(certificate: Certificate) -> list[CertifiedPart]:
    """Return the lines of a certificate, with those that are explained alike in one part."""
    return [
        CertifiedPart(key=key, values=tuple(line.value for line in alike), facts=facts)
        for (key, facts), alike in groupby(
            certified_lines(certificate), lambda line: (line.key, line.facts)
        )
    ]


def certified_lines(certificate: Certificate) -> list[CertifiedLine]:
    """Return the lines of a certificate, those that matter most first."""
    return [
        *_promise(certificate),
        *_noise(certificate),
        *_origin(certificate),
    ]


def _line(key: str, value: object, **facts: Any) -> CertifiedLine:
    return CertifiedLine(key=key, value=str(value), facts=facts)


def _promise(certificate: Certificate) -> list[CertifiedLine]:
    promised = certificate.guarantee
    lines = [_line("statement", promised.statement)]
    if promised.epsilon is not None:
        factor = factor_text(promised.epsilon)
        lines.append(_line("epsilon", epsilon_text(promised.epsilon), factor=factor))
        delta = promised.delta or 0
        lines.append(
            _line("delta_none" if delta == 0 else "delta_some", delta_text(Fraction(delta)))
        )
        if promised.unit is not None:
            lines.append(_line("unit", promised.protects(certificate.records_word)))
        lines.append(_line("neighbours", promised.neighbours))
    else:
        lines.append(_line("no_promise", promised.kind))
    if promised.person is not None:
        columns = ", ".join(promised.person.columns)
        lines.append(_line("person", columns, n=promised.person.records))
    lines.append(_line("private" if promised.private else "not_private", _yes(promised.private)))
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
