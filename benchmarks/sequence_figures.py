"""How far published sequences are from the records: the figures of research/sequences.md.

What is true is counted once, and compared with many releases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.evaluation.grams import gram_counts, relative_error, top_patterns
from hedgerow.evaluation.sequence_tasks import LONGEST, SHARE, TOP
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import EncodedBaskets, offsets_of

HEADINGS = "prefixes of 1..4 | substrings of 1..4 | F1, support | length TV"


class Truth:
    """The counts of records (confidential) that releases are compared with."""

    def __init__(self, records: EncodedBaskets) -> None:
        self.sequences = WeightedSets.of_records(records)
        self.least = float(SHARE * len(records))
        self.grams = [gram_counts(self.sequences, n, begins=b) for b, n in _runs()]
        self.patterns = top_patterns(self.sequences, TOP)
        self.lengths = np.bincount(np.diff(records.offsets)) / max(1, len(records))

    def figures(self, noisy: WeightedSets) -> list[float]:
        """Return four errors of prefixes, four of substrings, F1, support and length TV.

        NaN where no run of that length is frequent enough to be compared.
        """
        found = [
            relative_error(true, gram_counts(noisy, n, begins=b), least=self.least)[0]
            for (b, n), true in zip(_runs(), self.grams, strict=True)
        ]
        told = [float("nan") if error is None else error for error in found]
        return [*told, *self._patterns(noisy), self._length_tv(noisy)]

    def _patterns(self, noisy: WeightedSets) -> tuple[float, float]:
        other = top_patterns(noisy, TOP)
        kept = [max(0.0, 1 - abs(other.get(p, 0) - n) / n) for p, n in self.patterns.items()]
        f1 = 2 * len(other.keys() & self.patterns.keys()) / (len(other) + len(self.patterns))
        return f1, float(np.mean(kept))

    def _length_tv(self, noisy: WeightedSets) -> float:
        counts = np.bincount(
            np.diff(noisy.offsets), weights=noisy.weights, minlength=len(self.lengths)
        )
        shares = counts / max(1, counts.sum())
        shares[: len(self.lengths)] -= self.lengths
        return float(np.abs(shares).sum() / 2)


def _runs() -> list[tuple[bool, int]]:
    return [(begins, n) for begins in (True, False) for n in range(1, LONGEST + 1)]


def shown_figures(values: Sequence[float]) -> str:
    """Return the figures as a row of a table."""
    told = [f"{value:.3f}".removeprefix("0") for value in values]
    parts = (told[:4], told[4:8], told[8:10], told[10:])
    return " | ".join(" ".join(part) for part in parts)


def drawn_from(records: EncodedBaskets, n: int, *, seed: int) -> EncodedBaskets:
    """Return ``n`` of the records, drawn without replacement."""
    chosen = np.random.default_rng(seed).choice(len(records), n, replace=False)
    lengths = np.diff(records.offsets)[chosen]
    offsets = offsets_of(lengths)
    places = np.repeat(records.offsets[:-1][chosen] - offsets[:-1], lengths)
    return EncodedBaskets(
        taxonomy=records.taxonomy,
        offsets=offsets,
        items=records.items[places + np.arange(offsets[-1])],
    )
