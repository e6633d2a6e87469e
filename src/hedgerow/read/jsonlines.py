"""JSON lines: a text file with one object per line, plain or compressed.

Each line is parsed separately and each value formatted separately, so that no type common to a
column is chosen. Every column comes as dictionary-encoded text.
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
_OR_DROP = " With 'malformed: drop' in the plan's reading, such records are dropped."


class _Wrong(Exception):
    """A line is not a record; the message is the reason, without its content."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JsonLinesSource:
    """A file of objects; see :class:`hedgerow.read.source.Source`.

    Its columns are those that the plan lists. Without a list, ``columns`` are the keys of the first
    objects, and ``nested`` those of them that hold lists or objects, for a draft and to detect
    misspelt names.

    Privacy: if malformed records are dropped, no record may decide which columns exist, so
    every name is one: a key that a record lacks is missing there.
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
        """Stream the requested columns, all of them as dictionary-encoded text."""
        places_of([name for name in columns if name not in self.nested], self)
        parser = ObjectParser(self.reading, name=self.name, requested=columns)
        drops = self.reading.drops_malformed
        for block in text_blocks(self.path, size=self.block_size, drop_long=drops):
            yield parser.parse(block)
            if progress:
                progress(block.done)
        if progress:
            progress(1.0)


class ObjectParser:
    """Converts blocks of lines to batches of the requested columns, by public rules alone."""

    def __init__(self, reading: Reading, *, name: str, requested: Sequence[str]) -> None:
        # A CR is white space in JSON, so nothing needs to be done about it: as in basket files.
        self.rules = LineRules(reading=reading, delimiter=None, name=name)
        self.requested = list(requested)

    def parse(self, block: Block) -> pa.RecordBatch:
        """Return the records of complete lines, or name the malformed one.

        Privacy: which lines are malformed is a function of each line alone.
        """
        # Values recur often; a type of its own keeps 1, 1.0 and true separate.
        spelt = lru_cache(maxsize=_DISTINCT, typed=True)(spell)
        records = list(self._records(block, lambda record: self._texts(record, spelt)))
        columns = list(zip(*records, strict=True)) if records else [()] * len(self.requested)
        arrays = [pa.array(column, pa.string()).dictionary_encode() for column in columns]
        return pa.RecordBatch.from_arrays(arrays, names=self.requested)

    def keys(self, block: Block) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the keys of a block's objects as they occur, those of single values first.

        A key that holds a list or an object at least once is in the second tuple.
        """
        met: dict[str, bool] = {}
        for record in self._records(block, dict.items):
            for key, value in record:
                met[key] = met.get(key, True) and not isinstance(value, list | dict)
        plain = tuple(key for key, is_plain in met.items() if is_plain)
        return plain, tuple(key for key, is_plain in met.items() if not is_plain)

    def _records(self, block: Block, taken: Callable[[dict[str, Any]], Any]) -> Iterator[Any]:
        """Yield ``taken`` of each object, with malformed ones refused or dropped."""
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
            return [spelt(record.get(name)) for name in self.requested]
        except InexactError:
            raise _Wrong("a number has more digits than can be read exactly") from None
        except (pa.ArrowException, TypeError):
            raise _Wrong("a column holds a list or an object instead of one value") from None


_DO = "Each line must be one JSON object whose values are texts, numbers, true, false or null."


def _object(line: bytes) -> dict[str, Any]:
    r"""Return the object in a line; a repeated key is an error.

    >>> _object(b'{"age": 17, "job": "shop"}\r')
    {'age': 17, 'job': 'shop'}
    """
    try:
        found = json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _Wrong("the line is not JSON") from None
    if not isinstance(found, dict):
        raise _Wrong("the line is not a JSON object")
    if b"\\u" in line:
        _check_letters(found)
    return found


def _check_letters(found: dict[str, Any]) -> None:
    """Refuse lone surrogates, which JSON may contain and text may not."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _Wrong("the line contains an invalid Unicode escape") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Wrong("an object has a key twice")
    return found


def _no_constant(word: str) -> None:
    raise _Wrong("the line is not JSON")  # NaN and Infinity, which Python would accept


def open_json_lines(path: Path, reading: Reading = PLAIN) -> JsonLinesSource:
    """Return a file of objects, opened far enough to know its columns."""
    names: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    if isinstance(reading.header, tuple):
        names = reading.header
    else:
        parser = ObjectParser(reading, name=path.name, requested=())
        for block in text_blocks(path, drop_long=reading.drops_malformed):
            names, nested = parser.keys(block)
            if names or nested or not reading.drops_malformed:
                break
    columns = check_columns(names, name=path.name)
    return JsonLinesSource(path=path, columns=columns, reading=reading, nested=nested)
