"""The list of ready taxonomies, with their sources and licences."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.paths import from_paths
from hedgerow.taxonomy.ready import ages, diagnoses, times
from hedgerow.taxonomy.ready.spelling import plain_spelling, spelt_tree
from hedgerow.taxonomy.tree import Taxonomy

PREFIX = "hedgerow:"
"""Prefix of a ready taxonomy in a plan: ``taxonomy: hedgerow:countries``."""

_FACTS = "plain facts; arrangement and words are hedgerow's own (MIT)"
_US = "a work of the United States government, in the public domain"
_ZIP = re.compile(r"([0-9]{3})(?:[0-9]{2}(?:-?[0-9]{4})?|xx|\*\*)?")
_SHORT_ZIP = re.compile(r"([0-9]{2})[0-9]{2}")
_LEVEL = re.compile(r"(?:isced|ed)?\s*(?:2011)?\s*(?:level)?\s*([0-8])[0-9]{0,2}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReadyTaxonomy:
    """A taxonomy that is part of the package; it is loaded at first use.

    ``hints`` are words in the names of columns that may hold it. With ``is_telling`` its values are
    like no others, so that a column without such a name may hold it as well; with ``fewest``, a
    column of fewer values is better off with a list of them.
    """

    name: str
    title: str
    values: str
    source: str
    licence: str
    build: Callable[[], Taxonomy]
    read: Callable[[str], str | None]
    hints: frozenset[str]
    is_telling: bool = False
    fewest: int = 1

    @property
    def tree(self) -> Taxonomy:
        """The tree of the taxonomy."""
        return self.build()

    def leaf_of(self, text: str) -> str | None:
        """Return the leaf of a text, or ``None`` if it is outside."""
        leaves = self.tree.leaf_code
        if text in leaves:
            return text
        leaf = self.read(text)
        return leaf if leaf in leaves else None


def ready_name(spec: object) -> str | None:
    """Return the name of the ready taxonomy in a plan's setting, or ``None``.

    >>> ready_name("hedgerow:countries"), ready_name("countries.csv")
    ('countries', None)
    """
    is_one = isinstance(spec, str) and spec.startswith(PREFIX)
    return str(spec).removeprefix(PREFIX) if is_one else None


def ready_taxonomy(name: str) -> ReadyTaxonomy:
    """Return the ready taxonomy of this name, with or without ``hedgerow:``."""
    found = READY.get(name.removeprefix(PREFIX))
    if found is None:
        raise TaxonomyError(
            f"There is no ready taxonomy {name.removeprefix(PREFIX)[:60]!r}.",
            where=PREFIX,
            do=f"Give one of: {', '.join(PREFIX + each for each in READY)}.",
        )
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _spelt(
    *,
    name: str,
    file: str,
    root: str,
    title: str,
    values: str,
    source: str,
    licence: str,
    hints: str,
    is_telling: bool = False,
) -> ReadyTaxonomy:
    """Return a taxonomy from a file of the package."""
    return ReadyTaxonomy(
        name=name,
        title=title,
        values=values,
        source=source,
        licence=licence,
        build=lambda: spelt_tree(file, root=root).tree,
        read=lambda text: spelt_tree(file, root=root).leaf_of(text),
        hints=_words(hints),
        is_telling=is_telling,
    )


def _zip3_leaf(text: str) -> str | None:
    """Return the first three digits of a ZIP code, which may lack its leading zero."""
    if found := _ZIP.fullmatch(text):
        return found[1]
    found = _SHORT_ZIP.fullmatch(text)
    return f"0{found[1]}" if found else None


@cache
def _zip3_tree() -> Taxonomy:
    codes = (f"{code:03}" for code in range(1000))
    return from_paths(["any ZIP", f"{code[0]}xx", f"{code[:2]}x", code] for code in codes)


def _isced_leaf(text: str) -> str | None:
    spelt = spelt_tree("isced", root="any education")
    if (leaf := spelt.leaf_of(text)) is not None:
        return leaf
    found = _LEVEL.fullmatch(plain_spelling(text))
    return spelt.leaf_of(f"ISCED {found[1]}") if found else None


_ALL = (
    _spelt(
        name="countries",
        file="countries",
        root="World",
        title="countries and areas, by sub-regions and regions of the United Nations",
        values="names (Germany, Deutschland), ISO 3166-1 codes (DE, DEU), M49 numbers (276)",
        source="United Nations Statistics Division, standard M49; codes of ISO 3166-1. Taiwan and"
        " Kosovo, which M49 does not list, stand with their neighbours",
        licence=_FACTS,
        hints="country countries nation nationality land staat herkunftsland geburtsland pays pais"
        " staatsangehoerigkeit staatsangehörigkeit citizenship birthplace origin",
        is_telling=True,
    ),
    _spelt(
        name="us-states",
        file="us-states",
        root="United States",
        title="states of the USA, by divisions and regions of the Census Bureau",
        values="names (California), postal codes (CA), FIPS numbers (06)",
        source="U.S. Census Bureau, census regions and divisions; FIPS 5-2; U.S. Postal Service",
        licence=_US,
        hints="state states statefip statefips",
        is_telling=True,
    ),
    ReadyTaxonomy(
        name="zip3",
        title="the first three digits of ZIP codes",
        values="90210, 90210-1234, 902; 2139 for 02139",
        source="U.S. Postal Service: the first digit is an area, the first three a centre",
        licence=_FACTS,
        build=_zip3_tree,
        read=_zip3_leaf,
        hints=_words("zip zipcode zip3 zip5 zcta"),
        fewest=100,
    ),
    ReadyTaxonomy(
        name="icd-10",
        title="diagnoses of ICD-10-CM, by categories of three signs, blocks and chapters",
        values="codes with or without a dot (I21.4, I214, I21.-); those of other versions too",
        source="U.S. National Center for Health Statistics, ICD-10-CM, April 2026: ranges of codes",
        licence=f"{_US}; only ranges of codes are taken, and the words are hedgerow's own, as the"
        " texts of ICD-10 are the World Health Organization's",
        build=diagnoses.icd10_tree,
        read=diagnoses.icd10_leaf,
        hints=_words(
            "icd icd10 icd10cm icd10gm diagnosis diagnoses diagnose diag dx hauptdiagnose"
            " nebendiagnose aufnahmediagnose entlassdiagnose diagnosecode diagnosis1"
        ),
    ),
    ReadyTaxonomy(
        name="isced",
        title="levels of education of ISCED 2011",
        values="levels (0 to 8, ISCED 3, ED3), their names, codes of two or three digits (344)",
        source="UNESCO Institute for Statistics, International Standard Classification of"
        " Education 2011: numbers of the levels",
        licence=_FACTS,
        build=lambda: spelt_tree("isced", root="any education").tree,
        read=_isced_leaf,
        hints=_words("isced isced11 isced2011"),
    ),
    _spelt(
        name="months",
        file="months",
        root="any month",
        title="months of the year, by quarters",
        values="names (March, Mar, März, mars), numbers (3, 03)",
        source="the calendar",
        licence=_FACTS,
        hints="month months monat mois mes mnth",
        is_telling=True,
    ),
    ReadyTaxonomy(
        name="years",
        title="the years 1900 to 2099, by decades",
        values="1987",
        source="the calendar",
        licence=_FACTS,
        build=times.years_tree,
        read=times.year_leaf,
        hints=_words(""),
    ),
    ReadyTaxonomy(
        name="year-months",
        title="the months of 1900 to 2099, by quarters, years and decades",
        values="2020-03, 202003, 3/2020, 2020-03-15",
        source="the calendar",
        licence=_FACTS,
        build=times.year_months_tree,
        read=times.year_month_leaf,
        hints=_words(""),
    ),
    ReadyTaxonomy(
        name="age-bands",
        title="ages in bands of five years up to 100+",
        values="ages (37), bands (35-39, [35,40), 100+)",
        source="the usual bands of official statistics",
        licence=_FACTS,
        build=ages.age_bands_tree,
        read=ages.age_band_leaf,
        hints=_words("age ages agegroup ageband alter altersgruppe altersklasse"),
    ),
    ReadyTaxonomy(
        name="age-decades",
        title="ages in bands of ten years up to 90+",
        values="ages (37), bands (30-39, [70-80), 90+)",
        source="the usual bands of official statistics",
        licence=_FACTS,
        build=ages.age_decades_tree,
        read=ages.age_decade_leaf,
        hints=_words("age ages agegroup ageband alter altersgruppe altersklasse"),
    ),
)
READY = {each.name: each for each in _ALL}
"""All ready taxonomies, by name."""
