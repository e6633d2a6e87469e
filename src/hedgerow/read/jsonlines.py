"""JSON lines: a text file with one object per line, plain or compressed.

Each line is parsed by itself and each value spelt by itself, so no type is made up that the
values of a column share. Every column comes as dictionary-encoded text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.lines import BLOCK, Block, text_blocks
from hedgerow.read.sound import LineRules
from hedgerow.read.source import ReadProgress, check_columns, places_of
from hedgerow.read.text import InexactError, spell

_DISTINCT = 1 << 16
_OR_DROP = " 'malformed: drop' in the plan's reading leaves such records out."


class _Wrong(Exception):
    """A line is no record; says why, without its content."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JsonLinesSource:
    """A file of objects; see :class:`hedgerow.read.source.Source`.

    Its columns are those that the plan lists. Without a list ``columns`` are the keys of the first
    objects, and ``nested`` those of them that hold lists or objects, for a draft and to notice
    a name that is misspelt.

    Privacy: where malformed records are dropped, no record may decide which columns there are,
    so every name is one: a key that a record lacks is missing there.
    """

    path: Path
    columns: tuple[str, ...]
    reading: Reading
    nested: tuple[str, ...] = ()
    block_size: int = BLOCK

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    @property
    def any_column(self) -> bool:
        """True if every name is a column, whatever keys the first objects have."""
        return self.reading.drops_malformed and not isinstance(self.reading.header, tuple)

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the asked columns, all of them as dictionary-encoded text."""
        places_of([name for name in columns if name not in self.nested], self)
        parser = ObjectParser(self.reading, name=self.name, asked=columns)
        drops = self.reading.drops_malformed
        for block in text_blocks(self.path, size=self.block_size, drop_long=drops):
            yield parser.parse(block)
            if progress:
                progress(block.done)
        if progress:
            progress(1.0)


class ObjectParser:
    """Turns blocks of lines into batches of the asked columns, by public rules alone."""

    def __init__(self, reading: Reading, *, name: str, asked: Sequence[str]) -> None:
        # A CR is a blank of JSON, so there is nothing to do about it: as in basket files.
        self.rules = LineRules(reading=reading, delimiter=None, name=name)
        self.asked = list(asked)

    def parse(self, block: Block) -> pa.RecordBatch:
        """Return the records of whole lines, or say which of them is malformed.

        Privacy: which lines are malformed is a function of each line alone.
        """
        # Values come back often; a type of its own keeps 1, 1.0 and true apart.
        spelt = lru_cache(maxsize=_DISTINCT, typed=True)(spell)
        records = list(self._records(block, lambda record: self._texts(record, spelt)))
        columns = list(zip(*records, strict=True)) if records else [()] * len(self.asked)
        arrays = [pa.array(column, pa.string()).dictionary_encode() for column in columns]
        return pa.RecordBatch.from_arrays(arrays, names=self.asked)

    def keys(self, block: Block) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the keys of a block's objects as they are met, those of single values first.

        A key that holds a list or an object, be it once, is among the second.
        """
        met: dict[str, bool] = {}
        for record in self._records(block, dict.items):
            for key, value in record:
                met[key] = met.get(key, True) and not isinstance(value, list | dict)
        plain = tuple(key for key, is_plain in met.items() if is_plain)
        return plain, tuple(key for key, is_plain in met.items() if not is_plain)

    def _records(self, block: Block, taken: Callable[[dict[str, Any]], Any]) -> Iterator[Any]:
        """Yield what ``taken`` takes of each object, the malformed ones refused or left out."""
        drops = self.rules.reading.drops_malformed
        for place, line in enumerate(self.rules.sound(block).split(b"\n")):
            if not line.strip():
                continue
            try:
                yield taken(_object(line))
            except _Wrong as wrong:
                if not drops:
                    raise DataError(
                        str(wrong),
                        where=f"{self.rules.name}, line {block.line + place}",
                        do=_DO + _OR_DROP,
                    ) from None

    def _texts(
        self, record: dict[str, Any], spelt: Callable[[Any], str | None]
    ) -> list[str | None]:
        try:
            return [spelt(record.get(name)) for name in self.asked]
        except InexactError:
            raise _Wrong("a number has more digits than can be read exactly") from None
        except (pa.ArrowException, TypeError):
            raise _Wrong("a column holds a list or an object, not one value") from None


_DO = "Each line must be one JSON object whose values are texts, numbers, true, false or null."


def _object(line: bytes) -> dict[str, Any]:
    r"""Return the object that a line is; a key that is there twice makes it none.

    >>> _object(b'{"age": 17, "job": "shop"}\r')
    {'age': 17, 'job': 'shop'}
    """
    try:
        found = json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _Wrong("the line is no JSON") from None
    if not isinstance(found, dict):
        raise _Wrong("the line is not a JSON object")
    if b"\\u" in line:
        _check_letters(found)
    return found


def _check_letters(found: dict[str, Any]) -> None:
    """Refuse halves of a letter, which JSON may write and no text can hold."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _Wrong("the line writes a letter that is none") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Wrong("an object has a key twice")
    return found


def _no_constant(word: str) -> None:
    raise _Wrong("the line is no JSON")  # NaN and Infinity, which Python would take


def open_json_lines(path: Path, reading: Reading = PLAIN) -> JsonLinesSource:
    """Return a file of objects, opened far enough to know its columns."""
    names: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    if isinstance(reading.header, tuple):
        names = reading.header
    else:
        parser = ObjectParser(reading, name=path.name, asked=())
        for block in text_blocks(path, drop_long=reading.drops_malformed):
            names, nested = parser.keys(block)
            if names or nested or not reading.drops_malformed:
                break
    columns = check_columns(names, name=path.name)
    return JsonLinesSource(path=path, columns=columns, reading=reading, nested=nested)
