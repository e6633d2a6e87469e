"""Random words, and unbiased uniform integers computed from them.

Everything random in a release is computed from the 64-bit words of one source, passed by keyword.
The operating system's source makes a private release; a seeded source makes an experiment that can
be repeated, and its results are stamped *reproducible, not private*.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, SettingError

WORD_BITS = 64
_WORDS = 1 << WORD_BITS


class RandomSource(Protocol):
    """A source of random words."""

    @property
    def reproducible(self) -> bool:
        """Return whether knowing the seed is enough to predict the words."""
        ...

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return ``n`` independent words, uniform below 2**64; perhaps read-only."""
        ...


class SystemSource:
    """The operating system's cryptographic generator.

    Every call asks the system anew: without a buffer no two processes can share words after a fork,
    and a call costs about a microsecond plus 25 ns per word (``python benchmarks/bench_noise.py``
    measures it).
    """

    reproducible = False

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return ``n`` independent words, uniform below 2**64."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)


class SeededSource:
    """The same words for the same seed: for experiments and tests, never for a release."""

    reproducible = True

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise SettingError.out_of_range("seed", seed, "a whole number, 0 or above")
        self._generator = np.random.Philox(seed)

    @classmethod
    def of_stream(cls, seed: int, stream: str) -> SeededSource:
        """Return another source for the same seed, named after its use."""
        source = cls(seed)
        source._generator = np.random.Philox(np.random.SeedSequence([seed, *stream.encode()]))
        return source

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return ``n`` words that follow from the seed and the words drawn before."""
        return np.asarray(self._generator.random_raw(n), dtype=np.uint64)


def words_below_multiple(n: int, *, bound: int, source: RandomSource) -> NDArray[np.uint64]:
    """Return ``n`` words, uniform below the largest multiple of ``bound`` up to 2**64.

    Words at or above that multiple are drawn again. Comparing what is left with multiples
    of ``reach = 2**64 // bound`` gives events of probability ``k / bound`` exactly.
    """
    if not 1 <= bound <= _WORDS // 2:
        raise InternalError("The bound of a uniform integer is out of range.")
    highest = np.uint64(_WORDS // bound * bound - 1)
    words = source.words(n)
    again = np.flatnonzero(words > highest)
    if again.size:
        words = words.copy()
    while again.size:
        words[again] = source.words(again.size)
        again = again[words[again] > highest]
    return words


def integers_below(n: int, *, bound: int, source: RandomSource) -> NDArray[np.uint64]:
    """Return ``n`` integers, exactly uniform on ``0 .. bound - 1``.

    >>> integers_below(3, bound=1, source=SystemSource()).tolist()
    [0, 0, 0]
    """
    if bound == 1:
        return np.zeros(n, dtype=np.uint64)
    words = words_below_multiple(n, bound=bound, source=source)
    quotients: NDArray[np.uint64] = words // np.uint64(_WORDS // bound)
    return quotients


def below(bounds: NDArray[np.int64], *, source: RandomSource) -> NDArray[np.int64]:
    """Return one integer per bound, exactly uniform on ``0 .. bound - 1``.

    >>> below(np.array([1, 1]), source=SystemSource()).tolist()
    [0, 0]
    """
    if bounds.size and int(bounds.min()) < 1:
        raise InternalError("The bound of a uniform integer is out of range.")
    moduli = bounds.astype(np.uint64)
    # 2**64 mod m, in 64 bits: words below that number are drawn again.
    lowest = (np.uint64(0) - moduli) % moduli
    words = source.words(bounds.size)
    again = np.flatnonzero(words < lowest)
    if again.size:
        words = words.copy()
    while again.size:
        words[again] = source.words(again.size)
        again = again[words[again] < lowest[again]]
    return (words % moduli).astype(np.int64)


def random_bits(n: int, *, source: RandomSource) -> NDArray[np.bool_]:
    """Return ``n`` fair coin flips, 64 to a word."""
    words = source.words(-(-n // WORD_BITS))
    return np.unpackbits(words.view(np.uint8), count=n).view(np.bool_)
