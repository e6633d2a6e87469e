"""What the reports of all releases share: the page, epsilon in words, the noise in numbers."""

from __future__ import annotations

import math
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
from hedgerow.report.finish import finished

if TYPE_CHECKING:
    from jinja2 import Template

STRENGTHS = (
    (Fraction(1, 10), "very strong"),
    (Fraction(1), "strong"),
    (Fraction(3), "moderate"),
    (Fraction(10), "weak"),
    (Fraction(10**9), "very weak"),
)
"""Words for epsilon up to each bound: a rule of thumb, and the page says so."""

WEAK_FROM = Fraction(5)

_SCALE = (0.01, 0.1, 1.0, 3.0, 10.0, 50.0)
"""Ends of the zones, each of which is drawn as wide as the others: the first and the last of what
is drawn, and the bounds of the words between."""

_BELIEFS = (0.01, 0.1, 0.5)

REPORT_FORM = "hedgerow, report form 1"
"""What pages call the form that `hedgerow verify` compares with the certificate.

Give it another number when a line or a sentence that `release/restated.py` compares is worded
differently: older pages are then not compared, in place of being called modified.
"""


def shown_whole(value: Any) -> Any:
    """Return what a page shows: in texts, what nobody would see is written out."""
    return visible(value) if type(value) is str else value


@cache
def page(name: str) -> Template:
    """Return the template of a page, which escapes whatever it is given."""
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
    environment.filters["whole"] = lambda number: f"{number:,}"
    environment.filters["settings"] = settings_text
    environment.filters["delta"] = delta_text
    environment.filters["risk_left"] = risk_left_text
    environment.globals["report_form"] = REPORT_FORM
    return environment.get_template(name)


def rendered(name: str, **facts: Any) -> str:
    """Return a page as HTML, with its contents listed."""
    return finished(page(name).render(**facts))


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings in words; what was not given is not there to be told.

    >>> settings_text({"epsilon": 1, "for": None, "faithful": False, "h": [1, 2]})
    'epsilon = 1, faithful = no, h = 1, 2'
    """
    given = {key: value for key, value in settings.items() if value is not None}
    return ", ".join(f"{key} = {_setting_text(value)}" for key, value in given.items())


def _setting_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_setting_text(each) for each in value)
    if isinstance(value, Mapping):
        return f"({settings_text(value)})"
    return str(value)


def risk_left_text(risk: DisclosedRisk) -> str:
    """Return how much risk single records have left, in parts of what it was."""
    mean, largest = (
        "more than before" if each is None else f"at most {each} of what it was"
        for each in (risk.mean_left, risk.largest_left)
    )
    accepted = "; the owner accepted whatever is left" if risk.accepted else ""
    return f"mean {mean}, largest {largest}; wanted: mean at most {risk.threshold}{accepted}"


def files_there(known: Sequence[tuple[str, str]], there: Collection[str]) -> list[tuple[str, str]]:
    """Return the files that are there, with what each is; a folder is, if a file in it is."""
    folders = {name.partition("/")[0] for name in there}
    return [(name, what) for name, what in known if name in folders]


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
    inverse: str
    strength: str
    is_weak: bool
    at: float
    zones: tuple[str, ...]
    beliefs: tuple[Belief, ...]


def promise_of(certificate: Certificate) -> Promise | None:
    """Return what epsilon means in plain words; nothing where there is no guarantee."""
    epsilon = certificate.guarantee.epsilon
    return None if epsilon is None else promised(epsilon)


def promised(epsilon: Fraction) -> Promise:
    """Return what an epsilon means in plain words.

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
    """Return where epsilon stands, in per cent: by its logarithm, zone by zone."""
    zones = len(_SCALE) - 1
    place = np.interp(math.log(epsilon), np.log(_SCALE), np.arange(zones + 1) / zones)
    return round(100 * float(place), 2)


def _belief(before: float, epsilon: float) -> Belief:
    """Odds move by a factor of at most e to the epsilon, up or down."""
    odds = before / (1 - before)
    highest = 1 / (1 + math.exp(-epsilon) / odds)
    lowest = odds * math.exp(-epsilon) / (1 + odds * math.exp(-epsilon))
    return Belief(
        before=_per_cent(before, round),
        lowest=_per_cent(lowest, math.floor),
        highest=_per_cent(highest, math.ceil),
    )


def _per_cent(chance: float, rounding: Callable[[float], int]) -> str:
    """Return a chance in per cent, rounded as its bound asks for, and never to certainty."""
    shown = 100 * chance
    if shown > 99.9:
        return "over 99.9 %"
    if shown < 0.1:
        return "under 0.1 %"
    scale = 10 if shown < 10 or shown > 90 else 1
    # What differs from a whole number by rounding errors of this computation alone is that number.
    return f"{rounding(round(shown * scale, 9)) / scale:g} %"


@dataclass(frozen=True, kw_only=True)
class Precision:
    """What the noise means for one count and for sums of counts."""

    within: int
    sums: tuple[tuple[int, int], ...]
    threshold: int | None
    shift: float


def precision_of(counts: CountNoise | None) -> Precision | None:
    """Return what the noise of the counts means; nothing where there is none."""
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
