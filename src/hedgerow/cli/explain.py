"""`hedgerow explain`: explain a disclosure to the data owner."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, say
from hedgerow.cli.options import AgainstOption, DataOption, PlanArgument


def explain_command(
    plan: PlanArgument,
    *,
    row: Annotated[
        int | None,
        typer.Option(min=1, help="Explain this row of the data, counted from 1."),
    ] = None,
    data: DataOption = None,
    against: AgainstOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Explain what 'disclose' would do with a record, to the data owner.

    With --row, shows all generalisations of one record, the chosen one and its neighbours; without
    it, risk and utility of a sample of records at every threshold. The answer is CONFIDENTIAL: it
    is computed from the records without noise. Writes nothing.

    Example: hedgerow explain plan.yaml --row 17
    """
    from hedgerow.disclosure.explain import explain_record
    from hedgerow.disclosure.frontiers import explain_plane

    with progress("explaining", quiet=quiet or as_json) as report:
        if row is None:
            facts = explain_plane(plan, data=data, against=against, progress=report)
        else:
            facts = explain_record(plan, row, data=data, against=against, progress=report)
    show = _show_plane if row is None else _show_record
    answer(facts, as_json=as_json, show=lambda: show(facts))


def _show_record(facts: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in (f"record {facts['record']}", "original", "disclosed"):
        table.add_column(title)
    for attribute in facts["attributes"]:
        at = attribute["chosen"]
        shown = "(withheld)" if at is None else attribute["levels"][at]["label"]
        table.add_row(*map(Text, (attribute["name"], attribute["levels"][0]["label"], shown)))
    for name in ("risk", "utility", "matches"):
        after = "-" if facts["chosen"] is None else f"{facts['chosen'][name]:.4g}"
        table.add_row(name, f"{facts['before'][name]:.4g}", after)
    say(table)
    enough = "" if facts["reaching"] is None else f"; {facts['reaching']:,} reach the threshold"
    say(Text(f"The record has {facts['forms']:,} generalisations{enough}."))
    say(Text(f"For {facts['for']}."))


def _show_plane(facts: dict[str, Any]) -> None:
    import numpy as np
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("minimum utility", "mean risk"):
        table.add_column(title, justify="right")
    for share in (1.0, 0.8, 0.6, 0.5, 0.4, 0.2, 0.0):
        risks = []
        for each in facts["frontiers"]:
            utility, risk = np.array(each["aruba"]["utility"]), each["aruba"]["risk"]
            least = share * each["before"]["utility"] - 1e-12
            risks.append(risk[max(int(np.count_nonzero(utility >= least)) - 1, 0)])
        table.add_row(f"{share:.0%}", f"{np.mean(risks):.4g}")
    say(table)
    say(Text(f"Computed on {facts['records']:,} records. For {facts['for']}."))
