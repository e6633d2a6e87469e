"""Prepare a plan for disclosure, with every check that needs no data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Chains, chains_of
from hedgerow.disclosure.lattice.risk import RiskModel
from hedgerow.disclosure.lattice.utility import MEASURE_NAMED, Measure, utility_tables
from hedgerow.encode.schema import schema_of
from hedgerow.errors import PlanError, SettingError, TaxonomyError
from hedgerow.model.compiler import need_compiler
from hedgerow.model.schema import Schema
from hedgerow.pipeline.prepare import PlanLike, as_plan
from hedgerow.pipeline.signed import given_beside
from hedgerow.plan.disclose import DisclosePlan, ThresholdDisclose
from hedgerow.plan.model import Plan
from hedgerow.plan.override import override_disclosure

MOST_FORMS = 1 << 24
"""Maximum number of generalisations of a record for searches of the threshold model; with more,
a record takes seconds. Branch and bound may try, as it often prunes most of them.

The check uses public facts only: the heights of the taxonomies, not the records.
"""


@dataclass(frozen=True, kw_only=True)
class PreparedDisclosure:
    """The requirements for every record; nothing confidential has been read yet.

    ``value_weights`` holds the weights of codes, for the attributes that have any.
    """

    plan: Plan
    disclose: DisclosePlan
    schema: Schema
    chains: tuple[Chains, ...]
    attribute_weights: dict[int, float]
    value_weights: dict[int, NDArray[np.float64]]

    @property
    def model(self) -> RiskModel:
        """The risk model."""
        return RiskModel(number=self.disclose.risk.model, printed=self.disclose.risk.printed)

    @property
    def measure(self) -> Measure:
        """The measure of utility."""
        return MEASURE_NAMED[self.disclose.utility.measure]

    @property
    def utility(self) -> tuple[NDArray[np.float64], ...]:
        """Utility of each level above each code."""
        return utility_tables(self.measure, self.chains)

    @property
    def monotone(self) -> bool:
        """True if every generalisation lowers the risk, so that all searches are exact."""
        return self.model.monotone and self.disclose.risk.consistency == "hierarchical"


def prepare_disclosure(
    plan: PlanLike, settings: Mapping[str, Any] | None = None
) -> PreparedDisclosure:
    """Return the plan with its taxonomies loaded and its weights by code.

    ``settings`` override the plan's ``disclose`` section.
    """
    checked = override_disclosure(as_plan(plan), **(settings or {}))
    if checked.person is not None:
        raise PlanError(
            "Records are disclosed one by one, without regard to the person they belong to.",
            where="person",
            do="Disclose from a plan without 'person' and with one record per person.",
        )
    if checked.disclose is None:
        raise PlanError(
            "The plan does not say how to disclose.",
            where="disclose",
            do="Add a section such as 'disclose: {method: aruba, utility: {at-least: half}}'.",
        )
    need_compiler("Disclosing records", extra="disclose")
    ready = with_weights(checked, checked.disclose)
    _check_reach(checked.disclose, ready.chains)
    return ready


def with_weights(plan: Plan, disclose: DisclosePlan) -> PreparedDisclosure:
    """Return the plan with its taxonomies as chains and a section's weights by code."""
    schema = schema_of(plan)
    chains = chains_of(schema)
    common, by_value = _weights(disclose, schema, chains)
    return PreparedDisclosure(
        plan=plan,
        disclose=disclose,
        schema=schema,
        chains=chains,
        attribute_weights=common,
        value_weights=by_value,
    )


def given_to(ready: PreparedDisclosure, data: Any, against: Any) -> dict[str, Any]:
    """Return the arguments of a run that change what was signed.

    The attacker's dictionary was signed, the path of the table was not.
    """
    changed = given_beside(ready.plan, data)
    if against is not None and not _is_named(ready, against):
        changed["against"] = "another dictionary than the plan names"
    return changed


def _is_named(ready: PreparedDisclosure, against: Any) -> bool:
    """Return whether the dictionary is the file that the plan names."""
    named = ready.disclose.against
    if named is None or not isinstance(against, str | os.PathLike):
        return False
    place = os.fspath(against)
    return place == named or os.path.abspath(place) == os.path.abspath(ready.plan.resolve(named))  # noqa: PTH100 - no file is looked at


def _check_reach(disclose: DisclosePlan, chains: tuple[Chains, ...]) -> None:
    """Refuse a search that would not end, before a record is read."""
    n_forms = prod(chain.tallest + 1 for chain in chains)
    searches = isinstance(disclose, ThresholdDisclose) and disclose.method != "branch-and-bound"
    if searches and n_forms > MOST_FORMS:
        raise SettingError(
            f"A record may have {n_forms:,} generalisations, and the method"
            f" {disclose.method!r} searches {MOST_FORMS:,} at most.",
            where="disclose.method",
            do="Use the method aggregate, which needs no search, or branch-and-bound for a few"
            " records; or drop attributes, or use taxonomies with fewer levels.",
        )


def _weights(
    disclose: DisclosePlan, schema: Schema, chains: tuple[Chains, ...]
) -> tuple[dict[int, float], dict[int, NDArray[np.float64]]]:
    common: dict[int, float] = {}
    by_value: dict[int, NDArray[np.float64]] = {}
    place = {attribute.name: i for i, attribute in enumerate(schema.attributes)}
    for name, severity in disclose.risk.severities.items():
        i = place[name]
        if isinstance(severity, dict):
            labels = {label: float(weight) for label, weight in severity.items()}
            by_value[i] = _code_weights(labels, chains[i], name)
        else:
            common[i] = float(severity)
    return common, by_value


def _code_weights(labels: dict[str, float], chain: Chains, name: str) -> NDArray[np.float64]:
    """Return the weight of each code: that of the lowest labelled node above it, or 1."""
    tree = chain.taxonomy
    weights = np.ones(tree.n_leaves)
    try:
        nodes = {tree.find(label): weight for label, weight in labels.items()}
    except TaxonomyError as error:
        raise PlanError(
            error.what,
            where=f"disclose.risk.severities.{name}",
            do="Give labels of the attribute's taxonomy; see `hedgerow taxonomy show`.",
            paths=(f"disclose.risk.severities.{name}",),
        ) from None
    # A node comes after its ancestors, so the lowest one is written last.
    for node in sorted(nodes):
        weights[tree.first[node] : tree.stop[node]] = nodes[node]
    return weights
