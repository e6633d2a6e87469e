"""Parts of all reports: templates, the meaning of epsilon, and the noise in numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.draw.pictures import shortened
from hedgerow.errors import visible
from hedgerow.model.certificate import (
    Certificate,
    CountNoise,
    DisclosedRisk,
    delta_text,
    factor_text,
    inverse_factor_text,
)
from hedgerow.model.precision import sum_within
from hedgerow.report.headlines import gain_text, per_cent

if TYPE_CHECKING:
    from jinja2 import Template

STRENGTHS = (
    (Fraction(1, 10), "very strong"),
    (Fraction(1), "strong"),
    (Fraction(3), "moderate"),
    (Fraction(10), "weak"),
    (Fraction(10**9), "very weak"),
)
"""Ratings of epsilon up to each bound: a rule of thumb, and the page says so."""

WEAK_FROM = Fraction(5)

_SCALE = (0.01, 0.1, 1.0, 3.0, 10.0, 50.0)
"""Borders of the zones of the scale, which are drawn with equal widths; between the two ends they
are the bounds of the ratings."""

_BELIEFS = (0.01, 0.1, 0.5)

REPORT_FORM = "hedgerow, report form 2"
"""Version of the sentences that `hedgerow verify` compares with the certificate.

Increase the number if a line or a sentence that `release/restated.py` compares is reworded. Pages
of other versions are not compared, instead of being reported as modified.
"""

_SECTION = re.compile(r'<section aria-labelledby="([a-z-]+)">\s*<h2 id="\1">(.*?)</h2>', re.DOTALL)
_SCROLLED = re.compile(r'<div class="(wide|scroll)">')

LEAST_LISTED = 4
"""Minimum number of sections of a page with a table of contents."""


def shown_whole(value: Any) -> Any:
    """Return a value for a page; in texts, invisible characters are written as escapes."""
    return visible(value) if type(value) is str else value


@cache
def page(name: str) -> Template:
    """Return the template of a page, which escapes all values."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("hedgerow.report", "templates"),
        autoescape=True,
        finalize=shown_whole,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shortened"] = shortened
    environment.filters["whole"] = lambda number: f"{round(number):,}"
    environment.filters["per_cent"] = per_cent
    environment.filters["gain"] = gain_text
    environment.filters["number"] = number_text
    environment.filters["zip"] = zip
    environment.filters["settings"] = settings_text
    environment.filters["delta"] = delta_text
    environment.filters["risk_left"] = risk_left_text
    environment.globals["report_form"] = REPORT_FORM
    return environment.get_template(name)


def rendered(name: str, **facts: Any) -> str:
    """Return a page as HTML, with a table of contents."""
    return finished(page(name).render(**facts))


def finished(html: str) -> str:
    r"""Return the page with a table of contents and with wide tables reachable by keyboard.

    >>> page = '<main><section aria-labelledby="a">\n<h2 id="a">A</h2><div class="wide"></div>'
    >>> finished(page).partition('<div ')[2]
    'class="wide" role="group" tabindex="0" aria-labelledby="a"></div>'
    """
    sections = list(_SECTION.finditer(html))
    if not sections:
        return html
    starts = [found.start() for found in sections]
    pieces = [html[: starts[0]], _contents(sections)]
    for found, stop in zip(sections, [*starts[1:], len(html)], strict=True):
        named = rf'<div class="\1" role="group" tabindex="0" aria-labelledby="{found[1]}">'
        pieces.append(_SCROLLED.sub(named, html[found.start() : stop]))
    return "".join(pieces)


def _contents(sections: list[re.Match[str]]) -> str:
    if len(sections) < LEAST_LISTED:
        return ""
    lines = "".join(f'<li><a href="#{found[1]}">{found[2]}</a></li>\n' for found in sections)
    return f'<nav class="contents" aria-label="Contents of this page"><ol>\n{lines}</ol></nav>\n\n'


def number_text(value: float) -> str:
    """Return a number with four significant digits, or as an integer from 1,000 on.

    >>> number_text(40.8219), number_text(103400.7), number_text(-0.05)
    ('40.82', '103,401', '-0.05')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings as text; unset settings are omitted.

    >>> settings_text({"epsilon": 1, "for": None, "faithful": False, "h": [1, 2]})
    'epsilon = 1, faithful = no, h = 1, 2'
    """
    present = {key: value for key, value in settings.items() if value is not None}
    return ", ".join(f"{key} = {_setting_text(value)}" for key, value in present.items())


def _setting_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_setting_text(each) for each in value)
    if isinstance(value, Mapping):
        return f"({settings_text(value)})"
    return str(value)


def risk_left_text(risk: DisclosedRisk) -> str:
    """Return the remaining risk of single records, as fractions of the risk before."""
    mean, largest = (
        "higher than before" if each is None else f"at most {each} of the risk before"
        for each in (risk.mean_left, risk.largest_left)
    )
    accepted = "; the owner accepted the remaining risk" if risk.accepted else ""
    return f"mean {mean}, largest {largest}; limit: mean at most {risk.threshold}{accepted}"


def files_there(known: Sequence[tuple[str, str]], there: Collection[str]) -> list[tuple[str, str]]:
    """Return the files that exist, with descriptions; a folder is listed if it has a file."""
    folders = {name.partition("/")[0] for name in there}
    return [(name, what) for name, what in known if name in folders]


@dataclass(frozen=True, kw_only=True)
class Belief:
    """Range into which a release can move a belief, in per cent."""

    before: str
    lowest: str
    highest: str


@dataclass(frozen=True, kw_only=True)
class Promise:
    """The meaning of an epsilon: factors, rating, place on the scale, and examples."""

    factor: str
    inverse: str
    strength: str
    is_weak: bool
    at: float
    zones: tuple[str, ...]
    beliefs: tuple[Belief, ...]


def promise_of(certificate: Certificate) -> Promise | None:
    """Return the meaning of a certificate's epsilon, or ``None`` if there is no guarantee."""
    epsilon = certificate.guarantee.epsilon
    return None if epsilon is None else promised(epsilon)


def promised(epsilon: Fraction) -> Promise:
    """Return the meaning of an epsilon.

    >>> promised(Fraction(1)).strength, promised(Fraction(1)).beliefs[0].highest
    ('strong', '2.7 %')
    """
    return Promise(
        factor=factor_text(epsilon),
        inverse=inverse_factor_text(epsilon),
        strength=next(word for bound, word in STRENGTHS if epsilon <= bound),
        is_weak=epsilon > WEAK_FROM,
        at=_on_scale(float(epsilon)),
        zones=tuple(word for _, word in STRENGTHS),
        beliefs=tuple(_belief(before, float(epsilon)) for before in _BELIEFS),
    )


def _on_scale(epsilon: float) -> float:
    """Return the position of epsilon on the scale in per cent, logarithmic within zones."""
    zones = len(_SCALE) - 1
    place = np.interp(math.log(epsilon), np.log(_SCALE), np.arange(zones + 1) / zones)
    return round(100 * float(place), 2)


def _belief(before: float, epsilon: float) -> Belief:
    """Return the range of a belief: odds change by a factor of at most e to the epsilon."""
    odds = before / (1 - before)
    highest = 1 / (1 + math.exp(-epsilon) / odds)
    lowest = odds * math.exp(-epsilon) / (1 + odds * math.exp(-epsilon))
    return Belief(
        before=_per_cent(before, round),
        lowest=_per_cent(lowest, math.floor),
        highest=_per_cent(highest, math.ceil),
    )


def _per_cent(chance: float, rounding: Callable[[float], int]) -> str:
    """Return a probability in per cent, rounded in the given direction and never to 0 or 100."""
    shown = 100 * chance
    if shown > 99.9:
        return "over 99.9 %"
    if shown < 0.1:
        return "under 0.1 %"
    scale = 10 if shown < 10 or shown > 90 else 1
    # Rounding errors must not move an exact value to the next one.
    return f"{rounding(round(shown * scale, 9)) / scale:g} %"


@dataclass(frozen=True, kw_only=True)
class Precision:
    """Size of the noise of one count and of sums of counts."""

    within: int
    sums: tuple[tuple[int, int], ...]
    threshold: int | None
    shift: float


def precision_of(counts: CountNoise | None) -> Precision | None:
    """Return the size of the noise, or ``None`` if counts have none."""
    if counts is None:
        return None
    sums = tuple((n, sum_within(counts.share, n_counts=n)) for n in (1, 10, 100, 1000))
    return Precision(
        within=counts.within_95,
        sums=sums,
        threshold=counts.threshold,
        shift=round(counts.lowered_by or 0.0, 1),
    )
