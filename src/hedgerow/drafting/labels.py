"""Value labels of a file as the public domain of a column; nothing in it is from the data.

The labels of an SPSS or Stata file are its code book: they were written before any record was, and
list values that no record has.
"""

from __future__ import annotations

from collections.abc import Mapping

from hedgerow.drafting.profile import Profile
from hedgerow.plan.fields import MAX_TEXT, ROOT

WHY = "the value labels of the file"
_ENOUGH = 0.9  # share of the records whose value has a label: else labels mark a scale's ends
_FEWEST = 2


def apply_labels(profiles: Mapping[str, Profile], labels: Mapping[str, Mapping[str, str]]) -> None:
    """Replace the profiles of columns with labels by profiles of these labels.

    A column with labels for few of its values, such as the ends of a scale, stays one of numbers.
    """
    for name, of_values in labels.items():
        profile = profiles.get(name)
        if profile is not None and _are_its_domain(profile, of_values):
            profile.relabel(of_values)


def _are_its_domain(profile: Profile, labels: Mapping[str, str]) -> bool:
    if not profile.complete or len(labels) < _FEWEST:
        return False
    if any(not _is_writable(label) for label in labels.values()):
        return False
    known = profile.known
    labelled = sum(n for word, n in known.items() if word in labels)
    return labelled >= _ENOUGH * max(1, sum(known.values()))


def _is_writable(label: str) -> bool:
    return label.isprintable() and len(label) <= MAX_TEXT and label != ROOT
