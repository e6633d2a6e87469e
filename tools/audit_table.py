"""Put the table of an audit into research/audit.md.

hedgerow audit -o audit && python tools/audit_table.py audit/audit.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "research" / "audit.md"
BEGIN, END = "<!-- audit table -->", "<!-- end of audit table -->"


def table(report: dict[str, Any]) -> str:
    """Return the table of a report, as `hedgerow audit --json` gives it."""
    lines = ["| audited | claimed | certified | runs | worst pair |", "|---|---|---|---|---|"]
    for verdict in report["verdicts"]:
        if verdict["epsilon"] is None:
            lines.append(f"| {verdict['name']} | nothing | | | |")
            continue
        delta = "" if verdict["delta"] == "0" else f", δ = {_decimal(verdict['delta']):.2g}"
        pair = verdict["findings"][0]["pair"] if verdict["findings"] else ""
        lines.append(
            f"| {verdict['name']} | ε = {_decimal(verdict['epsilon']):g}{delta}"
            f" | {verdict['certified']:.2f} | {verdict['runs']:,} | {pair} |"
        )
    return "\n".join(lines)


def _decimal(fraction: str) -> float:
    numerator, _, denominator = fraction.partition("/")
    return int(numerator) / int(denominator or 1)


def main() -> None:
    """Rewrite the part of the page between its two marks, from one report or several."""
    reports = [json.loads(Path(place).read_text(encoding="utf-8")) for place in sys.argv[1:]]
    if any(report["refuted"] for report in reports):
        sys.exit("a claim is refuted: that is not a table to publish")
    report = {"verdicts": [verdict for each in reports for verdict in each["verdicts"]]}
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(report)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
