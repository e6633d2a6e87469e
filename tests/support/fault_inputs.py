"""Inputs made to hurt, for the rows of test_faults.py: bombs, abysses, formulas and markup."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow import BasketRelease, Release
from hedgerow.read import columnar, lines
from hedgerow.taxonomy.formats import text as taxonomy_text
from support.fault_cases import DATA, PLAN, SECRET, Case, printed
from support.old_ledgers import dataset, write_old


def bomb(case: Case) -> None:
    case.monkeypatch.setattr(lines, "MOST_UNPACKED", 1 << 20)
    row = f"34,A,{SECRET},no\n".encode()
    case.put("data.csv", gzip.compress(DATA.encode() + row * 200_000, mtime=0))


def bomb_of_one_line(case: Case) -> None:
    case.put("data.csv", gzip.compress(DATA.encode() + b"x" * 20_000_000, 1, mtime=0))


def bomb_of_columns(case: Case) -> None:
    case.monkeypatch.setattr(columnar, "MOST_ROWS", 1 << 20)
    case.monkeypatch.setattr(columnar, "MOST_ROWS_PER_BYTE", 10)
    n = 3_000_000
    nothing = pa.nulls(n, pa.int8())
    columns = dict.fromkeys(("age", "ward", "sick"), nothing)
    pq.write_table(pa.table(columns), case.folder / "data.csv", row_group_size=n)


def bomb_of_a_taxonomy(case: Case) -> None:
    case.monkeypatch.setattr(taxonomy_text, "LARGEST_FILE", 1 << 20)
    case.put("ward.csv", gzip.compress(b"A;surgery;*\n" * 1_000_000, 1, mtime=0))


def huge_values(column: str) -> Callable[[Case], None]:
    def arrange(case: Case) -> None:
        huge = SECRET * (10_000_000 // len(SECRET))
        cells = {"age": "1", "ward": "A", "name": "x", "sick": "no", column: huge}
        case.put("data.csv", DATA + ",".join(cells.values()) + "\n")

    return arrange


def too_many_columns(case: Case) -> None:
    names = ",".join(f"{SECRET}{i}" for i in range(100_000))
    case.put("data.csv", f"{names}\n" + "1," * 99_999 + "1\n")


def too_many_attributes(case: Case) -> None:
    extra = "".join(f"  a{i}: {{numeric: [0, 1]}}\n" for i in range(10_001))
    case.change("protects: records\n", f"{extra}protects: records\n")


LEVELS = 10_000


def deep_arx(case: Case) -> None:
    case.put("ward.csv", "A;" + ";".join(f"g{i}" for i in range(LEVELS)) + ";*\n")


def deep_pairs(case: Case) -> None:
    case.put("ward.csv", "A,g0\nB,g0\n" + "".join(f"g{i},g{i + 1}\n" for i in range(LEVELS)))


def deep_yaml(case: Case) -> None:
    case.put("ward.yaml", "".join(f"{{g{i}: " for i in range(LEVELS)) + "[A]" + "}" * LEVELS)
    case.change("ward.csv", "ward.yaml")


def deep_json(case: Case) -> None:
    case.put("ward.json", "".join(f'{{"g{i}": ' for i in range(LEVELS)) + '["A"]' + "}" * LEVELS)
    case.change("ward.csv", "ward.json")


def deep_plan(case: Case) -> None:
    tree = "".join(f"{{g{i}: " for i in range(LEVELS)) + "[A]" + "}" * LEVELS
    case.change("ward.csv", tree)


def pipe_for_a_taxonomy(case: Case) -> None:
    (case.folder / "ward.csv").unlink()
    os.mkfifo(case.folder / "ward.csv")


def pipe_for_a_plan(case: Case) -> None:
    (case.folder / "plan.yaml").unlink()
    os.mkfifo(case.folder / "plan.yaml")


FORMULAS = ("=1+1", "+A1", "-A1", "@SUM(A1)", "-2+3+cmd|' /C calc'!A0", "-5", "-0.5", "＝1")
PLAIN_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def formulas_for_labels(case: Case) -> None:
    quoted = ", ".join(json.dumps(label) for label in FORMULAS)
    case.change("ward: {taxonomy: ward.csv}", f"'=ward': {{values: [{quoted}]}}")
    records = (f'{i - 5},"{label}",x,no\n' for i, label in enumerate(FORMULAS * 5))
    case.put("data.csv", "age,=ward,name,sick\n" + "".join(records))


def check_cells(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert any(cell.startswith("'=") for cell in cells)
    for cell in cells:
        assert not cell.startswith(("=", "+", "@", "＝"))
        assert not cell.startswith("-") or all(map(PLAIN_NUMBER.fullmatch, cell.split()))


def no_cell_is_a_formula(case: Case) -> None:
    for name in ("release.csv", "records.csv"):
        check_cells(case.out / name)
    loaded = Release.load(case.out)
    assert set(loaded.to_polars()["=ward"]) <= {"*", *FORMULAS}
    again = case.folder / "again"
    loaded.write(again)
    assert (again / "release.csv").read_bytes() == (case.out / "release.csv").read_bytes()


MARKUP = "</style></title><script>alert(1)</script><img src=x onerror=alert(2)>"


def markup_for_labels(case: Case) -> None:
    values = json.dumps([f"A{MARKUP}", f"B{MARKUP}"])
    plan = PLAN.replace("ward: {taxonomy: ward.csv}", f"'ward{MARKUP}': {{values: {values}}}")
    odd = f"wards{MARKUP[:40]}"  # a name from before names were plain
    write_old(case.ledger, [dataset(odd, "2")])
    plan = plan.replace("dataset: wards", f"dataset: '{odd}'")
    case.put("plan.yaml", plan.replace('["no", "yes"]', json.dumps([f"no{MARKUP}", "yes"])))
    rows = f'3,"A{MARKUP}",x,"no{MARKUP}"\n4,"B{MARKUP}",x,yes\n' * 10
    case.put("data.csv", f"age,ward{MARKUP},name,sick\n{rows}")


def pages_show_markup_as_text(case: Case) -> None:
    if case.out.exists():
        baskets = (case.out / "release.dat").exists()
        data, task = ("data.dat", "itemsets") if baskets else ("data.csv", "counting")
        printed(case, "evaluate", "release", data, "--task", task, "-o", "evaluation", "-q")
    pages = [page.read_text(encoding="utf-8") for page in case.folder.rglob("*.html")]
    assert pages
    for page in pages:
        assert "&lt;script&gt;alert(1)" in page
        assert "<script" not in page
        assert "<img" not in page


DISCLOSE = "disclose: {method: aruba, utility: {at-least: 0}, risk: {model: 1}}\n"


def disclosed_markup(case: Case) -> None:
    markup_for_labels(case)
    case.put("plan.yaml", (case.folder / "plan.yaml").read_text() + DISCLOSE)


def disclosed_formulas(case: Case) -> None:
    formulas_for_labels(case)
    case.put("plan.yaml", (case.folder / "plan.yaml").read_text() + DISCLOSE)


def no_disclosed_cell_is_a_formula(case: Case) -> None:
    check_cells(case.folder / "disclosed" / "disclosed.csv")


def basket_plan(items: list[str]) -> str:
    listed = f"items: {{universe: {json.dumps(items)}, separator: tab}}\n"
    rest = PLAN.partition("protects")[2].replace("diffgen, epsilon: 1, h: 3", "basic, epsilon: 1")
    return f"data: data.dat\n{listed}protects{rest}"


def basket_markup(case: Case) -> None:
    case.put("plan.yaml", basket_plan([MARKUP, f"{MARKUP}2"]))
    case.put("data.dat", f"{MARKUP}\n" * 90)


def basket_formulas(case: Case) -> None:
    case.put("plan.yaml", basket_plan(list(FORMULAS)))
    case.put("data.dat", "\n".join(FORMULAS * 90))


def no_basket_is_a_formula(case: Case) -> None:
    check_cells(case.out / "release.csv")
    loaded = BasketRelease.load(case.out)
    again = case.folder / "again"
    loaded.write(again)
    assert (again / "release.csv").read_bytes() == (case.out / "release.csv").read_bytes()
