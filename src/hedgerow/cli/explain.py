"""`hedgerow explain`: why a record is disclosed as it is, for the owner of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, progress, say


def explain_command(
    plan: Annotated[Path, typer.Argument(help="The plan file (YAML, TOML or JSON).")],
    *,
    record: Annotated[
        int | None,
        typer.Option(min=1, help="A row of the data, counted from 1; else the plane of some."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="A table in place of the plan's own: a file or a URL.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="What an attacker knows, in place of the plan's: a file.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Tell the owner of the data what 'disclose' would do, and why.

    With --record, all forms that one record could take, the one that is chosen and what comes
    next to it; else risk and utility of some records at any threshold. The answer is
    CONFIDENTIAL: it is computed from the records without noise, and nothing is written.

    Example: hedgerow explain plan.yaml --record 17
    """
    from hedgerow.disclosure.explain import explain_record
    from hedgerow.disclosure.frontiers import explain_plane

    with progress("explaining", quiet=quiet or as_json) as report:
        if record is None:
            told = explain_plane(plan, data=data, against=against, progress=report)
        else:
            told = explain_record(plan, record, data=data, against=against, progress=report)
    show = _show_plane if record is None else _show_record
    answer(told, as_json=as_json, show=lambda: show(told))


def _show_record(told: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in (f"record {told['record']}", "as it is", "as it is disclosed"):
        table.add_column(title)
    for attribute in told["attributes"]:
        at = attribute["chosen"]
        shown = "(withheld)" if at is None else attribute["levels"][at]["label"]
        table.add_row(*map(Text, (attribute["name"], attribute["levels"][0]["label"], shown)))
    for name in ("risk", "utility", "matches"):
        after = "-" if told["chosen"] is None else f"{told['chosen'][name]:.4g}"
        table.add_row(name, f"{told['before'][name]:.4g}", after)
    say(table)
    reaching = "" if told["reaching"] is None else f"; {told['reaching']:,} of them would do"
    say(Text(f"It could take {told['forms']:,} forms{reaching}."))
    say(Text(f"For {told['for']}."))


def _show_plane(told: dict[str, Any]) -> None:
    import numpy as np
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("useful at least", "mean risk"):
        table.add_column(title, justify="right")
    for share in (1.0, 0.8, 0.6, 0.5, 0.4, 0.2, 0.0):
        risks = []
        for each in told["frontiers"]:
            utility, risk = np.array(each["aruba"]["utility"]), each["aruba"]["risk"]
            least = share * each["before"]["utility"] - 1e-12
            risks.append(risk[max(int(np.count_nonzero(utility >= least)) - 1, 0)])
        table.add_row(f"{share:.0%}", f"{np.mean(risks):.4g}")
    say(table)
    say(Text(f"Of {told['records']:,} records. For {told['for']}."))
