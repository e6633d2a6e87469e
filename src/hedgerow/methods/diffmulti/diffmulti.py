"""DiffMulti: boxes of their own for every region, by top-down specialisation [DiffMulti].

Where DiffGen grows one cut for the whole table, every box here chooses for itself which
of its values to specialise. Boxes of a level are counted and split together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np

from hedgerow.errors import SettingError
from hedgerow.methods.diffmulti.budget import DEPTH, DiffMultiBudget, most_specialisations
from hedgerow.methods.diffmulti.clusters import (
    FIRST,
    SHARE,
    cluster_score,
    noisy_centres,
    without_labels,
)
from hedgerow.methods.diffmulti.departures import CLUSTERED, COMMON, IMPROVED
from hedgerow.methods.diffmulti.growth import Growth, JointGrowth, PrintedGrowth
from hedgerow.methods.diffmulti.scores import MultiScore
from hedgerow.model.engine import Engine
from hedgerow.model.groups import CountOrigin, Groups
from hedgerow.model.method import About, Departure, Outline, Step
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.trees.leaves import groups_of_leaves, publish_leaves
from hedgerow.trees.topdown import Grown, grow

MOST_GROUPS = 100_000_000
"""Groups that a release may be expected to have."""

LEAST_SHARE = Fraction(1, 1 << 31)
"""Noise of a smaller share cannot be drawn."""


@dataclass(frozen=True, kw_only=True)
class DiffMulti:
    """Specialise every box for itself, at most ``specialisations`` times in all.

    ``specialisations`` is the paper's h. ``fair`` gives a child its part of what its
    parent has left by noisy counts, otherwise children get equal parts. ``faithful`` runs
    [DiffMulti, Alg. 1] as printed, where that is private; otherwise attribute and split
    are chosen jointly, paths have at most ``depth`` steps, and child counts are reused.
    With ``clusters`` boxes are made so that records of one of that many clusters stay together;
    a fifth of epsilon finds the clusters.

    Privacy: neighbours differ in one record. Every path spends on its split points,
    choices and child counts, and its leaf for the rest: epsilon in all (Lemma L2).
    """

    specialisations: int
    score: MultiScore
    fair: bool
    depth: int | None
    faithful: bool
    clusters: int | None = None

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="diffmulti",
            faithful=self.faithful,
            departures=self._departures(),
            chosen={"score": self.score.name},
            details=self._details(),
            rests_on=self.score.rests_on,
        )

    def _departures(self) -> tuple[Departure, ...]:
        clustered = () if self.clusters is None else CLUSTERED
        return (*COMMON, *clustered, *(() if self.faithful else IMPROVED))

    def _details(self) -> dict[str, str]:
        """Details of the choices for the certificate."""
        divisor = self.score.printed if self.faithful else self.score.span
        two_signs = self.score.name == "infogain" or self.score.rests_on is not None
        halved = two_signs or divisor > self.score.span
        return {
            "sensitivity": self.score.sensitivity,
            "choice": "exponential mechanism" if self.faithful else "permute-and-flip",
            "rate": "share / (2 sensitivity)" if halved else "share / sensitivity",
            "depth": "|g|, by the taxonomies" if self.faithful else str(self.depth or DEPTH),
            **({} if self.clusters is None else {"clusters": str(self.clusters)}),
        }

    def budget(self, schema: Schema, epsilon: Fraction) -> DiffMultiBudget:
        """Return the split of epsilon, from public settings alone; without that of clusters."""
        return self._budget(schema, epsilon - self._for_clusters(epsilon))

    def _for_clusters(self, epsilon: Fraction) -> Fraction:
        return Fraction(0) if self.clusters is None else epsilon * SHARE

    def _budget(self, schema: Schema, epsilon: Fraction) -> DiffMultiBudget:
        if self.faithful:
            return DiffMultiBudget.printed(epsilon, schema)
        return DiffMultiBudget.improved(epsilon, schema, depth=self.depth, fair=self.fair)

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        require_domains(schema)
        if self.score.needs_class and schema.class_attribute is None:
            raise SettingError(
                f"The score {self.score.name!r} compares classes, and no attribute is the class.",
                where="publish.score",
                do="Give score: discernibility or ncp, or an attribute the role 'class'.",
            )
        if self.clusters is not None:
            FIRST.validate(schema, epsilon * SHARE)
        budget = self.budget(schema, epsilon)
        if budget.choice < LEAST_SHARE or (self.fair and budget.sizes < LEAST_SHARE):
            raise SettingError(
                "The budget of one step would be too small to draw noise with.",
                where="publish.epsilon",
                do="Give a larger epsilon.",
            )
        n_groups = self._typical_groups(schema)
        if n_groups > MOST_GROUPS:
            raise SettingError(
                f"There would be about {n_groups:.1e} groups, too many to publish.",
                where="publish.h",
                do="Give fewer specialisations.",
            )

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what the longest path spends and how many groups to expect."""
        budget = self.budget(schema, epsilon)
        most = most_specialisations(schema)
        share = self._for_clusters(epsilon)
        centres = Step(on="cluster centres", share=share, times=1)
        return Outline(
            steps=(centres, *budget.steps()) if share else budget.steps(),
            counts=budget.leaf,
            n_groups=self._typical_groups(schema),
            most_groups=self._most_groups(schema),
            notes=(
                f"At most {most:,} specialisations are possible; h is {self.specialisations:,}.",
                f"A path has at most {budget.depth} of them; what it does not use goes to its"
                " leaf's counts.",
            ),
        )

    def _most_groups(self, schema: Schema) -> int:
        """Return the groups after h specialisations of the largest fan-out: there are no more.

        A box hands at most one less than its own h' down to all of its children together.
        """
        fans = [_largest_fan_out(attribute.domain) for attribute in schema.attributes]
        n_boxes = 1 + self.specialisations * (max(fans) - 1)
        most = prod(attribute.domain.size for attribute in schema.attributes)
        return min(n_boxes, most) * _n_classes(schema)

    def _typical_groups(self, schema: Schema) -> int:
        """Return the groups after h specialisations of average fan-out."""
        fans = [_fan_out(attribute.domain) for attribute in schema.attributes]
        steps = min(self.specialisations, most_specialisations(schema))
        n_boxes = 1 + round(steps * (sum(fans) / len(fans) - 1))
        most = prod(attribute.domain.size for attribute in schema.attributes)
        return min(n_boxes, most) * _n_classes(schema)

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the noisy groups of the final boxes [DiffMulti, Alg. 1]."""
        growth = self._growth(run) if self.clusters is None else self._clustered(run, self.clusters)
        grown = grow(growth.run, growth)
        run.progress("counting groups", None)
        grown = replace(grown, counts=without_labels(grown.counts, self.clusters))
        if self.faithful:
            return _printed_leaves(grown, run)
        return publish_leaves(grown, growth.measured, run=run)

    def _clustered(self, run: Run[Engine], n_clusters: int) -> Growth:
        """Return the growth of boxes for clusters, which take a share of epsilon to find."""
        share = run.epsilon * SHARE
        labels = noisy_centres(run, n_clusters, share=share)
        labelled = replace(run, engine=run.engine.labelled(labels), epsilon=run.epsilon - share)
        return replace(self, score=cluster_score(n_clusters))._growth(labelled)

    def _growth(self, run: Run[Engine]) -> Growth:
        schema = run.engine.schema
        return (PrintedGrowth if self.faithful else JointGrowth)(
            run=run,
            score=self.score,
            budget=self._budget(schema, run.epsilon),
            fair=self.fair,
            left=np.array([self.specialisations], dtype=np.int64),
            n_attributes=len(schema.attributes),
            n_classes=_n_classes(schema),
            n_clusters=self.clusters,
        )


def _printed_leaves(grown: Grown, run: Run[Engine]) -> Groups:
    """Return the groups with noisy counts cut at zero [DiffMulti, Alg. 1, line 21; Sec. 4.4].

    Privacy: costs what each path has left; every group gets noise, empty ones included.
    """
    noisy, shares = run.noisy_rest(grown.counts, nodes=grown.leaves.ledger, on="counts")
    has_class = run.engine.schema.class_attribute is not None
    counting = CountOrigin(share=min(shares.values), threshold=1, lowered_by=None)
    return groups_of_leaves(grown, np.maximum(noisy, 0), counting, has_class=has_class)


def _n_classes(schema: Schema) -> int:
    return 1 if schema.class_attribute is None else schema.class_attribute.domain.size


def _largest_fan_out(domain: Domain) -> int:
    """Return how many children a value of the domain has, at the most; 1 if it has none."""
    if not isinstance(domain, CategoricalDomain):
        return 2
    parents = domain.taxonomy.parent[1:]  # the root comes first and has none
    return max(int(np.bincount(parents).max(initial=1)), 1)


def _fan_out(domain: Domain) -> float:
    """Return how many children a value of the domain has, on average."""
    if not isinstance(domain, CategoricalDomain):
        return 2.0
    tree = domain.taxonomy
    return (tree.n_nodes - 1) / max(tree.n_nodes - tree.n_leaves, 1)
