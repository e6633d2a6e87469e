"""Private choices of what to specialise next: as DiffGen printed it, and jointly."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.engine import Engine
from hedgerow.model.run import Run
from hedgerow.privacy.choice import Rule
from hedgerow.privacy.source import below
from hedgerow.trees.candidates import Blocks, ScoredParts
from hedgerow.trees.cut import Cut, Part
from hedgerow.trees.scores import Score

_WEIGHT_UNITS = 1 << 10
"""A position's weight is a whole number of these, so that a block's is an exact product."""


class Chooser(Protocol):
    """Private choices of DiffGen's loop, in the order of its calls."""

    def begin(self, candidates: list[Part]) -> None:
        """Prepare the first choice among the topmost parts."""
        ...

    def choose(self, cut: Cut, candidates: list[Part], step: int) -> tuple[Part, int | None]:
        """Return the part to specialise, and the position where a numeric one splits."""
        ...

    def follow(self, children: list[Part], step: int) -> None:
        """Prepare later choices after a part has become ``children``."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ChoiceMaker:
    """Rule of the choices: the score and its parts, and the share of each choice."""

    run: Run[Engine]
    scored: ScoredParts
    score: Score
    share: Fraction

    def make(
        self,
        blocks: list[Blocks],
        *,
        weights: list[NDArray[np.float64]],
        starts: list[int],
        rule: Rule,
        monotone: bool,
        sensitivity: Fraction,
        on: str,
    ) -> NDArray[np.int64]:
        """Return the chosen block of each segment, as an index into all blocks."""
        return self.run.choose(
            np.concatenate([each.scores for each in blocks]),
            share=self.share,
            on=on,
            sensitivity=sensitivity,
            monotone=monotone,
            starts=np.array(starts, dtype=np.int64),
            weights=np.concatenate(weights),
            rule=rule,
        )

    def position(self, blocks: Blocks, block: int) -> int | None:
        """Return a split position drawn uniformly from a block of a numeric part."""
        if not blocks.part.is_numeric:
            return None
        lengths = blocks.lengths[block : block + 1]
        inside = below(lengths, source=self.run.source)
        return int(blocks.positions[block] + inside[0])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JointChoice:
    """Choose a part and, for a numeric one, its split position, in one private step.

    Departs: [DiffGen, Alg. 1, lines 4, 7 and 9] chooses split points and then a part. Here
    a part has measure 1, shared evenly by the split positions of a numeric one, to 10 bits.

    Privacy: one choice over a public set with a public base measure costs one share
    (Lemma L1), at the monotone rate where the score is monotone. Blocks follow the data, so
    a block's weight must be that of its positions exactly: a weight of few bits times a length
    below 2**32 is not rounded.
    """

    choices: ChoiceMaker

    def begin(self, candidates: list[Part]) -> None:
        """Nothing to prepare."""

    def choose(self, cut: Cut, candidates: list[Part], step: int) -> tuple[Part, int | None]:
        """Return the chosen part and position."""
        blocks = [self.choices.scored.blocks(cut, part) for part in candidates]
        n_positions = [int(each.lengths.sum()) for each in blocks]  # public: see Blocks
        finest = max(n_positions)  # permute-and-flip wants weights of at least 1
        chosen = self.choices.make(
            blocks,
            weights=[
                np.multiply(
                    each.lengths, finest * _WEIGHT_UNITS // n / _WEIGHT_UNITS, dtype=np.float64
                )
                for each, n in zip(blocks, n_positions, strict=True)
            ],
            starts=[0],
            rule="permute-and-flip",
            monotone=self.choices.score.monotone,
            sensitivity=self.choices.score.sensitivity,
            on=f"specialisation {step}",
        )
        ends = np.cumsum([len(each.scores) for each in blocks])
        which = int(np.searchsorted(ends, chosen[0], side="right"))
        block = int(chosen[0]) - (int(ends[which - 1]) if which else 0)
        return candidates[which], self.choices.position(blocks[which], block)

    def follow(self, children: list[Part], step: int) -> None:
        """Nothing to prepare."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrintedChoice:
    """Draw split points first, then choose among parts, as printed [DiffGen, Alg. 1].

    Every choice is an exponential mechanism at rate share / (2 sensitivity).
    ``sensitivity`` is the one the paper states for its score.
    """

    choices: ChoiceMaker
    cut: Cut
    sensitivity: Fraction
    splits: dict[Part, int] = field(default_factory=dict)

    def begin(self, candidates: list[Part]) -> None:
        """Draw the split point of every numeric attribute [line 4]."""
        for part in candidates:
            if part.is_numeric:
                name = self.cut.schema.attributes[part.attribute].name
                self._draw([part], on=f"first split of {name}")

    def choose(self, cut: Cut, candidates: list[Part], step: int) -> tuple[Part, int | None]:
        """Choose a part by the score of its known split [line 7; Eq. (5)]."""
        blocks = [self._known(cut, part) for part in candidates]
        chosen = self._exponential(blocks, starts=[0], on=f"specialisation {step}")
        part = candidates[int(chosen[0])]
        return part, self.splits.get(part)

    def follow(self, children: list[Part], step: int) -> None:
        """Draw the split points of new numeric parts [line 9; Eqs. (6) and (7)]."""
        self._draw(
            [part for part in children if part.is_numeric and part.stop - part.first > 1],
            on=f"splits after specialisation {step}",
        )

    def _draw(self, parts: list[Part], *, on: str) -> None:
        """Draw split points of parts that hold disjoint records, for one share."""
        if not parts:
            return
        blocks = [self.choices.scored.blocks(self.cut, part) for part in parts]
        starts = np.cumsum([0, *(len(each.scores) for each in blocks[:-1])])
        chosen = self._exponential(blocks, starts=starts.tolist(), on=on)
        for part, each, start, block in zip(parts, blocks, starts, chosen, strict=True):
            position = self.choices.position(each, int(block - start))
            if position is None:
                raise InternalError("A numeric part was given no split position.")
            self.splits[part] = position

    def _known(self, cut: Cut, part: Part) -> Blocks:
        if not part.is_numeric:
            return self.choices.scored.blocks(cut, part)
        return self.choices.scored.split_at(part, self.splits[part])

    def _exponential(
        self, blocks: list[Blocks], *, starts: list[int], on: str
    ) -> NDArray[np.int64]:
        return self.choices.make(
            blocks,
            weights=[each.lengths.astype(np.float64) for each in blocks],
            starts=starts,
            rule="exponential",
            monotone=False,
            sensitivity=self.sensitivity,
            on=on,
        )
