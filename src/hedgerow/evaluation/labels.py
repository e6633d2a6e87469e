"""Parse labels of generalised values, as other tools write them, into ranges of codes.

Accepted are values, the labels of taxonomy nodes, several values joined by ``|`` or as
``{a, b}``, ``*`` for anything, numbers, and intervals: ``[17, 30)``, ``17-29``, ``17..29``,
``<30``, ``>=65``. Dates in ISO form can replace numbers; ``2020-03``, ``2020-Q1`` and ``2020``
are a month, a quarter and a year.
"""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from hedgerow.encode.columns import spellings
from hedgerow.model.dates import parse_dates
from hedgerow.taxonomy.domain import MISSING, CategoricalDomain, DateDomain, Domain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

SUPPRESSED = frozenset({"*", "Any", "ANY", "any"})
"""Texts for any value, unless the domain has a value of that name."""

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_SINGLE = re.compile(_NUMBER)
_BRACKETS = re.compile(rf"([\[\](])\s*({_NUMBER})\s*[,;:]\s*({_NUMBER})\s*([\])\[])")
_DASHED = re.compile(rf"({_NUMBER})\s*(?:-|–|—|\.\.+|~|to)\s*({_NUMBER})")
_ONE_SIDED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?", re.ASCII)
_PERIOD = re.compile(r"(\d{4})(?:-[Qq]([1-4])|-(\d{2}))?", re.ASCII)
_OUR_MISSING = f"{MISSING} or "

Span = tuple[int, int]


def span_of(text: str, domain: Domain, *, markers: frozenset[str] = frozenset()) -> Span | None:
    """Return the codes ``[first, stop)`` of a label, or ``None`` if it is not one.

    ``markers`` are texts of missing values; the domain needs a code for them.

    >>> age = NumericDomain.even(low=17, high=90, step=1)
    >>> span_of("[17, 30)", age), span_of("17-29", age), span_of("30", age), span_of("*", age)
    ((0, 13), (0, 13), (13, 14), (0, 74))
    """
    label = text.strip()
    span = _categorical(label, domain) if isinstance(domain, CategoricalDomain) else None
    if span is None and isinstance(domain, DateDomain):
        span = _dated(label, domain)
    elif span is None and isinstance(domain, NumericDomain):
        span = _numeric(label, domain)
    if span is None and (label in markers or not label) and domain.missing_code is not None:
        return domain.missing_code, domain.missing_code + 1
    if span is None and label in SUPPRESSED:
        return 0, domain.size
    if span is None and label.startswith("'"):  # the prefix that marks text in spreadsheets
        return span_of(label[1:], domain, markers=markers)
    return span


def _categorical(label: str, domain: CategoricalDomain) -> Span | None:
    taxonomy = domain.taxonomy
    for spelling in spellings(label):
        node = _node(spelling, taxonomy)
        if node is not None:
            return node
    for opened, closed, between in (("", "", "|"), ("{", "}", ","), ("{", "}", ";")):
        if label.startswith(opened) and label.endswith(closed) and between in label:
            inner = label[len(opened) : len(label) - len(closed)].split(between)
            return _joined([part.strip() for part in inner], taxonomy)
    return None


def _node(label: str, taxonomy: Taxonomy) -> Span | None:
    if label in taxonomy.leaf_code:
        code = taxonomy.leaf_code[label]
        return code, code + 1
    if label in taxonomy.labels:
        node = taxonomy.find(label)
        return int(taxonomy.first[node]), int(taxonomy.stop[node])
    return None


def _joined(labels: list[str], taxonomy: Taxonomy) -> Span | None:
    """Return the range of several values, if they are consecutive."""
    spans = [_node(label, taxonomy) for label in labels]
    known = sorted(span for span in spans if span is not None)
    if len(known) < len(spans) or not known:
        return None
    first, stop = known[0]
    for begin, end in known[1:]:
        if begin > stop:
            return None
        stop = max(stop, end)
    return first, stop


def _dated(label: str, domain: DateDomain) -> Span | None:
    """Return the codes of a label of dates, which are converted into day numbers."""
    found = _PERIOD.fullmatch(label)
    if found:
        year, quarter, month = (int(each or 0) for each in found.groups())
        first = (quarter - 1) * 3 + 1 if quarter else month or 1
        months = 3 if quarter else 1 if month else 12
        if not 1 <= first <= 12 or not 1 <= year <= 9999:
            return None
        begin = np.datetime64("1970-01", "M") + (year - 1970) * 12 + first - 1
        low, high = (each.astype("datetime64[D]").astype(int) for each in (begin, begin + months))
        return _between(domain, Fraction(low), Fraction(high - 1), closed=True, opened=False)
    texts = _DATE.findall(label)
    days, ok = parse_dates(texts, "iso")
    if not ok.all() or not (texts or label == MISSING):
        return None
    numbers = iter(days.tolist())
    return _numeric(_DATE.sub(lambda _: str(next(numbers)), label), domain)


def _numeric(label: str, domain: NumericDomain) -> Span | None:
    if label == MISSING and domain.missing:
        return 0, 1
    if label.startswith(_OUR_MISSING) and domain.missing:
        known = _numeric(label.removeprefix(_OUR_MISSING), domain)
        return None if known is None or known[0] != 1 else (0, known[1])
    if _SINGLE.fullmatch(label):
        return _between(domain, Fraction(label), Fraction(label), closed=True, opened=False)
    found = _BRACKETS.fullmatch(label)
    if found:
        left, low, high, right = found.groups()
        closed = right == "]"
        return _between(domain, Fraction(low), Fraction(high), closed=closed, opened=left in "(]")
    found = _DASHED.fullmatch(label)
    if found:
        low, high = found.groups()
        return _between(domain, Fraction(low), Fraction(high), closed=True, opened=False)
    found = _ONE_SIDED.fullmatch(label)
    return None if found is None else _one_sided(domain, found[1], Fraction(found[2]))


def _one_sided(domain: NumericDomain, sign: str, bound: Fraction) -> Span | None:
    if sign in {"<", "<=", "≤"}:
        return _between(domain, domain.low, bound, closed=sign != "<", opened=False)
    return _between(domain, bound, domain.high, closed=True, opened=sign == ">")


def _between(
    domain: NumericDomain, low: Fraction, high: Fraction, *, closed: bool, opened: bool
) -> Span | None:
    """Return the cells that an interval touches; ``opened`` and ``closed`` are its two ends."""
    if low > high:
        return None
    shift = int(domain.missing)
    if high <= domain.low:  # clamped, as values are
        return shift, shift + 1
    first, last = _cell(domain, low), _cell(domain, high)
    # An open end excludes a cell that is one integer, or that begins there.
    if opened and domain.grid.counts_integers and low == domain.grid.border(first):
        first += low >= domain.low
    if not closed and high == domain.grid.border(last):
        last -= 1
    if first > last:
        return None
    return first + shift, last + 1 + shift


def _cell(domain: NumericDomain, value: Fraction) -> int:
    """Return the cell of an exact number, clamped to the grid, by bisection."""
    lowest, highest = 0, domain.grid.n_cells - 1
    while lowest < highest:
        middle = (lowest + highest + 1) // 2
        if domain.grid.border(middle) <= value:
            lowest = middle
        else:
            highest = middle - 1
    return lowest
