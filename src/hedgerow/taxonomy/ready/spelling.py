"""Trees with several spellings of their values, from small text files in the package.

A line is ``GROUP > SUBGROUP|Value|alias; alias``. A text stands for a value if it is equal except
for case, accents and separators of words: ``UNITED-STATES``, ``U.S.A.``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hedgerow.taxonomy.paths import from_paths
from hedgerow.taxonomy.tree import Taxonomy

_BETWEEN = re.compile(r"[^0-9a-z]+")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SpeltTree:
    """A tree, and the leaf of every spelling."""

    tree: Taxonomy
    leaves: Mapping[str, str]

    def leaf_of(self, text: str) -> str | None:
        """Return the leaf of a text, or ``None``."""
        return self.leaves.get(plain_spelling(text))


def plain_spelling(text: str) -> str:
    """Return a text without the differences between spellings.

    >>> plain_spelling("Côte d’Ivoire"), plain_spelling("U.S.A."), plain_spelling("Trinidad&Tobago")
    ('cote d ivoire', 'usa', 'trinidad and tobago')
    """
    folded = unicodedata.normalize("NFKD", text.casefold()).replace("&", " and ")
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return " ".join(_BETWEEN.sub(" ", bare.replace(".", "")).split())


@cache
def spelt_tree(name: str, *, root: str) -> SpeltTree:
    """Return the tree of one of the package's files."""
    paths, leaves = [], {}
    for line in package_lines(name):
        groups, leaf, aliases = line.split("|")
        paths.append([root, *filter(None, groups.split(" > ")), leaf])
        for spelling in (leaf, *aliases.split("; ")):
            plain = plain_spelling(spelling)
            leaves[plain] = leaf
            if plain.isdigit():  # a number that has lost its leading zeros
                leaves[str(int(plain))] = leaf
    return SpeltTree(tree=from_paths(paths), leaves=leaves)


def package_lines(name: str) -> list[str]:
    """Return the lines of one of the package's files."""
    text = files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return text.splitlines()
