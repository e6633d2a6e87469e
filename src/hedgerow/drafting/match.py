"""Matching of taxonomies in a folder to columns: by name, or by covering their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hedgerow.drafting.profile import RARE, Profile
from hedgerow.errors import HedgerowError, TaxonomyError
from hedgerow.taxonomy.files import read_taxonomy
from hedgerow.taxonomy.tree import Taxonomy

_SUFFIXES = (".csv", ".tsv", ".txt", ".yaml", ".yml", ".json", ".gz")
_FILLERS = {"hierarchy", "taxonomy", "tree", "vgh", "dgh"}
_ENOUGH = 0.9  # share of the records that a taxonomy of the right name must cover


@dataclass(frozen=True, kw_only=True)
class TaxonomyFile:
    """A taxonomy, and its file."""

    path: Path
    taxonomy: Taxonomy


@dataclass(frozen=True, kw_only=True)
class Match:
    """The taxonomy chosen for a column, the reason, and the label for values it does not list."""

    file: TaxonomyFile
    by_name: bool
    other: str | None


def words_of(name: str) -> tuple[str, ...]:
    """Return the words in a name, in lower case.

    >>> words_of("Marital_status"), words_of("nativeCountry.2")
    (('marital', 'status'), ('native', 'country', '2'))
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(word.casefold() for word in re.split(r"[\W_]+", spaced) if word)


def taxonomies_in(folder: Path) -> tuple[list[TaxonomyFile], list[str]]:
    """Return the taxonomies in a folder, and a note for each file that is not one."""
    if not folder.is_dir():
        raise TaxonomyError(
            "The folder does not exist.", where=str(folder), do="Name a folder of taxonomy files."
        )
    found, notes = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in _SUFFIXES and path.is_file():
            try:
                found.append(TaxonomyFile(path=path, taxonomy=read_taxonomy(path)))
            except HedgerowError:
                notes.append(f"{path.name} in the folder of taxonomies is not a taxonomy.")
    return found, notes


def match_for(profile: Profile, files: Sequence[TaxonomyFile]) -> Match | None:
    """Return the taxonomy that fits a column, if one does."""
    for file in files:
        if _named_alike(profile.name, file.path) and _coverage(profile, file) >= _ENOUGH:
            return _match(profile, file, by_name=True)
    if profile.is_number:
        return None  # whole numbers fit too many taxonomies
    for file in files:
        if _covers_frequent(profile, file):
            return _match(profile, file, by_name=False)
    return None


def _match(profile: Profile, file: TaxonomyFile, *, by_name: bool) -> Match:
    leaves = file.taxonomy.leaf_code
    is_covered = all(word in leaves for word in profile.known)
    other = None if is_covered else free_label(file.taxonomy.labels)
    return Match(file=file, by_name=by_name, other=other)


def free_label(taken: Sequence[str]) -> str:
    """Return a label for all other values that is not ``taken``."""
    label = "other"
    while label in taken:
        label += " values" if label == "other" else "+"
    return label


def _named_alike(name: str, path: Path) -> bool:
    stem = path.name.split(".")[0] if path.suffix.lower() == ".gz" else path.stem
    words, file_words = words_of(name), tuple(w for w in words_of(stem) if w not in _FILLERS)
    return bool(words) and words in (
        file_words,
        file_words[-len(words) :],
        file_words[: len(words)],
    )


def _coverage(profile: Profile, file: TaxonomyFile) -> float:
    known = profile.known
    covered = sum(n for word, n in known.items() if word in file.taxonomy.leaf_code)
    return covered / max(sum(known.values()), 1)


def _covers_frequent(profile: Profile, file: TaxonomyFile) -> bool:
    frequent = [word for word, n in profile.known.items() if n >= RARE]
    return len(frequent) > 1 and all(word in file.taxonomy.leaf_code for word in frequent)
