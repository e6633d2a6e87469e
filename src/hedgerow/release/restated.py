"""Facts that a release's report repeats from its certificate, compared with it.

People read the report. If it differs from the certificate, one of the two was edited. Pages state
the version of their form (`REPORT_FORM`): those of other versions are not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

from hedgerow.errors import visible
from hedgerow.model.certificate import Certificate
from hedgerow.report.budget import BudgetPicture, budget_picture
from hedgerow.report.page import REPORT_FORM, precision_of, risk_left_text, settings_text

_MOST_LEVELS = 60
_OPEN = frozenset({"br", "hr", "img", "input", "link", "meta", "col", "wbr", "path", "rect"})
_UNSEEN = frozenset({"style", "script", "svg", "title"})


class ReportText(HTMLParser):
    """The visible text of a report: all of it, the lines of its details, and its lists of facts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.details: dict[str, str] = {}
        self.public: list[str] = []
        self.digests: list[str] = []
        self.heading = ""
        self.form = ""
        self._within: list[tuple[str, str]] = []
        self._piece: list[str] = []
        self._term = ""

    @classmethod
    def of(cls, page: str) -> ReportText:
        """Return the text of a page."""
        found = cls()
        found.feed(page)
        found.close()
        return found

    @property
    def text(self) -> str:
        """The whole text, with single spaces."""
        return spaced_once(" ".join(self.words))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the element that the following text is in."""
        attributes = dict(attrs)
        if tag == "meta" and attributes.get("name") == "generator":
            self.form = attributes.get("content") or ""
        if tag in _OPEN:
            return
        self._within.append((tag, attributes.get("class") or ""))
        if tag in ("dt", "dd", "li", "h1"):
            self._piece = []
        if tag == "code" and (attributes.get("title") or "").startswith("SHA-256 "):
            self.digests.append((attributes.get("title") or "").removeprefix("SHA-256 "))

    def handle_endtag(self, tag: str) -> None:
        """Store the text of an element that has ended."""
        if tag == "h1":
            self.heading = spaced_once("".join(self._piece))
        elif tag == "dt":
            self._term = spaced_once("".join(self._piece))
        elif tag == "dd":
            self.details[self._term] = spaced_once("".join(self._piece))
        elif tag == "li" and ("ul", "public small") in self._within:
            self.public.append(spaced_once("".join(self._piece)))
        while self._within and self._within.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Collect visible text."""
        if not any(tag in _UNSEEN for tag, _ in self._within):
            self.words.append(data)
            self._piece.append(data)


def spaced_once(text: str) -> str:
    r"""Return a text with every run of white space replaced by one space.

    >>> spaced_once(" a \u00a0 b ")
    'a b'
    """
    return " ".join(text.split())


def misreported(path: Path, certificate: Certificate) -> Iterator[str]:
    """Yield the facts of a report that differ from the certificate."""
    page = ReportText.of(path.read_text(encoding="utf-8"))
    if page.form != REPORT_FORM:
        return
    if page.heading != _seen(certificate.data.name):
        yield "it names another data set than the certificate"
    yield from _in_details(page, certificate)
    yield from _in_public(page, certificate)
    text = page.text
    for begins, sentence in _sentences(certificate):
        if spaced_once(begins) in text and _seen(sentence) not in text:
            yield f"its text after {begins!r} differs from the certificate"
    if "Every share of the budget" in text:
        rows = _budget_rows(budget_picture(certificate.budget))
        if not all(_seen(row) in text for row in rows):
            yield "its shares of the budget differ from those of the certificate"
    for departure in certificate.departures:
        parts = (departure.paper, departure.what, departure.why)
        if not all(_seen(part) in text for part in parts):
            yield "its list of departures from the paper differs from the certificate"
    for shown, sentence in _signed(certificate).items():
        if shown in text and _seen(sentence) not in text:
            yield f"its text after {shown!r} differs from the certificate"
    promised = certificate.guarantee
    is_shown = not promised.private or bool(promised.delta)  # else the page words it differently
    if is_shown and _seen(promised.statement) not in text:
        yield "its statement differs from the certificate"


def _signed(certificate: Certificate) -> Mapping[str, str]:
    """Return the sentences about signatures, by their beginning."""
    confirmed, approved = certificate.confirmed, certificate.approved
    found = {} if confirmed is None else {"Confirmed by": confirmed.statement}
    if approved is not None:
        why = f": {approved.why}" if approved.why else ""
        tied = "" if approved.plan_sha256 else " (not tied to this plan)"
        whole = f"Approved by {approved.by} on {approved.on}{why}{tied}"
        follows = "" if confirmed is None else f" {confirmed.statement}"
        found["Approved by"] = whole + follows
    return found


def _seen(text: object) -> str:
    return spaced_once(visible(str(text)))


def _in_details(page: ReportText, certificate: Certificate) -> Iterator[str]:
    certified = {key: _seen(value) for key, value in _details(certificate).items()}
    for key in sorted({*certified, *page.details}):
        if certified.get(key) != page.details.get(key):
            yield f"its line {key!r} differs from the certificate"


def _details(certificate: Certificate) -> Mapping[str, str]:
    """Return the lines of the details, as the page writes them."""
    method, counts, signed = certificate.method, certificate.counts, certificate.approved
    lines = {
        "Method": f"{method.name}{', faithful to its paper' if method.faithful else ''}",
        "Settings": settings_text(method.settings),
        **{name.capitalize(): str(value) for name, value in method.details.items()},
    }
    if signed is not None:
        lines["Approved"] = (
            f"by {signed.by} on {signed.on}{f': {signed.why}' if signed.why else ''}"
        )
    if counts is not None:
        then = f"; then {counts.adjustment}" if counts.adjustment else ""
        listed = "" if counts.threshold is None else f"; listed if at least {counts.threshold}"
        lines["Noise"] = f"{counts.noise}, with ε = {counts.share} for each count{then}{listed}"
    if certificate.disclosure is not None:
        lines["Remaining risk"] = risk_left_text(certificate.disclosure)
    lines["Randomness"] = certificate.randomness.source
    lines["Engine"] = certificate.engine
    lines["Versions"] = ", ".join(f"{name} {each}" for name, each in certificate.versions.items())
    if certificate.plan_sha256 is not None:
        lines["Plan"] = f"SHA-256 {certificate.plan_sha256}"
    return lines


def _in_public(page: ReportText, certificate: Certificate) -> Iterator[str]:
    """Compare the assumptions about public facts, as far as the page lists them."""
    facts = certificate.assumed_public
    shown = [each for each in page.public if not re.match(r"and [\d,]+ more, listed in", each)]
    if not shown:
        return
    certified = [
        _seen(each.what if each.sha256 is None else f"{each.what} {each.sha256[:12]}")
        for each in facts
    ]
    digests = [each.sha256 for each in facts if each.sha256 is not None]
    if shown != certified[: len(shown)] or page.digests != digests[: len(page.digests)]:
        yield "its list of public facts differs from the certificate"
    if len(shown) < len(certified) and len(shown) == len(page.public):
        yield "it lists fewer public facts than the certificate"


def _sentences(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield the beginnings of sentences of a page with the complete sentences."""
    data, line, promised = certificate.data, certificate.ledger, certificate.guarantee
    page = "This page belongs to the release of"
    yield page, f"{page} “{data.name}” of {certificate.created}"
    entry = "Booked as entry"
    if line is not None:
        delta = f" and δ = {line.delta_cap}" if line.delta_cap else ""
        cap = (
            "" if line.cap is None else f", whose releases may cost ε = {line.cap}{delta} together"
        )
        yield entry, f"{entry} {line.entry} of data set “{line.dataset}”{cap}."
    if promised.epsilon is not None:
        exactly = "Exactly: ε ="
        numbers = f"{exactly} {promised.epsilon}, δ = {promised.delta}"
        yield exactly, f"{numbers}, neighbouring tables: {promised.neighbours}."
    precision = precision_of(certificate.counts)
    if precision is not None:
        noise = "The noise on a count is within"
        yield noise, f"{noise} ± {precision.within:,} in 95 of 100 cases."
        shift = f"counts were {'reduced' if precision.shift > 0 else 'increased'} by"
        if precision.shift:
            yield "", f"{shift} {abs(precision.shift)} and negative ones set to 0"
    risk = certificate.disclosure
    if risk is not None:
        yield "unique rows", f"{risk.unique_rows:,} unique rows"
        cells = "of the cells have their exact value"
        yield cells, f"{100 * risk.verbatim:.0f} % {cells}"


def _budget_rows(picture: BudgetPicture) -> Iterator[str]:
    """Yield the rows of the budget's table, as the page writes them."""
    for each in picture.slices:
        yield f"{each.name} {each.times:,} {each.share} {each.cost}"
    if picture.levels:
        yield " ".join(["Level", *(name for name, _ in picture.kinds)])
    for level, cells in picture.levels[:_MOST_LEVELS]:
        row = [str(level) if level else "whole table"]
        for cell in cells:
            if cell is not None:
                row.append(cell.share)
                if level or cell.times > 1:
                    row.append(f"{cell.times:,} {'spend' if cell.times == 1 else 'spends'}")
        yield " ".join(row)
