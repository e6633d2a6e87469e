"""Results of audits: a verdict for each subject, as JSON, Markdown and SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from hedgerow.auditing.subject import Claim

Outcome = Literal["not refuted", "refuted", "claims nothing"]

_ROW, _LABEL, _WIDTH, _TOP = 22, 250, 420, 46


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An event, its frequency on either table, and the epsilon which that proves."""

    pair: str
    event: str
    with_record: int
    without: int
    runs: int
    certified: float

    def as_dict(self) -> dict[str, object]:
        """Return the finding for JSON."""
        return {
            "pair": self.pair,
            "event": self.event,
            "with-record": self.with_record,
            "without": self.without,
            "runs": self.runs,
            "certified": round(self.certified, 4),
        }


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Results of one subject; ``findings`` has the worst event first.

    ``runs`` is the total number of its runs, including those of the search for events.
    """

    name: str
    claim: Claim | None
    findings: tuple[Finding, ...]
    runs: int

    @classmethod
    def without_claim(cls, name: str) -> Verdict:
        """Return the verdict on a method without a claim."""
        return cls(name=name, claim=None, findings=(), runs=0)

    @property
    def certified(self) -> float:
        """Largest epsilon that is proved, which is a lower bound on the guarantee."""
        return max((found.certified for found in self.findings), default=0.0)

    @property
    def worst(self) -> Finding | None:
        """Event that proves the largest epsilon."""
        return self.findings[0] if self.findings else None

    @property
    def outcome(self) -> Outcome:
        """Result of the audit; a claim that was not refuted is not thereby proved."""
        if self.claim is None:
            return "claims nothing"
        return "refuted" if self.certified > float(self.claim.epsilon) else "not refuted"

    def as_dict(self) -> dict[str, object]:
        """Return the verdict for JSON, budgets as exact text."""
        claim = self.claim
        return {
            "name": self.name,
            "epsilon": None if claim is None else str(claim.epsilon),
            "delta": None if claim is None else str(claim.delta),
            "certified": None if claim is None else round(self.certified, 4),
            "outcome": self.outcome,
            "runs": self.runs,
            "findings": [found.as_dict() for found in self.findings],
        }


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """The verdicts of an audit; each is wrong with a chance of at most ``mistake``."""

    verdicts: tuple[Verdict, ...]
    mistake: float

    @property
    def refuted(self) -> bool:
        """True if any claim is refuted."""
        return any(verdict.outcome == "refuted" for verdict in self.verdicts)

    def as_dict(self) -> dict[str, object]:
        """Return the report for JSON."""
        return {
            "refuted": self.refuted,
            "mistake": self.mistake,
            "bounds": "Clopper-Pearson; Bonferroni over the tested events of a subject",
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
        }

    def markdown(self) -> str:
        """Return a Markdown table: claimed, certified, runs and the worst pair."""
        lines = ["| what | claimed | certified | runs | worst pair |", "|---|---|---|---|---|"]
        for verdict in self.verdicts:
            worst = "" if verdict.worst is None else verdict.worst.pair
            figures = (
                ("nothing", "", "")
                if verdict.claim is None
                else (claim_words(verdict.claim), f"{verdict.certified:.2f}", f"{verdict.runs:,}")
            )
            lines.append(f"| {verdict.name} | {' | '.join(figures)} | {worst} |")
        return "\n".join(lines) + "\n"

    def svg(self) -> str:
        """Return a chart: a bar for the certified epsilon, a line at the claimed one."""
        shown = [verdict for verdict in self.verdicts if verdict.claim is not None]
        values = [max(v.certified, float(v.claim.epsilon)) for v in shown if v.claim is not None]
        scale = _WIDTH / (1.1 * max(values, default=1.0))
        height = _TOP + _ROW * len(shown) + 24
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LABEL + _WIDTH + 70}"'
            f' height="{height}" font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            '<text x="8" y="20" font-size="14">Epsilon: certified (bar) and claimed (line)</text>',
        ]
        for place, verdict in enumerate(shown):
            parts += _bar(verdict, y=_TOP + _ROW * place, scale=scale)
        return "\n".join([*parts, "</svg>"]) + "\n"


def claim_words(claim: Claim) -> str:
    """Return a short text of a claim.

    >>> from fractions import Fraction
    >>> claim_words(Claim(epsilon=Fraction(1), delta=Fraction(1, 1000)))
    '1, delta 0.001'
    """
    delta = f", delta {float(claim.delta):.2g}" if claim.delta else ""
    return f"{float(claim.epsilon):.6g}{delta}"


def _bar(verdict: Verdict, *, y: int, scale: float) -> list[str]:
    if verdict.claim is None:
        return []
    colour = "#b3261e" if verdict.outcome == "refuted" else "#4a7c59"
    width, line = verdict.certified * scale, _LABEL + float(verdict.claim.epsilon) * scale
    return [
        f'<text x="{_LABEL - 8}" y="{y + 14}" text-anchor="end">{escape(verdict.name)}</text>',
        f'<rect x="{_LABEL}" y="{y + 3}" width="{width:.1f}" height="14" fill="{colour}"/>',
        f'<line x1="{line:.1f}" x2="{line:.1f}" y1="{y}" y2="{y + 20}" stroke="black"'
        ' stroke-width="2"/>',
        f'<text x="{max(_LABEL + width, line) + 6:.1f}" y="{y + 14}">'
        f"{verdict.certified:.2f}</text>",
    ]
