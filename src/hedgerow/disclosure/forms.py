"""Disclosed generalisations as they are stored: boxes of codes, under keyed hashes of the records.

Records are identified by a key or, if the plan names none, by their values. With values, equal
records share everything that was disclosed of any of them, which may overstate but never
understates what a recipient knows of each. Everything here is confidential.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.confidential import Confidential
from hedgerow.disclosure.lattice.dictionary import DistinctRecords
from hedgerow.disclosure.lattice.lattice import Chains, Levels
from hedgerow.errors import InternalError
from hedgerow.model.arrays import Columns

TOKEN_BYTES = 16
_HEAD = struct.Struct("<QQ")

Tokens = NDArray[np.uint8]
Spans = NDArray[np.uint32]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DisclosedBoxes:
    """The disclosed boxes: ``spans[r, i]`` is the range of codes of record r and attribute i."""

    tokens: Tokens
    spans: Spans

    def packed(self) -> bytes:
        """Return the boxes as bytes."""
        head = _HEAD.pack(*self.spans.shape[:2])
        return zlib.compress(head + self.tokens.tobytes() + self.spans.tobytes(), 1)

    @classmethod
    def unpacked(cls, content: bytes) -> DisclosedBoxes:
        """Return the boxes that :meth:`packed` encoded."""
        raw = zlib.decompress(content)
        n, k = _HEAD.unpack_from(raw)
        end = _HEAD.size + n * TOKEN_BYTES
        tokens = np.frombuffer(raw[_HEAD.size : end], dtype=np.uint8)
        spans = np.frombuffer(raw[end:], dtype=np.uint32)
        return cls(tokens=tokens.reshape(n, TOKEN_BYTES), spans=spans.reshape(n, k, 2))

    def reordered(self, places: Sequence[int], sizes: Sequence[int]) -> DisclosedBoxes:
        """Return them for other attributes: ``places[i]`` is the old position, -1 for a new one."""
        spans = np.empty((len(self.tokens), len(places), 2), dtype=np.uint32)
        for i, (place, size) in enumerate(zip(places, sizes, strict=True)):
            spans[:, i] = (0, size) if place < 0 else self.spans[:, place]
        return DisclosedBoxes(tokens=self.tokens, spans=spans)


def tokens_of(confidential: Confidential, key: bytes) -> Tokens:
    """Return a keyed hash of each record: of its key or, if it has none, of its values."""
    if confidential.keys is not None:
        return _hashed([text.encode() for text in confidential.keys], key, b"key")
    distinct = DistinctRecords.of(confidential.table)
    columns = [column[distinct.first].astype("<i8") for column in confidential.table.codes]
    rows = np.ascontiguousarray(np.stack(columns, axis=1))
    return _hashed([row.tobytes() for row in rows], key, b"values")[distinct.kind]


def _hashed(texts: Sequence[bytes], key: bytes, kind: bytes) -> Tokens:
    start = hashlib.blake2b(key=key, digest_size=TOKEN_BYTES, person=kind)
    found = bytearray()
    for text in texts:
        each = start.copy()
        each.update(text)
        found += each.digest()
    return np.frombuffer(bytes(found), dtype=np.uint8).reshape(len(texts), TOKEN_BYTES)


def spans_of(nodes: Sequence[NDArray[np.int32]], chains: Sequence[Chains]) -> Spans:
    """Return the range of codes of each disclosed node, for all records."""
    columns = [
        np.stack([chain.taxonomy.first[node], chain.taxonomy.stop[node]], axis=1)
        for node, chain in zip(nodes, chains, strict=True)
    ]
    return np.stack(columns, axis=1).astype(np.uint32)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class KnownForms:
    """A recipient's knowledge of the records of a table: the meet of all disclosed generalisations.

    ``levels`` are those of the meet on each record's chains, the top if nothing was disclosed.
    ``recognised`` marks records of which something was disclosed, and ``changed`` those of them
    whose value is now outside that range; the recipient is assumed to know the new value.
    """

    levels: Levels
    recognised: NDArray[np.bool_]
    changed: NDArray[np.bool_]


def known_forms(
    earlier: Sequence[DisclosedBoxes], tokens: Tokens, codes: Columns, chains: Sequence[Chains]
) -> KnownForms:
    """Return the combined knowledge of all earlier disclosures about each record of a table."""
    tops = [chain.heights[column] for chain, column in zip(chains, codes, strict=True)]
    levels = np.stack(tops, axis=1).astype(np.uint8)
    found = np.zeros(len(tokens), dtype=np.bool_)
    changed = np.zeros(len(tokens), dtype=np.bool_)
    if sum(len(forms.tokens) for forms in earlier) == 0 or not len(tokens):
        return KnownForms(levels=levels, recognised=found, changed=changed)
    meet = _meet(earlier, tokens)
    found[:] = meet.place >= 0
    at = np.flatnonzero(found)
    for i, (chain, column) in enumerate(zip(chains, codes, strict=True)):
        first, stop = meet.spans[meet.place[at], i].T
        levels[at, i], other = _levels(chain, column[at], first, stop)
        changed[at] |= other
    return KnownForms(levels=levels, recognised=found, changed=changed)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Meet:
    spans: Spans
    place: NDArray[np.int64]


def _meet(earlier: Sequence[DisclosedBoxes], tokens: Tokens) -> _Meet:
    """Return the intersection of the boxes of each record, and its index for each table record."""
    old = np.concatenate([forms.tokens for forms in earlier])
    spans = np.concatenate([forms.spans for forms in earlier])
    number = _numbered(np.concatenate([old, tokens]))
    before, now = number[: len(old)], number[len(old) :]
    order = np.argsort(before, kind="stable")
    kinds, start = np.unique(before[order], return_index=True)
    spans = spans[order]
    first = np.maximum.reduceat(spans[:, :, 0], start, axis=0)
    stop = np.minimum.reduceat(spans[:, :, 1], start, axis=0)
    place = np.searchsorted(kinds, now)
    known = kinds[np.minimum(place, len(kinds) - 1)] == now
    return _Meet(spans=np.stack([first, stop], axis=2), place=np.where(known, place, -1))


def _numbered(tokens: Tokens) -> NDArray[np.int64]:
    """Return a number for each token, the same only for equal tokens."""
    halves = np.ascontiguousarray(tokens).view("<u8")
    number = np.zeros(len(tokens), dtype=np.int64)
    for half in halves.T:
        kinds, kind = np.unique(half, return_inverse=True)
        if len(kinds) * (int(number.max(initial=0)) + 1) > np.iinfo(np.int64).max:
            raise InternalError("Too many records were disclosed to one recipient.")
        _, number = np.unique(number * len(kinds) + kind, return_inverse=True)
    return number


def _levels(
    chain: Chains, codes: NDArray[np.integer], first: NDArray[np.uint32], stop: NDArray[np.uint32]
) -> tuple[Levels, NDArray[np.bool_]]:
    """Return the level of each code's chain with this range, and whether none has it (then 0).

    Boxes of one taxonomy are nested or disjoint, so an intersection that contains the code
    is on its chain. Of several levels with the same range the highest is used.
    """
    nodes = chain.nodes[codes]
    tree = chain.taxonomy
    same = (tree.first[nodes] == first[:, None]) & (tree.stop[nodes] == stop[:, None])
    same &= np.arange(nodes.shape[1]) <= chain.heights[codes][:, None]
    level = nodes.shape[1] - 1 - np.argmax(same[:, ::-1], axis=1)
    none = ~same.any(axis=1)
    return np.where(none, 0, level).astype(np.uint8), none
