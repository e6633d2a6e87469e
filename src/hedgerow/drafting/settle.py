"""The form of a file's numbers and dates, decided from all of its columns together.

A file is usually written by one program: the format of one column decides for ambiguous ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from hedgerow.drafting.moments import SWAPPED, DateFound
from hedgerow.drafting.profile import Profile
from hedgerow.drafting.quantity import ENOUGH, FORMS, LEAST_SHARE, THOUSAND, NumbersSeen
from hedgerow.model.dates import DateFormat
from hedgerow.model.reading import Decimal, NumberMarks, Thousands


def dates_of(profiles: Mapping[str, Profile]) -> dict[str, DateFound]:
    """Return the columns of dates; the format of one column decides for ambiguous ones."""
    found = {name: profile.dates.found(profile.n_known) for name, profile in profiles.items()}
    settled = Counter(forms[0] for forms in found.values() if len(forms) == 1)
    return {
        name: _chosen(forms, profiles[name].dates.seen or {}, settled)
        for name, forms in found.items()
        if forms
    }


def _chosen(
    forms: Iterable[DateFormat],
    seen: Mapping[DateFormat, NumbersSeen],
    settled: Mapping[DateFormat, int],
) -> DateFound:
    first = next(iter(forms))
    other = SWAPPED.get(first)
    if other is None or other not in forms:
        return DateFound(format=first, seen=seen[first])
    # Day and month are swapped in the same way for all separators.
    by_day = sum(settled.get(form, 0) for form in SWAPPED)
    by_month = sum(settled.get(form, 0) for form in SWAPPED.values())
    if by_day == by_month:
        return DateFound(format=first, seen=seen[first], other=other)
    choice = first if by_day > by_month else other
    return DateFound(format=choice, seen=seen[choice])


def settle_marks(profiles: Mapping[str, Profile]) -> NumberMarks:
    """Return the marks of the file's numbers, and set those of each profile."""
    of_file = _marks_of_file(profiles.values())
    is_settled = any(_decimal(profile) is not None for profile in profiles.values())
    for profile in profiles.values():
        profile.marks = _marks_of_column(profile, of_file, is_settled=is_settled)
    return of_file


def _marks_of_file(profiles: Iterable[Profile]) -> NumberMarks:
    """Return the marks of most columns of numbers, if their texts settle it."""
    found = [(profile, _decimal(profile)) for profile in profiles]
    votes = Counter(decimal for _, decimal in found if decimal is not None)
    decimal: Decimal = "comma" if votes["comma"] > votes["point"] else "point"
    grouped = Counter(
        _thousands(profile, decimal) for profile, settled in found if settled in (decimal, None)
    )
    del grouped["none"]
    return NumberMarks(
        decimal=decimal, thousands=grouped.most_common(1)[0][0] if grouped else "none"
    )


def _decimal(profile: Profile) -> Decimal | None:
    """Return the decimal mark of a column, if its texts settle it."""
    point, comma = (_most(profile, decimal) for decimal in ("point", "comma"))
    if point == comma or max(point, comma) < LEAST_SHARE * profile.n_known:
        return None
    return "point" if point > comma else "comma"


def _most(profile: Profile, decimal: Decimal) -> int:
    seen = profile.numbers.seen.items()
    return max(each.n_records for form, each in seen if form.decimal == decimal)


def _thousands(profile: Profile, decimal: Decimal) -> Thousands:
    """Return the thousands separator, for a decimal mark."""
    seen = profile.numbers.seen
    forms = [form for form in FORMS if form.decimal == decimal]
    most = max(seen[form].n_records for form in forms)
    marked = [form for form in forms if seen[form].n_records == most and seen[form].n_marked]
    return marked[0].thousands if most >= LEAST_SHARE * profile.n_known and marked else "none"


def _marks_of_column(profile: Profile, of_file: NumberMarks, *, is_settled: bool) -> NumberMarks:
    decimal = _decimal(profile)
    if decimal is None:
        return _undecided(profile, of_file, is_settled=is_settled)
    marks = NumberMarks(decimal=decimal, thousands=_thousands(profile, decimal))
    ours, others = profile.numbers.seen[marks], profile.numbers.seen[of_file]
    return of_file if ours.reads_like(others) else marks


def _undecided(profile: Profile, of_file: NumberMarks, *, is_settled: bool) -> NumberMarks:
    """Return the marks of ambiguous numbers such as 6.893, with three digits after every mark."""
    for marks in (FORMS[2], FORMS[3]):
        if not profile.numbers.seen[marks].n_marked:
            continue
        if is_settled:
            return marks if marks.decimal == of_file.decimal else of_file
        if _is_grouped(profile, marks):
            return marks
        decimal: Decimal = "comma" if marks.decimal == "point" else "point"
        return NumberMarks(decimal=decimal)
    return of_file


def _is_grouped(profile: Profile, marks: NumberMarks) -> bool:
    """Return whether a mark looks like a thousands separator, by the numbers alone.

    Numbers below a thousand then have no mark, and all others have one. A point in every number is
    taken for the decimal mark, a comma is not.
    """
    numbers = profile.numbers
    has_bare = numbers.high_bare > float("-inf")
    is_small = numbers.high_bare < THOUSAND
    enough = numbers.seen[marks].n_marked >= ENOUGH
    return enough and is_small and (has_bare or marks.thousands == "comma")
