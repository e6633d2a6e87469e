"""How much the server works for a page, and how heavy it is: ``python tools/studio_speed.py``.

CPU milliseconds of the first and of later requests, in this process and without a browser, for the
pages of a hospital's table, a table of 100 columns and a taxonomy of 16,470 items. What a browser
sees is told by ``python tools/studio.py``, which prints first paints and the slider's answers; both
mean something only on a quiet machine.
"""

from __future__ import annotations

import itertools
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

import hedgerow  # noqa: E402
from hedgerow.demo.hospital import write_hospital  # noqa: E402
from hedgerow.studio.server import make_ready  # noqa: E402
from support.studio import PLAN, Browser  # noqa: E402

N_COLUMNS, N_ITEMS, TIMES = 100, 16_470, 5
SMALL = """\
data: patients.csv
reading: {delimiter: semicolon}
records: 8000
attributes:
  sex: {values: [f, m]}
  ward: {values: [cardiology, geriatrics, medicine, surgery]}
  returned: {role: class, values: ["no", "yes"]}
one-record-per-person: true
confirmed: true
publish: {method: hedge, epsilon: 1}
ledger: {dataset: patients, cap: 2, file: ledger.sqlite}
"""


def filled(folder: Path) -> Path:
    """Return a folder with all that is looked at."""
    folder.mkdir()
    write_hospital(folder)
    (folder / "plan.yaml").write_text(SMALL, encoding="utf-8")
    hedgerow.publish(folder / "plan.yaml", out=folder / "release")
    lines = [f"  column{n}: {{numeric: [0, {n + 9}]}}  # bounds: numbers" for n in range(N_COLUMNS)]
    head, _, rest = PLAN.partition("attributes:\n")
    tail = rest.partition("\n\n")[2]
    wide = "\n".join([f"{head}attributes:", *lines, "", tail])
    (folder / "wide.yaml").write_text(wide, encoding="utf-8")
    rows = [f"item {n},aisle {n % 130},section {n % 13},*" for n in range(N_ITEMS)]
    (folder / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def measured(name: str, ask: Callable[[], int]) -> None:
    """Print the CPU of the first request and the least of later ones, and the size."""
    spent = []
    for _ in range(TIMES):
        began = time.process_time()
        size = ask()
        spent.append(1000 * (time.process_time() - began))
    print(f"{name:44} {spent[0]:6.0f} {min(spent[1:]):6.0f} ms of CPU {size:9,} bytes")


def main() -> None:
    """Print a line for every page."""
    with tempfile.TemporaryDirectory() as scratch:
        browser = Browser(filled(Path(scratch) / "register"))
        make_ready()
        pages = [
            *("/start", "/table?plan=plan.yaml", "/table?plan=wide.yaml"),
            *("/taxonomies?plan=plan.yaml", "/taxonomies?plan=plan.yaml&file=items.csv"),
            "/taxonomies/find?plan=plan.yaml&file=items.csv&find=item%2012",
            *("/budget?plan=plan.yaml", "/budget/live?plan=plan.yaml&epsilon=0.7"),
            *("/publish?plan=plan.yaml", "/release?release=release", "/compare?plan=plan.yaml"),
            *("/disclose?plan=plan.yaml", "/ledger?plan=plan.yaml"),
        ]
        for page in pages:
            measured(page, lambda page=page: len(browser.client.get(page).content))

        ways = itertools.cycle(["down", "up"])

        def one_edit() -> int:
            shown = browser.show("/taxonomies?plan=plan.yaml&file=items.csv")
            version = re.findall(r'name="version" value="([^"]+)"', shown)[0]
            sent = {
                "do": "step",
                "moved": "section 3",
                "direction": next(ways),
                "file": "items.csv",
            }
            answer = browser.send("/taxonomies/edit?plan=plan.yaml", {**sent, "version": version})
            return len(answer.content)

        measured(f"one edit of a tree of {N_ITEMS:,}", one_edit)


if __name__ == "__main__":
    main()
