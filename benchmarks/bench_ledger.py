"""What the ledger costs a release: with ten and with ten thousand before it, and to know a table.

Run as ``python benchmarks/bench_ledger.py [--records N] [--runs N]``. The first part publishes a
small table on ledgers of both sizes, in turn; the second books releases of parts of a table; the
third publishes N records with and without
adding up the columns by which the table is recognised. CPU seconds, median of several runs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hedgerow
from hedgerow.ledger.caps import RECORDS
from hedgerow.ledger.ledger import Cover, Ledger, ReleaseTerms
from hedgerow.pipeline.account import ReleaseAccount

RUNS = 15


def filled(path: Path, n_entries: int) -> Ledger:
    """Return a ledger with this number of releases of one data set."""
    ledger = Ledger(path)
    ledger.open_dataset("wards", 50)
    with ledger._store.writing() as draft:
        said = {"epsilon": "1/1000", "delta": "0", "method": "diffgen", "plan": "p"}
        for _ in range(n_entries):
            event = draft.append("booked", dataset="wards", **said)
            draft.append("released", entry=str(event.seq), release="0" * 64)
    return ledger


def release(ledger: Ledger, terms: ReleaseTerms = RECORDS) -> None:
    """Do what a release asks of its ledger."""
    again = Ledger(ledger.path)
    again.check("wards", "1/1000", cap=50, terms=terms)
    entry = Ledger(ledger.path).book(
        "wards", "1/1000", cap=50, method="diffgen", plan_digest="p", terms=terms
    )
    Ledger(ledger.path).released(entry.id, "0" * 64)


def small_plan(ledger: Path) -> dict[str, Any]:
    """Return a plan whose publication takes hardly longer than its ledger does."""
    return {
        "attributes": {
            "age": {"numeric": [0, 99]},
            "sick": {"role": "class", "values": ["no", "yes"]},
        },
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "diffgen", "epsilon": "1/1000", "h": 2},
        "ledger": {"dataset": "wards", "cap": 50, "file": str(ledger)},
    }


def medians(works: dict[str, Callable[[], None]], runs: int) -> dict[str, tuple[float, float]]:
    """Return CPU and wall seconds of each work, which take turns."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for run in range(runs + 1):
        for name, work in works.items():
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            if run:  # the first warms up
                times[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {
        name: (statistics.median(c for c, _ in each), statistics.median(w for _, w in each))
        for name, each in times.items()
    }


def show(title: str, found: dict[str, tuple[float, float]]) -> None:
    """Print the medians and the ratio of the last to the first."""
    print(title)
    for name, (cpu, wall) in found.items():
        print(f"  {name:28} {cpu * 1000:9.1f} ms CPU {wall * 1000:9.1f} ms")
    first, *_, last = found.values()
    print(f"  {'ratio':28} {last[0] / first[0]:9.2f}     {last[1] / first[1]:9.2f}")


def sizes(folder: Path, runs: int) -> None:
    """Compare a ledger of ten releases with one of ten thousand."""
    data = folder / "data.csv"
    data.write_text("age,sick\n" + "34,no\n61,yes\n" * 200)
    ledgers = {n: filled(folder / f"{n}" / "ledger.sqlite", n) for n in (10, 10_000)}
    works = {f"{n:,} releases": lambda n=n: release(ledgers[n]) for n in ledgers}
    show("The ledger's part of a release: check, book, mark as released", medians(works, runs))
    plans = {n: small_plan(ledgers[n].path) for n in ledgers}
    works = {f"{n:,} releases": lambda n=n: hedgerow.publish(plans[n], data=data) for n in plans}
    show("publish of 400 records", medians(works, runs))
    works = {f"{n:,} releases": lambda n=n: ledgers[n].verify() for n in ledgers}
    show("verify, which reads all of it", medians(works, 3))


def parts(folder: Path, runs: int) -> None:
    """Compare releases of parts of a table: few sums for many of them, and many for many."""
    ledgers = {
        "10 releases of months": (10, 24, False),
        "10,000 releases of months": (10_000, 24, False),
        "1,000 days, each at its own": (1_000, 1_000, True),
    }
    cover = Cover(column="day", key="k" * 64, codes=((5, 6),), values="the sixth")
    works: dict[str, Callable[[], None]] = {}
    for name, (n_entries, n_codes, differ) in ledgers.items():
        ledger = Ledger(folder / name / "ledger.sqlite")
        ledger.open_dataset("wards", 50)
        with ledger._store.writing() as draft:
            said = {"delta": "0", "method": "diffgen", "plan": "p", "neighbours": "record"}
            told = {"cover_column": "day", "cover_values": "x", "cover_key": "k" * 64}
            for each in range(n_entries):
                code = each % n_codes
                epsilon = f"1/{1000 + each * differ}"
                draft.append(
                    "booked",
                    dataset="wards",
                    epsilon=epsilon,
                    **said,
                    **told,
                    cover_codes=f"{code}-{code}",
                )
        works[name] = lambda ledger=ledger: release(ledger, ReleaseTerms(cover=cover))
    show("The ledger's part of a release of a part of the table", medians(works, runs))


def recognition(folder: Path, n_records: int, runs: int) -> None:
    """Compare publishing with and without adding up the columns."""
    from adult_like import write
    from bench_publish import ours

    sums = ReleaseAccount.sums
    for suffix in ("parquet", "csv"):
        path = folder / f"adult.{suffix}"
        write(path, n_records)

        def publish(path: Path = path, *, known: bool) -> None:
            ReleaseAccount.sums = sums if known else lambda _: None
            ours(path, "hedge")

        found = medians(
            {
                "columns not added up": lambda: publish(known=False),
                "columns added up": lambda: publish(known=True),
            },
            runs,
        )
        show(f"publish of {n_records:,} records, {suffix}, method hedge", found)
    ReleaseAccount.sums = sums


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sizes(Path(folder), given.runs)
        parts(Path(folder), given.runs)
        recognition(Path(folder), given.records, max(3, given.runs // 3))


if __name__ == "__main__":
    main()
