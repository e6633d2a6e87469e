"""The highest event that the key file of a ledger has seen, which reveals an older ledger.

The key file is the secret of 32 bytes, then two slots. A slot holds the number of an event, the
digest of the chain there and an HMAC of both. A writer overwrites the slot with the lower number
and syncs it, so that a power cut leaves the other one; the secret is never written again.

The mark is raised after an event was committed, never before. A run that is killed in between
leaves a ledger that is ahead of its mark, which is accepted. A ledger behind its mark is refused.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from hedgerow.ledger.key import KEY_BYTES, SLOT_BYTES, SLOTS, ColumnKey, key_path

_FILE_BYTES = KEY_BYTES + SLOTS * SLOT_BYTES
_NUMBER_BYTES, _DIGEST_BYTES = 8, 32


@dataclass(frozen=True, kw_only=True, order=True)
class HighestEvent:
    """An event that a ledger had: its number and the digest of the chain there."""

    events: int
    digest: str

    def __post_init__(self) -> None:
        if len(bytes.fromhex(self.digest)) != _DIGEST_BYTES or self.events < 0:
            raise ValueError("not an event of a chain")

    def sealed(self, key: ColumnKey) -> bytes:
        """Return the bytes of a slot."""
        content = self.events.to_bytes(_NUMBER_BYTES, "big") + bytes.fromhex(self.digest)
        return content + key.seal_mark(content)

    @classmethod
    def of_slot(cls, slot: bytes, key: ColumnKey) -> HighestEvent | None:
        """Return the mark in a slot, or ``None`` if it has none or is damaged."""
        content, seal = slot[:-_DIGEST_BYTES], slot[-_DIGEST_BYTES:]
        if len(slot) != SLOT_BYTES or not hmac.compare_digest(key.seal_mark(content), seal):
            return None
        number = int.from_bytes(content[:_NUMBER_BYTES], "big")
        return cls(events=number, digest=content[_NUMBER_BYTES:].hex())


@dataclass(frozen=True, kw_only=True)
class KeyFile:
    """Content of a ledger's key file at one moment.

    ``key`` is ``None`` if the file is too short for one. ``complete`` is whether both slots exist;
    a key of an earlier version has none.
    """

    key: ColumnKey | None = field(repr=False)
    mark: HighestEvent | None
    complete: bool

    @classmethod
    def of(cls, content: bytes) -> KeyFile:
        """Return the content from the bytes of the file."""
        if len(content) < KEY_BYTES:
            return cls(key=None, mark=None, complete=False)
        key = ColumnKey(secret=content[:KEY_BYTES])
        marks = [
            mark
            for slot in _slots(content)
            if (mark := HighestEvent.of_slot(slot, key)) is not None
        ]
        return cls(key=key, mark=max(marks, default=None), complete=len(content) == _FILE_BYTES)


def read_key_file(ledger: Path) -> KeyFile | None:
    """Return the content of the key file beside a ledger, or ``None`` if it cannot be read."""
    try:
        with key_path(ledger).open("rb") as file, _locked(file):
            return KeyFile.of(file.read(_FILE_BYTES + 1))
    except OSError:
        return None


def raise_mark(ledger: Path, mark: HighestEvent) -> bool:
    """Record durably that a ledger has this event; a higher one stays.

    Returns whether the key file keeps a mark now: users who may not write it leave it as it is.
    """
    try:
        with _opened(ledger) as (file, content):
            held = KeyFile.of(content)
            lower = not held.complete or held.mark is None or held.mark < mark
            if held.key is not None and lower:
                _write(file, content, mark.sealed(held.key))
            return held.key is not None
    except (PermissionError, FileNotFoundError):
        held = read_key_file(ledger) or KeyFile.of(b"")
        return held.complete and held.mark is not None


def replace_mark(ledger: Path, mark: HighestEvent) -> None:
    """Replace the highest event of the key file by a mark."""
    with _opened(ledger) as (file, content):
        if (key := KeyFile.of(content).key) is not None:
            _write(file, content[:KEY_BYTES], mark.sealed(key))


@contextmanager
def _opened(ledger: Path) -> Iterator[tuple[BinaryIO, bytes]]:
    """Open the key file for this process alone, and yield it with its content."""
    with key_path(ledger).open("r+b", buffering=0) as file, _locked(file, alone=True):
        yield file, file.read(_FILE_BYTES + 1)


def _write(file: BinaryIO, content: bytes, slot: bytes) -> None:
    """Replace the slot with the lower event, or both if the content does not have two."""
    key = ColumnKey(secret=content[:KEY_BYTES])
    start, new = KEY_BYTES, slot * SLOTS
    if len(content) == _FILE_BYTES:
        marks = [HighestEvent.of_slot(each, key) for each in _slots(content)]
        numbers = [-1 if each is None else each.events for each in marks]
        start, new = KEY_BYTES + SLOT_BYTES * numbers.index(min(numbers)), slot
    file.seek(start)
    file.write(new)
    file.truncate(_FILE_BYTES)
    os.fsync(file.fileno())


def _slots(content: bytes) -> list[bytes]:
    starts = range(KEY_BYTES, _FILE_BYTES, SLOT_BYTES)
    return [content[start : start + SLOT_BYTES] for start in starts]


@contextmanager
def _locked(file: BinaryIO, *, alone: bool = False) -> Iterator[None]:
    """Keep others from writing, if files can be locked; without that, a slot may be torn."""
    try:
        import fcntl
    except ImportError:  # the seals of the slots reveal a torn one
        yield
        return
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    yield  # closing the file ends the lock
