"""Type names of the arrays that rooms pass to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Codes of one attribute, in the smallest type that holds its domain."""

Columns: TypeAlias = Sequence[NDArray[np.integer[Any]]]
"""One array of integers per attribute, all of one length."""
