"""Data that one run of DiffGen reads, once, and the budget that it spends on them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.kernels import ClassHistograms
from hedgerow.errors import InternalError
from hedgerow.model.engine import Engine
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.mechanisms import Spending, noisy_counts
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress


@dataclass(kw_only=True, eq=False, repr=False)
class DiffGenRun:
    """Data and budget of one run."""

    engine: Engine
    ledger: PathLedger
    source: RandomSource
    progress: Progress
    _counted: list[NDArray[np.int64]] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        classes = self.engine.schema.class_attribute
        if classes is None:
            raise InternalError("DiffGen was asked to specialise without a class")
        return classes.domain.size

    def histograms(self) -> list[NDArray[np.int64]]:
        """Return every attribute's class histogram, from one pass; confidential."""
        if self._counted is None:
            self.progress("counting classes", None)
            sizes = tuple(attribute.domain.size for attribute in self.engine.schema.attributes)
            kernel = ClassHistograms(sizes=sizes, n_classes=self.n_classes)
            self._counted = kernel.split(self.engine.sum(kernel))
        return self._counted

    def noisy_size(self, share: Fraction) -> int:
        """Return the noisy number of records.

        Privacy: costs ``share``; one record moves the number by one.
        """
        spending = Spending(
            epsilon=share, on="number of records", ledger=self.ledger, source=self.source
        )
        size = self.histograms()[0].sum(keepdims=True).reshape(1)
        return int(noisy_counts(size, spending=spending)[0])
