"""Random numbers for loops, from one word that a run's source has given; and bits of baskets."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop

WholeArray = NDArray[numpy.signedinteger[Any]]
RealArray = NDArray[numpy.float64]
SingleArray = NDArray[numpy.float32]
WordArray = NDArray[numpy.uint64]

_STEP = numpy.uint64(0x9E3779B97F4A7C15)
_FIRST = numpy.uint64(0xBF58476D1CE4E5B9)
_SECOND = numpy.uint64(0x94D049BB133111EB)


@compile_loop
def draw_word(state: WordArray) -> numpy.uint64:
    """Return the next word of a stream [SplitMix64]."""
    state[0] += _STEP
    word = state[0]
    word = (word ^ (word >> numpy.uint64(30))) * _FIRST
    word = (word ^ (word >> numpy.uint64(27))) * _SECOND
    return numpy.uint64(word ^ (word >> numpy.uint64(31)))


@compile_loop
def draw_below(state: WordArray, bound: int) -> numpy.int64:
    """Return a number from 0 to below a bound, at most 2**32."""
    high = draw_word(state) >> numpy.uint64(32)
    return numpy.int64((high * numpy.uint64(bound)) >> numpy.uint64(32))


@compile_loop
def draw_unit(state: WordArray) -> float:
    """Return a number from 0 to below 1."""
    return numpy.float64(draw_word(state) >> numpy.uint64(11)) * 2.0**-53


@compile_loop
def holds(members: WordArray, basket: int, item: int) -> bool:
    """Say whether a basket holds an item."""
    word = members[basket, item >> 6] >> numpy.uint64(item & 63)
    return bool((word & numpy.uint64(1)) != numpy.uint64(0))


@compile_loop
def note(members: WordArray, basket: int, item: int) -> None:
    """Set the bit of an item that a basket holds."""
    members[basket, item >> 6] |= numpy.uint64(1) << numpy.uint64(item & 63)


def unwrapped(*arrays: NDArray[Any]) -> Any:
    """Return arrays without what tests wrap around them."""
    return tuple(array.view(numpy.ndarray) for array in arrays)
