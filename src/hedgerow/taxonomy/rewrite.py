"""Edits of a taxonomy's file: written in its own format, and only if nobody else changed it."""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.files import Format, file_format, read_taxonomy, taxonomy_text
from hedgerow.taxonomy.formats.text import read_text, write_taxonomy_text
from hedgerow.taxonomy.tree import Taxonomy

MOST_LINES = 60
"""Largest number of lines of a difference that are shown."""


class TaxonomyChangedError(TaxonomyError):
    """The file is not the one that was opened; ``difference`` are lines as in ``diff``."""

    def __init__(self, path: Path, difference: tuple[str, ...]) -> None:
        self.difference = difference
        super().__init__(
            "The file was changed by somebody else, and is left as it is.",
            where=path.name,
            do="Look at the difference, open the file again and repeat the edit.",
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OpenedTaxonomy:
    """A taxonomy with its file; ``head`` are the first comments."""

    path: Path
    format: Format
    head: str
    text: str
    digest: str
    taxonomy: Taxonomy

    @classmethod
    def read(cls, path: Path) -> OpenedTaxonomy:
        """Read a file; an error names the place of every fault."""
        text, format_ = read_text(path), file_format(path)
        return cls(
            path=path,
            format=format_,
            head=_head(text) if format_ == "yaml" else "",
            text=text,
            digest=digest_of(path),
            taxonomy=read_taxonomy(path, format=format_),
        )

    @property
    def n_inner_comments(self) -> int:
        """Number of lines of a YAML file with a comment that an edit will not keep."""
        if self.format != "yaml":
            return 0
        return sum(_has_comment(line) for line in self.text[len(self.head) :].splitlines())

    def written(self, taxonomy: Taxonomy) -> str:
        """Return the text of this file with another taxonomy in it."""
        return self.head + taxonomy_text(taxonomy, self.format)

    def replace(self, taxonomy: Taxonomy) -> OpenedTaxonomy:
        """Write another taxonomy atomically and return the file; refuse if it has changed."""
        self.check_unchanged()
        text = self.written(taxonomy)
        write_taxonomy_text(self.path, text)
        # The written text reads as this very taxonomy (tests check that for every format), and
        # reading a large file takes longer than the edit.
        return replace(self, text=text, digest=digest_of(self.path), taxonomy=taxonomy)

    def check_unchanged(self) -> None:
        """Refuse, with the difference, if the file is not the one that was read."""
        if digest_of(self.path) != self.digest:
            raise TaxonomyChangedError(self.path, difference(self.text, read_text(self.path)))


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise TaxonomyError(
            f"The file cannot be read ({error.strerror or error}).",
            where=path.name,
            do="Check that the file still exists.",
        ) from error


def difference(before: str, now: str) -> tuple[str, ...]:
    """Return the difference between two texts, line by line, up to a number of lines."""
    lines = unified_diff(
        before.splitlines(), now.splitlines(), "as it was opened", "as it is now", lineterm="", n=1
    )
    return tuple(itertools.islice(lines, MOST_LINES))


def _head(text: str) -> str:
    """Return the comments and blank lines at the beginning of a YAML file."""
    lines = itertools.takewhile(
        lambda line: not line.strip() or line.lstrip().startswith("#"),
        text.splitlines(keepends=True),
    )
    return "".join(lines)


_COMMENT = re.compile(
    r"""(?<![^\s\[{,:])(?:"(?:\\.|[^"\\])*"|'(?:''|[^'])*')|(?:(?<=\s)|^)(?P<comment>\#)"""
)
"""Text in quotes, in which # is a letter, or the beginning of a comment."""


def _has_comment(line: str) -> bool:
    return any(found["comment"] for found in _COMMENT.finditer(line))
