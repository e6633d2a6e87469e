"""`hedgerow taxonomy list` and `check --data`: bundled taxonomies, and coverage of a column."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hedgerow.cli.console import answer, say
from hedgerow.errors import SettingError

if TYPE_CHECKING:
    from hedgerow.drafting.coverage import Coverage, LeafOf
    from hedgerow.taxonomy.tree import Taxonomy

_MOST_SHOWN = 20


def ready_facts() -> list[dict[str, Any]]:
    """Return the facts of each bundled taxonomy."""
    from hedgerow.taxonomy.ready.catalogue import PREFIX, READY

    return [
        {
            "name": PREFIX + each.name,
            "title": each.title,
            "values": each.values,
            "leaves": each.tree.n_leaves,
            "height": int(each.tree.height[0]),
            "source": each.source,
            "licence": each.licence,
        }
        for each in READY.values()
    ]


def show_ready(facts: list[dict[str, Any]], *, quiet: bool) -> None:
    """Print each taxonomy with its values, source and licence."""
    from rich.text import Text

    for fact in facts:
        say(Text(f"{fact['name']}: {fact['title']} ({fact['leaves']:,} values)"))
        if not quiet:
            say(Text(f"  values: {fact['values']}", style="dim"))
            say(Text(f"  source: {fact['source']}", style="dim"))
            say(Text(f"  licence: {fact['licence']}", style="dim"))


@dataclass(frozen=True, kw_only=True)
class CheckedColumn:
    """A column of the owner's data, and the plan with the format of the data."""

    data: str | None
    column: str | None
    table: str | None
    plan: Path | None

    def coverage(self, leaf_of: LeafOf) -> Coverage:
        """Return how much of the column a taxonomy covers; confidential."""
        from hedgerow.drafting.coverage import column_coverage
        from hedgerow.model.database import asked_of
        from hedgerow.model.reading import PLAIN
        from hedgerow.plan.load import load_plan

        if self.data is None or self.column is None:
            raise SettingError(
                "A table and a column are needed together.",
                where="--column" if self.column is None else "--data",
                do="Give both: --data FILE --column NAME.",
            )
        reading = PLAIN if self.plan is None else load_plan(self.plan).how_to_read()
        data = asked_of(self.data, table=self.table)
        return column_coverage(data, self.column, leaf_of, reading=reading)


def check_column(
    name: str, tree: Taxonomy | None, column: CheckedColumn, *, as_json: bool, quiet: bool
) -> None:
    """Print whether a taxonomy has all values of a column; exit with 1 if not."""
    if tree is None:
        raise SettingError(
            "Several taxonomies are given.", where="--column", do="Give one taxonomy for a column."
        )
    found = column.coverage(_leaf_of(name, tree))
    facts = {
        "taxonomy": name,
        "column": column.column,
        "complete": found.is_complete,
        "values": found.n_values,
        "values_outside": len(found.outside),
        "records_covered": round(found.share, 6),
        "frequent_outside": found.frequent_outside(_MOST_SHOWN),
        "for": "the owner of the data alone",
    }
    answer(facts, as_json=as_json, show=lambda: _show(facts, quiet=quiet))
    if not found.is_complete:
        raise typer.Exit(1)


def _leaf_of(name: str, tree: Taxonomy) -> LeafOf:
    from hedgerow.taxonomy.domain import CategoricalDomain
    from hedgerow.taxonomy.ready.catalogue import ready_name

    domain = CategoricalDomain(taxonomy=tree, reads=ready_name(name))

    def leaf_of(text: str) -> str | None:
        code = domain.code_of(text)
        return None if code is None else tree.leaf_labels[code]

    return leaf_of


def _show(facts: dict[str, Any], *, quiet: bool) -> None:
    from rich.text import Text

    mark = "complete" if facts["complete"] else "incomplete"
    say(Text(f"{facts['taxonomy']} is {mark} for {facts['column']!r}."))
    if quiet or facts["complete"]:
        return
    share = f"{facts['records_covered']:.1%}"
    say(
        Text(
            f"{facts['values_outside']:,} of {facts['values']:,} values are outside;"
            f" {share} of the records are covered."
        )
    )
    for value in facts["frequent_outside"]:
        say(Text(f"  {value}"))
    say(
        "For the data owner only. Values in fewer than 20 records are not shown. With 'other: NAME'"
    )
    say("in the plan, values outside of the taxonomy are kept as one value.")
