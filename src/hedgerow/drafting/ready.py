"""The ready taxonomy of a column's values, by its name and by their coverage."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.drafting.columns import name_words
from hedgerow.drafting.coverage import Coverage, coverage_of
from hedgerow.drafting.profile import Profile
from hedgerow.taxonomy.ready.catalogue import PREFIX, READY, ReadyTaxonomy

OTHER = "other"
_ENOUGH = 0.9  # share of the records whose values must be in a taxonomy that the name suggests
_SURELY = 0.95  # the same for any other taxonomy
_SEVERAL = 8  # distinct values, for any other taxonomy: AM and PM are countries as well


@dataclass(frozen=True, kw_only=True, repr=False)
class ReadyFit:
    """The ready taxonomy that covers most records of a column (confidential)."""

    taxonomy: ReadyTaxonomy
    coverage: Coverage

    @property
    def name(self) -> str:
        """Name in a plan."""
        return PREFIX + self.taxonomy.name

    @property
    def settings(self) -> dict[str, str]:
        """Settings of the attribute, always with ``other``: nothing is from the data."""
        return {"taxonomy": self.name, "other": OTHER}

    def note(self, column: str) -> str | None:
        """Return a notice for the owner about values outside; never part of the plan."""
        n_outside = len(self.coverage.outside)
        if not n_outside:
            return None
        values = "1 value" if n_outside == 1 else f"{n_outside:,} values"
        return f"{self.name} does not list {values} of {column!r}, which count as {OTHER!r}."


def ready_fit(profile: Profile) -> ReadyFit | None:
    """Return the ready taxonomy that fits a column best, if one fits.

    Numbers are in many taxonomies, and ages are better as numbers: there the name must match.
    """
    if not profile.complete or not profile.known:
        return None
    words = name_words(profile)
    best: ReadyFit | None = None
    for taxonomy in READY.values():
        is_hinted = bool(taxonomy.hints & words)
        is_digits = profile.is_mostly_number or profile.is_padded
        if not is_hinted and (is_digits or not taxonomy.is_telling):
            continue
        if profile.is_mostly_number and taxonomy.name.startswith("age-"):
            continue
        found = coverage_of(profile, taxonomy.leaf_of)
        fits = found.share >= (_ENOUGH if is_hinted else _SURELY)
        fewest = taxonomy.fewest if is_hinted else max(_SEVERAL, taxonomy.fewest)
        if not fits or found.n_inside < fewest:
            continue
        if best is None or found.share > best.coverage.share:
            best = ReadyFit(taxonomy=taxonomy, coverage=found)
    return best
