"""Conversion of a plan to the public universe of its items: taxonomy and reading of items."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from hedgerow.errors import PlanError, TaxonomyError
from hedgerow.model.universe import ItemsPlace, Universe
from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.model import Plan
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.labels import displayed, quoting_nothing
from hedgerow.taxonomy.load import read_values, taxonomy_of
from hedgerow.taxonomy.tree import Taxonomy

_SEPARATORS = {"space": b" ", "comma": b",", "tab": b"\t"}


def universe_of(plan: Plan) -> Universe:
    """Return the public universe of a plan's ``items``; files are read here."""
    items_plan = plan.items
    if items_plan is None:
        raise PlanError(
            "The section is missing.", where="items", do="Describe the universe of items there."
        )
    taxonomy = _taxonomy(items_plan, plan.base)
    return Universe(
        taxonomy=taxonomy,
        place=ItemsPlace(
            column=items_plan.column,
            record=items_plan.record,
            order=items_plan.order,
            ordered=items_plan.ordered,
            separators=separators_of(items_plan.separator, taxonomy),
            missing_values=plan.missing_values,
        ),
    )


def _taxonomy(items_plan: ItemsPlan, base: Path) -> Taxonomy:
    with quoting_nothing() if isinstance(items_plan.universe, str) else nullcontext():
        items = None if items_plan.universe is None else _listed(items_plan.universe, base)
        if items_plan.is_context_free:
            return context_free(items or (), fan_out=items_plan.fan_out)
        taxonomy = taxonomy_of(items_plan.taxonomy, base=base, where="items > taxonomy")
        if items is not None:
            _check_same(items, taxonomy)
        return taxonomy


def _listed(universe: str | tuple[int, int] | tuple[str, ...], base: Path) -> list[str]:
    if isinstance(universe, str):
        return read_values(base / universe)
    first, last = universe[0], universe[-1]
    if isinstance(first, int) and isinstance(last, int):
        return [str(item) for item in range(first, last + 1)]
    return [str(item) for item in universe]


def _check_same(items: list[str], taxonomy: Taxonomy) -> None:
    """Refuse a universe and a taxonomy with different items."""
    leaves = set(taxonomy.leaf_labels)
    for odd, what in (
        (set(items) - leaves, "The taxonomy has no leaf"),
        (leaves - set(items), "The universe has no item"),
    ):
        if odd:
            label = min(odd)
            raise TaxonomyError(
                f"{what} {displayed(label)}, and the other has it.",
                where="items > universe",
                value=label,
                do="Leave the universe out: the leaves of the taxonomy are the items.",
            )


def separators_of(separator: str, taxonomy: Taxonomy) -> bytes:
    """Return the bytes that separate items.

    Default separators: space, comma and tab, each unless an item's name contains it. This is a
    public rule, so that no single record decides how the others are read.
    """
    if separator != "auto":
        return _SEPARATORS[separator]
    held = set("".join(taxonomy.leaf_labels))
    return b"".join(each for each in _SEPARATORS.values() if each.decode() not in held)
