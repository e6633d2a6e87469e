"""The terms of private disclosure, from the plan's settings to tables over cuts and codes.

All of it is public: a person's own factor is looked up in a public table by a value of the
person's record.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.kernels import GroupCounts
from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.disclosure.lattice.risk import Severities
from hedgerow.disclosure.lattice.utility import MEASURE_NAMED, utility_tables
from hedgerow.disclosure.private.choice import Worth
from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.disclosure.private.synopsis import Kinds, measured_vectors
from hedgerow.disclosure.private.weighing import PersonalSettings
from hedgerow.errors import SettingError, TaxonomyError
from hedgerow.model.arrays import Floats, Ints
from hedgerow.model.engine import Engine
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.domain import CategoricalDomain
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Layout:
    """A schema laid out for private disclosure; public.

    ``factors`` is the public table of personal factors by code, and ``by`` the attribute that
    selects them: its index, or -1 for the class.
    """

    schema: Schema
    space: LevelSpace
    worth: Worth
    by: int | None
    factors: Floats | None

    @property
    def n_classes(self) -> int:
        """The number of classes, 1 where there is no class."""
        target = self.schema.class_attribute
        return 1 if target is None else target.domain.size

    def read(self, engine: Engine) -> People:
        """Return the records of the engine's table by kind and class; confidential."""
        whole = () if self.by is None or self.by < 0 else (self.by,)
        kernel = self.space.kinds_kernel(self.n_classes, whole=whole)
        tally = engine.tally(kernel)
        kinds = Kinds(
            columns=self.space.kind_codes(tally.keys, kernel, whole=whole), many=tally.counts
        )
        classes = tally.keys % self.n_classes
        return People(kinds=kinds, classes=classes, personal=self._personal(tally.keys, kernel))

    def _personal(self, keys: Ints, kernel: GroupCounts) -> Floats | None:
        if self.factors is None or self.by is None:
            return None
        if self.by < 0:
            return self.factors[keys % self.n_classes]
        return self.factors[keys // kernel.strides()[self.by] % kernel.n_ranges[self.by]]

    def notes(self) -> tuple[str, ...]:
        """Sentences for ``check`` about the generalisations of each attribute."""
        depths = ", ".join(
            f"{attribute.name} {'-'.join(map(str, cuts.depths))}"
            for attribute, cuts in zip(self.schema.attributes, self.space.cuts, strict=True)
        )
        return (
            f"Every record chooses among up to {self.space.n_vectors:,} generalisations; depths"
            f" of the taxonomies that may be disclosed: {depths}.",
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class People:
    """The records by kind and class, with each kind's own factor; confidential."""

    kinds: Kinds
    classes: Ints
    personal: Floats | None

    def with_many(self, many: Ints) -> People:
        """Return the same kinds with other numbers of records, without empty ones."""
        some = np.flatnonzero(many)
        return People(
            kinds=Kinds(columns=[column[some] for column in self.kinds.columns], many=many[some]),
            classes=self.classes[some],
            personal=None if self.personal is None else self.personal[some],
        )


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The settings that all methods of private disclosure share."""

    plan: PersonalSettings
    _layouts: dict[Schema, Layout] = field(default_factory=dict, compare=False, repr=False)
    _chosen: dict[Schema, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def layout(self, schema: Schema) -> Layout:
        """Return the layout of a schema, or name the setting that does not fit it."""
        if schema not in self._layouts:
            self._layouts[schema] = _layout(schema, self.plan)
        return self._layouts[schema]

    def measured(self, schema: Schema) -> tuple[int, ...]:
        """Return the level vectors that the synopsis measures."""
        if schema not in self._chosen:
            self._chosen[schema] = measured_vectors(self.layout(schema).space)
        return self._chosen[schema]

    def details(self) -> dict[str, str]:
        """Return the certificate's facts about all these methods."""
        return {
            "objective": "lambda * matching records / (number of records * severity)"
            " + utility^kappa",
            "sensitivity": "1 record in one cell of every measured level vector",
        }


def _layout(schema: Schema, plan: PersonalSettings) -> Layout:
    space = LevelSpace.of(schema, plan.levels)
    utility = space.tables(utility_tables(MEASURE_NAMED[plan.measure], space.chains))
    worth = Worth(
        utility=utility,
        severity=_severities(schema, space, plan) if plan.model == 1 else None,
        risk_weight=_risk_weight(plan, utility),
        power=float(plan.power),
        floor=float(plan.floor) if plan.model == 1 else 0.0,
    )
    by, factors = _factors(schema, plan)
    return Layout(schema=schema, space=space, worth=worth, by=by, factors=factors)


def _risk_weight(plan: PersonalSettings, utility: tuple[Floats, ...]) -> float:
    if plan.risk_weight is not None:
        return float(plan.risk_weight)
    most = float(sum(table.max() for table in utility))
    weight: float = 0.5 * most ** float(plan.power)
    return weight


def _severities(
    schema: Schema, space: LevelSpace, plan: PersonalSettings
) -> tuple[NDArray[np.float64], ...]:
    names = [attribute.name for attribute in schema.attributes]
    common: dict[int, float] = {}
    by_value: dict[int, Floats] = {}
    for name, severity in plan.severities.items():
        if name not in names:
            raise _unknown(name, names, f"publish.severities.{name}")
        at = names.index(name)
        if isinstance(severity, dict):
            labels = {label: float(weight) for label, weight in severity.items()}
            by_value[at] = _code_weights(labels, space.chains[at], name)
        else:
            common[at] = float(severity)
    weights = Severities.of(space.chains, attributes=common, values=by_value)
    return space.tables(weights.tables)


def _unknown(name: str, names: list[str], where: str) -> SettingError:
    return SettingError(
        f"{name!r} is not a published attribute.",
        where=where,
        do=f"Give one of: {', '.join(names)[:300]}.",
    )


def _code_weights(labels: dict[str, float], chain: Chains, name: str) -> Floats:
    """Return the weight of each code: that of the lowest labelled node above it, or 1."""
    tree = chain.taxonomy
    weights = np.ones(tree.n_leaves)
    nodes = {
        _node(tree, label, f"publish.severities.{name}"): weight for label, weight in labels.items()
    }
    for node in sorted(nodes):  # a node comes after its ancestors
        weights[tree.first[node] : tree.stop[node]] = nodes[node]
    return weights


def _node(tree: Taxonomy, label: str, where: str) -> int:
    try:
        return tree.find(label)
    except TaxonomyError as error:
        raise SettingError(
            error.what,
            where=where,
            do="Give labels of the attribute's taxonomy; see `hedgerow taxonomy show`.",
        ) from None


def _factors(
    schema: Schema, plan: PersonalSettings
) -> tuple[int | None, NDArray[np.float64] | None]:
    """Return the attribute of personal factors, and the factor of each of its codes."""
    if plan.personal is None:
        return None, None
    target = schema.class_attribute
    if target is not None and target.name == plan.personal.by:
        at, attribute = -1, target
    else:
        names = [each.name for each in schema.attributes]
        if plan.personal.by not in names:
            raise _unknown(plan.personal.by, names, "publish.personal.by")
        at = names.index(plan.personal.by)
        attribute = schema.attributes[at]
    domain = attribute.domain
    if not isinstance(domain, CategoricalDomain):
        raise SettingError(
            "Numbers have no factors of their own.",
            where="publish.personal.by",
            do="Give an attribute with values or a taxonomy.",
        )
    factors = np.ones(domain.size)
    for label, factor in plan.personal.factors.items():
        node = _node(domain.taxonomy, label, "publish.personal.factors")
        factors[domain.taxonomy.first[node] : domain.taxonomy.stop[node]] = float(factor)
    return at, factors
