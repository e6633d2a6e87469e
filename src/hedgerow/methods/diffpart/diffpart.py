"""DiffPart: baskets by private top-down partitioning over a taxonomy of items [DiffPart].

All partitions of a level are expanded, counted and tested together, one pass over the
records that are still followed for each level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.errors import SettingError
from hedgerow.methods.diffpart.departures import COMMON, IMPROVED
from hedgerow.methods.diffpart.factors import most_masks, passing_by_noise, pruning_factor
from hedgerow.methods.diffpart.items import (
    ITEMS_SHARE,
    PASSING,
    ItemCounts,
    item_threshold,
    noisy_items,
)
from hedgerow.methods.diffpart.level import Expansion, PartitionLevel, split_level
from hedgerow.methods.diffpart.rest import DrawnSets, RestStep, drawn_rest, leaf_sets
from hedgerow.methods.diffpart.rules import FALSE_ITEMSETS, PrintedRules, PublicRules
from hedgerow.methods.diffpart.small_universe import SMALL_UP_TO, small_universe
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.engine import BasketEngine, BasketWalk
from hedgerow.model.groups import CountOrigin
from hedgerow.model.method import About, Outline, Step
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.taxonomy.tree import Taxonomy

FALSE_POSITIVES = Fraction(1, 20)
MAX_LENGTH = 8
"""Default maximum number of items of a record that are kept."""

MOST_BY_NOISE = 1e6
"""Partitions that noise alone may make of one without records, at the worst."""

_NO_BOUND = (
    "Theorem 4.2 of the paper bounds the error of counting queries as printed (faithful: true)"
    " and of basic, not of this variant, which moves and draws counts."
)

TOTAL_SHARE = Fraction(1, 50)
"""The part of epsilon that the noisy number of records costs."""


@dataclass(frozen=True, kw_only=True)
class DiffPart:
    """Split records by the groups of items they hold, and publish the itemsets that pass.

    ``faithful`` runs [DiffPart, Alg. 1 and Procedure 1] with the factors ``c1`` and ``c2``
    of its thresholds; ``None`` takes them from the taxonomy (:mod:`.factors`). Otherwise
    ``false_positives`` is the target that thresholds of tests are made of, and records are
    cut to ``max_length`` items.

    Privacy: neighbours differ in one record. Sub-partitions are disjoint (parallel
    composition), the shares along every chain of partitions add up to epsilon at most
    (sequential composition), and every other decision reads noisy values (Lemma L2).
    """

    faithful: bool = False
    false_positives: Fraction = FALSE_POSITIVES
    max_length: int | None = None
    c1: Fraction | None = None
    c2: Fraction | None = None

    def __post_init__(self) -> None:
        if self.false_positives <= 0:
            raise SettingError.out_of_range(
                "false-positives", self.false_positives, "a number above 0"
            )
        if self.max_length is not None and self.max_length < 1:
            raise SettingError.out_of_range(
                "max-length", self.max_length, "a whole number, 1 or more"
            )
        for name, factor in (("c1", self.c1), ("c2", self.c2)):
            if factor is not None and factor < 0:
                raise SettingError.out_of_range(name, factor, "0 or more")

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="diffpart",
            faithful=self.faithful,
            departures=COMMON if self.faithful else COMMON + IMPROVED,
            chosen=self._chosen(),
            details=self._details(),
        )

    def _chosen(self) -> dict[str, str]:
        """Settings that the plan left to the method, as it has chosen them."""
        if self.faithful or self.max_length is not None:
            return {}
        return {"max-length": f"{MAX_LENGTH}; no limit up to {SMALL_UP_TO} items"}

    def _details(self) -> dict[str, str]:
        """Details of the thresholds for the certificate."""
        if self.faithful:
            details = {"thresholds": "sqrt(2) C2 height / share; sqrt(2) C1 / share"}
            if self.c1 is None or self.c2 is None:
                details["factors"] = (
                    "C2 the least at which one empty sub-partition passes on average; C1 by the"
                    " noisy size of a partition, so that as many itemsets are false as are lost"
                )
            return details
        return {
            "thresholds": f"{self.false_positives} false partitions and"
            f" {max(self.false_positives, FALSE_ITEMSETS)} false itemset per partition, on average",
            "items": f"known from a count that noise alone reaches with chance {PASSING}",
        }

    def validate(self, taxonomy: Taxonomy, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        if not self.faithful or self.c2 is None:
            return
        tree = SplitTree.of(taxonomy)
        expected = max(passing_by_noise(self.c2, tree), 1.0)
        tests = int(tree.internal[0]) - 1
        if tests * math.log(expected) > math.log(MOST_BY_NOISE):
            raise SettingError(
                f"Tests with this factor pass about {expected:.3g} of the empty sub-partitions"
                " of every partition, which multiply from level to level.",
                where="publish.c2",
                do=f"Give {float(pruning_factor(tree)):g}, which passes one, or leave it out.",
            )

    def outline(self, taxonomy: Taxonomy, epsilon: Fraction) -> Outline:
        """Return what a run will spend and how many baskets to expect, without any data.

        The chain shown is the one on which every node gives one child.
        """
        tree = SplitTree.of(taxonomy)
        if self._is_small(tree):
            step = Step(on="counts", share=epsilon, times=1)
            n_groups = (1 << tree.n_items) - 1
            return Outline(steps=(step,), counts=epsilon, n_groups=n_groups, notes=(_NO_BOUND,))
        steps: list[Step] = []
        left = epsilon
        if not self.faithful:
            for on, part in (("total", TOTAL_SHARE), ("items", ITEMS_SHARE)):
                steps.append(Step(on=on, share=epsilon * part, times=1))
                left -= epsilon * part
        ledger = PathLedger(left)
        rules = self._rules(tree, epsilon)
        node, level = 0, PartitionLevel.top(noisy_total=0)
        while tree.height[node] > 1:
            share = rules.test_shares(level, tree, ledger.left(np.zeros(1, dtype=np.int64)))[0]
            steps.append(Step(on="tests", share=ledger.spend(share, on="tests"), times=1))
            below = tree.children[tree.child_start[node] : tree.child_start[node + 1]]
            node = int(below[np.argmax(tree.height[below])])
            level = PartitionLevel.top(noisy_total=0, node=node)
        steps.append(Step(on="counts", share=ledger.left(), times=1))
        return Outline(
            steps=tuple(steps),
            counts=ledger.left(),
            n_groups=tree.n_items,
            notes=self._notes(tree, epsilon),
        )

    def publish(self, run: Run[BasketEngine]) -> NoisyBaskets:
        """Return the noisy itemsets; the ledger is settled afterwards [DiffPart, Alg. 1].

        Privacy: costs epsilon, all that the ledger has.
        """
        taxonomy = run.engine.taxonomy
        tree = SplitTree.of(taxonomy)  # line 2
        if self._is_small(tree):
            run.progress("counting itemsets", None)
            return small_universe(run)
        walk = run.engine.walk(max_length=None if self.faithful else self._length(tree))
        total, items = (0, None) if self.faithful else self._sizes(run, walk, tree)
        steps: list[RestStep] = []
        level = PartitionLevel.top(noisy_total=total)  # lines 3-4
        rules = self._rules(tree, run.epsilon)
        while len(level):  # line 7
            run.progress("partitioning", None)
            chosen = rules.choose(level, tree, run.source)
            expansion = Expansion(level=level, tree=tree, chosen=chosen)
            level, found, leaves = split_level(run, expansion, walk, rules=rules)
            steps.append(RestStep(expansion=expansion, found=found, leaves=leaves))
        baskets = leaf_sets(steps, tree)
        if items is not None:
            rest = drawn_rest(
                steps,
                tree,
                published=baskets,
                items=items,
                max_length=self._length(tree),
                source=run.source,
            )
            baskets = DrawnSets.joined([baskets, rest])
        return NoisyBaskets.sorted_of(
            taxonomy,
            offsets=baskets.offsets,
            items=baskets.items,
            counts=baskets.counts,
            origin=self._counting(run),
        )

    def _sizes(
        self, run: Run[BasketEngine], walk: BasketWalk, tree: SplitTree
    ) -> tuple[int, ItemCounts]:
        """Return the noisy number of records, at least 0, and noisy counts of items."""
        size = np.array([walk.size()], dtype=np.int64)
        total = max(0, run.noisy_total(size, share=run.epsilon * TOTAL_SHARE, on="total"))
        share = run.epsilon * ITEMS_SHARE
        return total, noisy_items(run, walk, max_length=self._length(tree), share=share)

    def usefulness(
        self, taxonomy: Taxonomy, epsilon: Fraction, *, n_itemsets: int, delta: float
    ) -> float | None:
        """Return the error that a counting query exceeds with chance ``delta`` at the most.

        ``n_itemsets`` bounds how many itemsets the query covers that occur in the records
        or in the release. [DiffPart, Thm 4.2]: with probability 1 - delta the error is at
        most n (gamma + ln(n / delta) / beta), where beta is the smallest share of a test,
        B / (2 |internal nodes|), and gamma its threshold. A worst case over all data sets;
        usual errors are far smaller. ``None`` where the theorem does not hold: the improved
        variant moves counts together and draws what it cannot tell apart.

        >>> method = DiffPart(faithful=True, c1=Fraction(1), c2=Fraction(5))
        >>> items = Taxonomy.flat(["a", "b", "c"])
        >>> round(method.usefulness(items, Fraction(1), n_itemsets=1, delta=0.05))
        21
        """
        if n_itemsets < 1 or not 0 < delta < 1:
            raise SettingError.out_of_range("delta", delta, "a number between 0 and 1")
        tree = SplitTree.of(taxonomy)
        rules = self._rules(tree, epsilon)
        if not isinstance(rules, PrintedRules):
            return None
        beta = epsilon / (2 * int(tree.internal[0]))
        gamma = rules.threshold("tests", beta, (0, 0, int(tree.height[0])), block=0)
        return n_itemsets * (gamma + math.log(n_itemsets / delta) / float(beta))

    def _rules(self, tree: SplitTree, epsilon: Fraction) -> PrintedRules | PublicRules:
        if self.faithful:
            c2 = pruning_factor(tree) if self.c2 is None else self.c2
            return PrintedRules(epsilon=epsilon, c1=self.c1, c2=c2, n_masks=most_masks(tree))
        return PublicRules(
            epsilon=epsilon, false_positives=self.false_positives, max_length=self._length(tree)
        )

    def _notes(self, tree: SplitTree, epsilon: Fraction) -> tuple[str, ...]:
        rules = self._rules(tree, epsilon)
        if isinstance(rules, PrintedRules):
            least = rules.count_factor(epsilon)
            c1 = f"C1 = {float(least):g}"
            if self.c1 is None and least < rules.c2:
                c1 += ", more in small partitions,"
            return (f"Thresholds have the factors {c1} and C2 = {float(rules.c2):g}.",)
        length = self._length(tree)
        share = epsilon * ITEMS_SHARE
        items = (
            f"Items in about {item_threshold(share, length):,} records or more are known by noisy"
            " counts of their own; rarer ones appear only where they are found beside others."
        )
        return items, _NO_BOUND

    def _length(self, tree: SplitTree) -> int:
        return min(self.max_length or MAX_LENGTH, tree.n_items)

    def _is_small(self, tree: SplitTree) -> bool:
        return not self.faithful and self.max_length is None and tree.n_items <= SMALL_UP_TO

    def _counting(self, run: Run[BasketEngine]) -> CountOrigin:
        """Return what is sure of all counts: the smallest share, the smallest threshold.

        The improved variant lists what it draws, too, so that no threshold holds for all.
        """
        taxonomy = run.engine.taxonomy
        counts = run.booked(on="counts") or {self.outline(taxonomy, run.epsilon).counts}
        rules = self._rules(SplitTree.of(taxonomy), run.epsilon)
        threshold = None
        if isinstance(rules, PrintedRules):
            threshold = min(rules.count_threshold(share) for share in counts)
        return CountOrigin(share=min(counts), threshold=threshold, lowered_by=None)
