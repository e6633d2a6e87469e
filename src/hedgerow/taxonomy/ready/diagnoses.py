"""ICD-10 by chapters, blocks and categories; a code belongs to the category of its first signs.

The file lists each chapter with its blocks as ranges of codes; ``+`` adds categories whose third
sign is a letter (``M05-M14+M1A``). Every letter with two digits is a category, so codes of the
WHO's and of national versions have a place as well: in a block, or directly in a chapter.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from string import ascii_uppercase

from hedgerow.taxonomy.paths import from_paths
from hedgerow.taxonomy.ready.spelling import package_lines
from hedgerow.taxonomy.tree import Taxonomy

_ROOT = "any diagnosis"
# A category, then up to four more signs, and the marks that Germany and the WHO append.
_CODE = re.compile(r"([A-Z][0-9A-Z][0-9A-Z])\.?[0-9A-Z]{0,4}[-+*!†#]{0,2}")


@dataclass(frozen=True, kw_only=True)
class _Chapter:
    label: str
    start: str
    blocks: tuple[tuple[str, str], ...]
    lettered: tuple[tuple[str, str], ...]  # a category and its block, if any

    def path(self, code: str) -> list[str]:
        """Return the labels from the root to a category."""
        within = dict(self.lettered).get(code, code)
        around = [f"{low}-{high}" for low, high in self.blocks if low <= within <= high]
        if within != code and within:
            around = around[: around.index(within) + 1]
        return [_ROOT, self.label, *around, code]


def icd10_leaf(text: str) -> str | None:
    """Return the category of a code, written with or without a dot.

    >>> icd10_leaf("I21.4"), icd10_leaf("i214"), icd10_leaf("E11.-"), icd10_leaf("250.8")
    ('I21', 'I21', 'E11', None)
    """
    found = _CODE.fullmatch(text.strip().upper())
    return None if found is None else found[1]


@cache
def icd10_tree() -> Taxonomy:
    """Return chapters, blocks, blocks within blocks, and categories."""
    chapters = list(_chapters())
    by_start = sorted(chapters, key=lambda chapter: chapter.start)
    starts = [chapter.start for chapter in by_start]
    codes = [f"{letter}{number:02}" for letter in ascii_uppercase for number in range(100)]
    members: dict[str, list[str]] = {chapter.label: [] for chapter in chapters}
    for code in codes:
        members[by_start[bisect_right(starts, code) - 1].label].append(code)
    return from_paths(
        chapter.path(code)
        for chapter in chapters
        for code in (*members[chapter.label], *(code for code, _ in chapter.lettered))
    )


def _chapters() -> Iterator[_Chapter]:
    for line in package_lines("icd-10"):
        _, codes, words, listed = line.split("|")
        blocks, lettered = [], []
        for each in listed.split(" "):
            block, *added = each.split("+")
            if block:
                low, high = block.split("-")
                blocks.append((low, high))
                if not high[-1].isdigit():
                    added.append(high)
            lettered += [(code, block) for code in added]
        yield _Chapter(
            label=f"{codes} {words}",
            start=codes[:1] + ("00" if codes[1:3] == "01" else codes[1:3]),
            blocks=tuple(sorted(blocks, key=lambda each: (each[0], _backwards(each[1])))),
            lettered=tuple(lettered),
        )


def _backwards(text: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in text)
