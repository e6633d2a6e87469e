"""Names for the arrays that rooms hand to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""The codes of one attribute, of the smallest type that holds its domain."""

Columns: TypeAlias = Sequence[NDArray[np.integer[Any]]]
"""One array of whole numbers per attribute, all of one length."""
