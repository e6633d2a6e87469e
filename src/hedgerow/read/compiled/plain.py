"""Compiled loops over blocks of plain lines, which find ends of fields and look up words.

Lines are processed a few thousand fields at a time, so that their bytes are still in the cache
when the fields of each column are looked up. One hash table serves all columns of a block: a word
is the text of a field and the number of its column.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop
from hedgerow.read.compiled.windows import (
    WINDOW,
    equal_bits,
    foreign_bits,
    item_at,
    lowest,
    ones,
    word_at,
)

_Letters = NDArray[np.uint8]
_Bits = NDArray[np.uint64]
_Small = NDArray[np.int32]
_Whole = NDArray[np.int64]
_Flags = NDArray[np.bool_]
_Place: TypeAlias = int | np.int64

DONE, NOT_PLAIN, FULL = 0, 1, 2
"""Reasons to stop: the end, a line that is not plain, or no space for further words."""

SOUND, STRAY, FOREIGN, DOUBLED = 0, 1, 2, 4
"""Flags: misplaced quotes or line ends, bytes beyond ASCII, doubled quotes."""

WORD = 4
"""Numbers stored per word: its first 16 bytes, its column and length, its place and code."""

_LF, _CR, _NUL = np.uint8(10), np.uint8(13), np.uint8(0)
_NONE, _ONE, _LAST, _HALF = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_LOW_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


@compile_loop
def count_lines(letters: _Letters, stop: int) -> int:
    """Return the number of line ends in text that ends at ``stop``; none may follow it."""
    n = 0
    for at in range(0, stop, WINDOW):
        n += ones(equal_bits(letters, at, _LF))
    return n


@compile_loop
def inside_quotes(quotes: np.uint64) -> np.uint64:
    """Return which of 64 bytes follow an odd number of quotes, opening quotes included."""
    quotes ^= quotes << np.uint64(1)
    quotes ^= quotes << np.uint64(2)
    quotes ^= quotes << np.uint64(4)
    quotes ^= quotes << np.uint64(8)
    quotes ^= quotes << np.uint64(16)
    return quotes ^ (quotes << np.uint64(32))


@compile_loop
def field_ends(
    letters: _Letters, start: int, stop: int, delimiter: np.uint8, quote: np.uint8, ends: _Small
) -> tuple[int, int, int]:
    """Write the ends of fields, from the line that starts at ``start`` on, after ``start - 1``.

    Returns their number, the number of line ends among them, and flags. A quote must open or
    close a field, or be one of two; a CR must precede a LF; no line is blank. Bits of the byte
    before a window are carried over from the window before it.
    """
    most = len(ends) - 2 * WINDOW
    ends[0] = start - 1
    n, n_lines, seen, wrong, doubled = 1, 0, 0, _NONE, _NONE
    quoted, cut_before, closed_before, cr_before, lf_before = _NONE, _ONE, _NONE, _NONE, _ONE
    for at in range(start, stop, WINDOW):
        if n > most:
            break
        read = ~_NONE if stop - at >= WINDOW else (_ONE << np.uint64(stop - at)) - _ONE
        if foreign_bits(letters, at) & read:
            seen |= FOREIGN
            wrong |= equal_bits(letters, at, _NUL) & read
        quotes = equal_bits(letters, at, quote) & read
        line_ends = equal_bits(letters, at, _LF) & read
        returns = equal_bits(letters, at, _CR) & read
        inside = inside_quotes(quotes) ^ quoted
        quoted = _NONE - (inside >> _LAST)
        cuts = (equal_bits(letters, at, delimiter) & read | line_ends) & ~inside
        closing = quotes & ~inside
        behind_closing = closing << _ONE | closed_before
        within = quotes & inside & ~(cuts << _ONE | cut_before)  # opens no field: the second of two
        doubled |= within
        wrong |= line_ends & inside
        wrong |= within & ~behind_closing
        wrong |= behind_closing & ~(cuts | quotes | returns)
        wrong |= (returns << _ONE | cr_before) & ~line_ends
        wrong |= (line_ends << _ONE | lf_before) & (line_ends | returns)
        cut_before, closed_before = cuts >> _LAST, closing >> _LAST
        cr_before, lf_before = returns >> _LAST, line_ends >> _LAST
        n_lines += ones(line_ends)
        behind = n + ones(cuts)
        while n < behind:  # eight at a time: a loop of one at a time mispredicts its end
            for more in range(8):
                ends[np.uint64(n + more)] = at + lowest(cuts)
                cuts &= cuts - _ONE
            n += 8
        n = behind
    if wrong:
        seen |= STRAY
    if doubled:
        seen |= DOUBLED
    return n - 1, n_lines, seen


@compile_loop
def lines_are_whole(
    letters: _Letters, ends: _Small, n_fields: int, n_lines: int, n_columns: int
) -> bool:
    """Return whether every line has a field for each column; the last line may be truncated."""
    whole = n_fields // n_columns == n_lines and n_lines > 0
    for line in range(1, n_lines + 1 if whole else 0):
        whole &= item_at(letters, item_at(ends, line * n_columns)) == _LF
    return whole


@compile_loop
def low_bytes(letters: _Letters, place: _Place, n: int) -> np.uint64:
    """Return the first ``n`` of the eight bytes at a place, or all if ``n`` is larger."""
    low: np.uint64 = word_at(letters, place) & item_at(_LOW_BYTES, min(n, 8))
    return low


@compile_loop
def ends_alike(letters: _Letters, one: int, other: _Place, length: int) -> bool:
    """Return whether two texts of a length with the same first 16 bytes are the same."""
    for place in range(16, length, 8):
        if low_bytes(letters, one + place, length - place) != low_bytes(
            letters, other + place, length - place
        ):
            return False
    return True


@compile_loop
def look_up(
    letters: _Letters,
    ends: _Small,
    n_lines: int,
    n_columns: int,
    column: int,
    quote: np.uint8,
    number: int,
    spread: np.uint64,
    slots: _Bits,
    words: _Bits,
    n_words: int,
    n_codes: _Whole,
    codes: _Small,
) -> int:
    """Write the code of each line's field in a column, new words in the order of the lines.

    An empty field has the code -1. Returns the number of words; there must be space for one per
    line. ``number`` is that of the column among the requested ones.
    """
    mask = len(slots) - 1
    is_last = column == n_columns - 1
    about_column = np.uint64(number) << _HALF
    for line in range(n_lines):
        field = line * n_columns + column
        first = item_at(ends, field) + 1
        end = item_at(ends, field + 1)
        if is_last:
            end -= item_at(letters, end - 1) == _CR
        is_quoted = np.int64(item_at(letters, first) == quote)
        first += is_quoted
        length = end - is_quoted - first
        start = low_bytes(letters, first, length)
        second = low_bytes(letters, first + 8, max(length - 8, 0))
        about = about_column | np.uint64(length)
        hashed = (start ^ about) * spread ^ (second + about) * (spread * spread)
        for place in range(16, length, 8):
            rest = low_bytes(letters, first + place, length - place)
            hashed = (hashed ^ hashed >> _HALF) * spread + rest
        tag = (hashed ^ hashed >> _HALF) * spread >> _HALF
        slot = np.int64(tag) & mask
        while True:
            held = item_at(slots, slot)
            if held == 0:
                code = np.int64(-1)
                if length:
                    code = n_codes[number]
                    n_codes[number] += 1
                words[n_words * WORD] = start
                words[n_words * WORD + 1] = second
                words[n_words * WORD + 2] = about
                words[n_words * WORD + 3] = np.uint64(first) << _HALF | np.uint64(code) & _LOW_HALF
                n_words += 1
                slots[slot] = tag << _HALF | np.uint64(n_words)
                break
            if held >> _HALF == tag:
                word = (np.int64(held & _LOW_HALF) - 1) * WORD
                if (
                    item_at(words, word) == start
                    and item_at(words, word + 1) == second
                    and item_at(words, word + 2) == about
                ):
                    place_and_code = item_at(words, word + 3)
                    if ends_alike(letters, first, np.int64(place_and_code >> _HALF), length):
                        code = np.int64(np.int32(place_and_code & _LOW_HALF))
                        break
            slot = (slot + 1) & mask
        codes[line] = code
    return n_words


@compile_loop
def read_lines(
    letters: _Letters,
    start: int,
    stop: int,
    n_columns: int,
    delimiter: np.uint8,
    quote: np.uint8,
    requested: _Whole,
    spread: np.uint64,
    ends: _Small,
    slots: _Bits,
    words: _Bits,
    n_words: int,
    n_codes: _Whole,
    codes: _Small,
    n_read: int,
) -> tuple[int, int, int, int, int]:
    """Write the codes of the requested columns for the lines from ``start`` to ``stop``.

    Returns the reason to stop, the start of the line where it stopped, the numbers of lines and
    words so far, and flags. Lines that are read again get the same codes again.
    """
    room = min(len(words) // WORD, len(slots) // 2)
    seen = SOUND
    while start < stop:
        n_fields, n_lines, found = field_ends(letters, start, stop, delimiter, quote, ends)
        seen |= found
        if seen & STRAY or not lines_are_whole(letters, ends, n_fields, n_lines, n_columns):
            return NOT_PLAIN, start, n_read, n_words, seen
        for number in range(len(requested)):
            if n_words + n_lines > room:
                return FULL, start, n_read, n_words, seen
            n_words = look_up(
                letters, ends, n_lines, n_columns, requested[number], quote, number, spread,
                slots, words, n_words, n_codes, codes[number, n_read:],
            )  # fmt: skip
        n_read += n_lines
        start = item_at(ends, n_lines * n_columns) + 1
    return DONE, start, n_read, n_words, seen


@compile_loop
def move_slots(slots: _Bits, larger: _Bits) -> None:
    """Copy the entries of a table to an empty one, whose size is a power of two as well."""
    mask = len(larger) - 1
    for held in slots:
        if held:
            slot = np.int64(held >> _HALF) & mask
            while larger[slot]:
                slot = (slot + 1) & mask
            larger[slot] = held


@compile_loop
def sort_words(
    words: _Bits, n_words: int, starts: _Whole, places: _Small, offsets: _Small, empty: _Flags
) -> None:
    """Write the places and ends of words, by column and code, one after the other.

    ``starts`` has the first word of each column among all, and ``offsets`` begin with 0. An empty
    text is not a word, but its column is flagged.
    """
    for word in range(n_words):
        about, place_and_code = words[word * WORD + 2], words[word * WORD + 3]
        number, length = np.int64(about >> _HALF), np.int64(about & _LOW_HALF)
        if length:
            rank = starts[number] + np.int64(place_and_code & _LOW_HALF)
            places[rank] = place_and_code >> _HALF
            offsets[rank + 1] = length
        else:
            empty[number] = True
    for rank in range(1, len(offsets)):
        offsets[rank] += offsets[rank - 1]


@compile_loop
def copy_texts(letters: _Letters, places: _Small, offsets: _Small, texts: _Letters) -> None:
    """Copy texts one after the other; ``offsets`` has the start of each, and the last end."""
    for text in range(len(places)):
        first, begin = np.int64(places[text]), np.int64(offsets[text])
        for place in range(offsets[text + 1] - begin):
            texts[np.uint64(begin + place)] = item_at(letters, first + place)


@compile_loop
def single_quotes(quote: np.uint8, offsets: _Small, texts: _Letters) -> None:
    """Replace doubled quotes in texts by single ones, in place; later texts move up."""
    end = 0
    for text in range(len(offsets) - 1):
        place, stop = offsets[text], offsets[text + 1]
        offsets[text] = end
        while place < stop:
            texts[end] = texts[place]
            end += 1
            place += 2 if texts[place] == quote else 1
    offsets[-1] = end
