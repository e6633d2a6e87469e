"""Operations on many bytes at once for compiled loops: bits of 64 bytes, and words of eight.

Each is one or a few machine instructions. Bit 0 is the first byte, and the first byte of a word
is its lowest, so a little-endian machine is required. Nothing checks that a place is within its
array: the loops keep 64 spare bytes after the text that they read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WINDOW = 64
"""Number of bytes that are examined at once."""

_BITS = ir.IntType(64)
_LETTERS = ir.VectorType(ir.IntType(8), WINDOW)

_Emit = Callable[[Any, Any, Any, Any], Any]


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Return the address of an array's item, from the first two arguments."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


def _loaded(context: Any, builder: Any, signature: Any, args: Any, kind: Any) -> Any:
    """Return the wider value at a place of an array of bytes, aligned or not."""
    place = builder.bitcast(_pointer(context, builder, signature, args), kind.as_pointer())
    value = builder.load(place)
    value.align = 1
    return value


def _equal(_typing: Any, letters: Any, _place: Any, _letter: Any) -> tuple[Any, _Emit]:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        window = _loaded(context, builder, signature, args, _LETTERS)
        nothing, first = ir.Constant(_LETTERS, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        every = ir.Constant(ir.VectorType(ir.IntType(32), WINDOW), [0] * WINDOW)
        one = builder.insert_element(nothing, args[2], first)
        same = builder.icmp_signed("==", window, builder.shuffle_vector(one, nothing, every))
        return builder.bitcast(same, _BITS)

    return types.uint64(letters, types.int64, types.uint8), emit


def _foreign(_typing: Any, letters: Any, _place: Any) -> tuple[Any, _Emit]:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        window = _loaded(context, builder, signature, args, _LETTERS)
        least = ir.Constant(_LETTERS, [1] * WINDOW)
        return builder.bitcast(builder.icmp_signed("<", window, least), _BITS)

    return types.uint64(letters, types.int64), emit


def _word(_typing: Any, letters: Any, _place: Any) -> tuple[Any, _Emit]:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _loaded(context, builder, signature, args, _BITS)

    return types.uint64(letters, types.int64), emit


def _item(_typing: Any, array: Any, _place: Any) -> tuple[Any, _Emit]:
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature, args))

    return array.dtype(array, types.int64), emit


def _lowest(_typing: Any, _bits: Any) -> tuple[Any, _Emit]:
    def emit(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), emit


def _ones(_typing: Any, _bits: Any) -> tuple[Any, _Emit]:
    def emit(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), emit


equal_bits: Any = intrinsic(_equal)
"""``(letters, place, letter)``: which of the 64 bytes from a place on equal that letter."""

foreign_bits: Any = intrinsic(_foreign)
"""``(letters, place)``: which of the 64 bytes from a place on are NUL or not ASCII."""

word_at: Any = intrinsic(_word)
"""``(letters, place)``: the eight bytes from a place on."""

item_at: Any = intrinsic(_item)
"""``(array, place)``: one item of an array; places are not counted from its end."""

lowest: Any = intrinsic(_lowest)
"""The index of the lowest bit that is set; 64 if there is none."""

ones: Any = intrinsic(_ones)
"""The number of bits that are set."""
