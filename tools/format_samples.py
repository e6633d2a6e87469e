"""Keep samples of every file that this version writes: ``python tools/format_samples.py NAME``.

They go to ``tests/formats/NAME.tar.gz``: plans, release folders of every kind and a ledger, made
from invented records with the operating system's noise. Make them once, when a format gets a new
number or shape, and never again: `tests/formats/test_formats.py` reads all of them for ever.
"""

from __future__ import annotations

import io
import os
import random
import sys
import tarfile
import tempfile
from pathlib import Path

import hedgerow
from hedgerow.release.signing_keys import make_key_pair

HOME = Path(__file__).resolve().parents[1] / "tests" / "formats"

TABLE = """\
data: t.csv
attributes:
  age: {numeric: [0, 99]}
  ward: {taxonomy: {"*": {surgery: [A, B], other: [C]}}}
  sick: {role: class, values: ["no", "yes"]}
protects: records
confirmed: true
"""
ITEMS = "data: s.dat\nitems: {universe: items.txt}\nprotects: records\nconfirmed: true\n"
WARDS = "ledger: {dataset: wards, cap: 8, file: ledger.sqlite}\n"
SETS = "ledger: {dataset: sets, cap: 8, file: ledger.sqlite}\n"
PLANS = {
    "table": f"{TABLE}publish: {{method: diffgen, epsilon: 1}}\n{WARDS}",
    "boxes": f"{TABLE}publish: {{method: hedge, epsilon: 1}}\n{WARDS}",
    "woven": f"{TABLE}publish: {{method: weave, epsilon: 1}}\n{WARDS}",
    "baskets": f"{ITEMS}publish: {{method: diffpart, epsilon: 1}}\n{SETS}",
    "sequences": ITEMS.replace("items.txt", "items.txt, ordered: true")
    + f"publish: {{method: chain, epsilon: 1}}\n{SETS}",
    "disclosed": f"{TABLE}disclose: {{method: aruba, utility: {{at-least: half}}}}\n",
}


def make(folder: Path) -> None:
    """Fill a folder with plans, releases and their ledger."""
    os.chdir(folder)
    draw = random.Random(3)  # noqa: S311 - invented records
    rows = [
        f"{draw.randrange(100)},{draw.choice('ABC')},{draw.choice(['no', 'no', 'yes'])}\n"
        for _ in range(400)
    ]
    Path("t.csv").write_text("age,ward,sick\n" + "".join(rows), encoding="utf-8")
    sets = [sorted(draw.sample(range(1, 31), draw.randint(1, 5))) for _ in range(500)]
    lines = "".join(" ".join(map(str, each)) + "\n" for each in sets)
    Path("s.dat").write_text(lines, encoding="utf-8")
    Path("items.txt").write_text("".join(f"{i}\n" for i in range(1, 31)), encoding="utf-8")
    for name, text in PLANS.items():
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
        if name == "disclosed":
            hedgerow.disclose(f"{name}.yaml", out=name)
        else:
            hedgerow.publish(f"{name}.yaml", out=name, records=name == "table", notice=print)
    private, _, _ = make_key_pair("maker.key")
    hedgerow.sign("boxes", key=private)


def pack(folder: Path, name: str) -> Path:
    """Put what recipients and ledgers keep into an archive, without the records."""
    place = HOME / f"{name}.tar.gz"
    with tarfile.open(place, "x:gz", compresslevel=9) as archive:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).as_posix()
            if path.is_dir() or inside in ("t.csv", "s.dat") or "owner" in path.parts:
                continue
            if inside.endswith(".key"):
                continue
            content = path.read_bytes()
            member = tarfile.TarInfo(inside)
            member.size, member.mode = len(content), path.stat().st_mode & 0o777
            archive.addfile(member, io.BytesIO(content))
    return place


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        make(Path(scratch))
        print(pack(Path(scratch), sys.argv[1]))
