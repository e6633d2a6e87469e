"""Write the tables of docs/peers.md from the file of results.

Run as ``python benchmarks/peers/page.py [--results FILE]``. Each cell has the means over seeds at
each epsilon; a run that reached a limit, failed or was not made shows as a word or a dash.
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from run import RESULTS, SAMPLE, TABLES, TOOLS, read_rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "peers.md"
EPSILONS = ("0.1", "1", "10")
Row = dict[str, str]

COLUMNS: dict[str, Callable[[Sequence[Row]], str]] = {
    "1-way error": lambda rows: _mean(rows, "one_way", 3),
    "worst column": lambda rows: _mean(rows, "worst", 2),
    "2-way error": lambda rows: _mean(rows, "two_way", 3),
    "k-marginal, k = 2": lambda rows: _mean(rows, "k2", 0),
    "k = 3": lambda rows: _mean(rows, "k3", 0),
    "tree": lambda rows: _mean(rows, "tree", 1),
    "boosting": lambda rows: _mean(rows, "boosting", 1),
    "CPU s": lambda rows: _mean(rows, "seconds", 1),
    "MB": lambda rows: _mean(rows, "megabytes", 0),
}


def _mean(rows: Sequence[Row], key: str, digits: int) -> str:
    known = [float(row[key]) for row in rows if row[key]]
    return f"{statistics.mean(known):.{digits}f}" if known else "–"


def cell(rows: Sequence[Row], show: Callable[[Sequence[Row]], str]) -> str:
    """Return what the runs of one tool, table and epsilon show."""
    done = [row for row in rows if row["status"] == "done"]
    if done:
        return show(done)
    if not rows:
        return "–"
    status = rows[0]["status"]
    return "time" if "CPU s" in status else "memory" if "MB" in status else "failed"


def section(name: str, rows: Sequence[Row]) -> str:
    """Return the heading and table of one table, at the epsilons that were run."""
    ran = {row["epsilon"] for row in rows if row["tool"] != SAMPLE}
    epsilons = [epsilon for epsilon in EPSILONS if epsilon in ran]
    lines = [
        f"### {name}",
        "",
        f"ε = {' / '.join(epsilons)}",
        "",
        f"| tool | {' | '.join(COLUMNS)} |",
        f"|{'---|' * (len(COLUMNS) + 1)}",
    ]
    for tool in TOOLS:
        runs = {
            epsilon: [row for row in rows if (row["tool"], row["epsilon"]) == (tool, epsilon)]
            for epsilon in (("1",) if tool == SAMPLE else epsilons)
        }
        cells = [
            " / ".join(cell(each, show) for each in runs.values()) for show in COLUMNS.values()
        ]
        if any(set(each) - set("–/ ") for each in cells):
            cells = [re.sub(r"^–( / –)*$", "–", each) for each in cells]
            lines.append(f"| {tool} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the tables where the page has them."""
    old = PAGE.read_text(encoding="utf-8")
    marked = re.compile(r"(<!-- peers -->\n).*?(<!-- /peers -->)", re.DOTALL)
    new, n = marked.subn(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", old)
    if n != 1:
        raise SystemExit("docs/peers.md has no place for the tables")
    PAGE.write_text(new, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", type=Path, default=RESULTS)
    rows = read_rows(parser.parse_args().results)
    write(
        "\n\n".join(section(name, [row for row in rows if row["table"] == name]) for name in TABLES)
    )


if __name__ == "__main__":
    main()
