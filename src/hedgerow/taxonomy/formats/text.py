"""Taxonomy files as text: size, compression and encoding."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import tempfile
import zlib
from pathlib import Path

from hedgerow.errors import TaxonomyError

LARGEST_FILE = 200_000_000
"""Largest size of a taxonomy file in bytes, after unpacking."""

_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def at(name: str, line: int) -> str:
    """Return the name of a place in a file for messages."""
    return f"{name}, line {line}"


def read_text(path: Path) -> str:
    """Return the text of a file: UTF-8, with or without a mark, or Latin-1; or gzipped."""
    content = _read_bytes(path)
    if content.startswith(_UTF_16):
        raise TaxonomyError(
            "The file is UTF-16 text.", where=str(path), do="Save it as UTF-8 and try again."
        )
    if b"\x00" in content:
        raise TaxonomyError(
            "The file is binary, not a taxonomy.",
            where=str(path),
            do="Give a CSV, YAML, JSON or pairs file.",
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    odd = _CONTROL.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise TaxonomyError(
            f"The character {odd.group()!r} does not belong in a text file: its encoding is"
            " neither UTF-8 nor Latin-1, or it is not text.",
            where=at(str(path), line),
            line=line,
            do="Save the file as UTF-8 text and try again.",
        )
    if not text.strip():
        raise TaxonomyError(
            "The file is empty.", where=str(path), do="Give one line per value, or a nested tree."
        )
    return text


def _read_bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise OSError("This is not a file.")  # reading a pipe or a device would not end
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if content.startswith(_GZIP):
            with gzip.open(path, "rb") as unpacked:
                content = unpacked.read(LARGEST_FILE + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TaxonomyError(
            f"The gzip file is damaged ({error}).",
            where=str(path),
            do=("Create or download it again."),
        ) from error
    except OSError as error:
        raise TaxonomyError(
            f"The file cannot be read ({error.strerror or error}).",
            where=str(path),
            do="Check the path: it must name a readable file.",
        ) from error
    if len(content) > LARGEST_FILE:
        raise TaxonomyError(
            f"The file is larger than {LARGEST_FILE:,} bytes.",
            where=str(path),
            do="Is it a taxonomy? One line per value of one attribute is expected.",
        )
    return content


def write_taxonomy_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically, gzipped if the name ends in ``.gz``."""
    content = text.encode("utf-8")
    if path.suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)
    write_taxonomy_bytes(path, content)


def write_taxonomy_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically: complete or not at all."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            draft.chmod(0o666 & ~_umask())
            draft.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise TaxonomyError(
            f"The file cannot be written ({error.strerror or error}).",
            where=str(path),
            do="Check that the folder exists and may be written to.",
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
