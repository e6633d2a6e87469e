"""The rehearsal: what it runs, on which path, and that it knows nothing of the data."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow import Release, publish
from hedgerow.count.memory import baskets as memory_baskets
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.count.memory.table import CompiledPaths, MemoryEngine
from hedgerow.ledger.ledger import Ledger
from hedgerow.pipeline import publish as publishing
from hedgerow.pipeline.kinds.table import N_RECORDS
from hedgerow.pipeline.prepare import Prepared, prepare
from hedgerow.pipeline.rehearse import RunOnce, rehearse
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from hedgerow.privacy.source import RandomSource, SeededSource
from hedgerow.progress import no_progress
from support.engine_plans import (
    basket_plan,
    name_of,
    table_plan,
    variants,
    write_baskets,
    write_table,
)
from support.fault_cases import Case

PLAN: dict[str, Any] = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["A", "B", "C", "D"]},
        "sick": {"role": "class", "values": ["no", "yes"]},
    },
    "protects": "records",
    "confirmed": True,
    "publish": {"epsilon": 1},
    "ledger": {"dataset": "wards", "cap": 5},
}


def engine_over(ready: Prepared, **settings: Any) -> MemoryEngine:
    """An engine whose records must not matter: one record, and a size that is claimed."""
    table = ready.kind.simulated(SeededSource(9))
    return MemoryEngine(table=table, **settings)  # type: ignore[arg-type]


def lines_of(ready: Prepared) -> list[list[str]]:
    """What each run of a rehearsal spends on."""
    spent: list[list[str]] = []

    def run(small: Any, plan: Prepared, source: RandomSource, _out: Path | None) -> None:
        path = plan.run(small, source=source, progress=no_progress).path
        assert path is not None
        spent.append([line.on for line in path.bookings])

    rehearse(ready, engine_over(ready), out=None, run=run)
    return spent


@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "8"])
def test_hedge_grows_shared_and_own_levels_in_every_rehearsal(epsilon: str) -> None:
    first, *second = lines_of(prepare(PLAN, method="hedge", epsilon=epsilon))
    assert any(line.startswith("shared choice") for line in first)
    assert any(line.startswith("own choice") for line in first)
    assert len(second) == (Fraction(epsilon) < 1)


@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "8"])
def test_the_default_method_counts_marginals_in_every_rehearsal(epsilon: str) -> None:
    first, *second = lines_of(prepare(PLAN, epsilon=epsilon))
    assert any(line.startswith("1-way marginal") for line in first)
    assert any(line.startswith("choice of") for line in first)
    assert len(second) == (Fraction(epsilon) < 1)


def test_made_up_records_follow_from_the_domains_alone() -> None:
    one, other = prepare(PLAN), prepare({**PLAN, "data": "elsewhere.csv"})
    first, second = (ready.kind.simulated(SeededSource(0)) for ready in (one, other))
    for left, right in zip(first.codes, second.codes, strict=True):  # type: ignore[union-attr]
        assert np.array_equal(left, right)
        assert len(left) == N_RECORDS


@pytest.mark.parametrize("compiled", [False, True])
def test_the_rehearsal_counts_by_the_loops_of_the_real_run(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = prepare(PLAN, method="hedge")
    paths = CompiledPaths(kernels=compiled, boxes=compiled)
    asked: list[bool | None] = []
    begin = PlacedInMemory.__init__

    def begun(self: Any, table: Any, **settings: Any) -> None:
        asked.append(settings.get("compiled"))
        begin(self, table, **settings)

    monkeypatch.setattr(PlacedInMemory, "__init__", begun)
    seen: list[CompiledPaths | None] = []

    def run(small: Any, plan: Prepared, source: RandomSource, _out: Path | None) -> None:
        seen.append(small.paths)
        plan.run(small, source=source, progress=no_progress)

    rehearse(ready, engine_over(ready, paths=paths), out=None, run=run)
    assert seen == [paths]
    assert asked == [compiled]


def test_a_table_of_many_pieces_is_rehearsed_in_pieces() -> None:
    ready = prepare(PLAN)
    small = engine_over(ready, piece=100).rehearsing(ready.kind.simulated(SeededSource(0)))  # type: ignore[arg-type]
    assert small.piece < N_RECORDS


def test_many_items_are_rehearsed_by_compiled_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ready = prepare(basket_plan(("diffpart", {})))
    made = ready.kind.simulated(SeededSource(0))
    monkeypatch.setattr(memory_baskets, "COMPILED_FROM", 1)
    assert BasketMemory(baskets=made).rehearsing(made).compiled  # type: ignore[arg-type]


def test_a_rehearsal_is_marked_hidden_private_and_gone_before_the_booking(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, int]] = []
    real = publishing.rehearse

    def watched(ready: Prepared, engine: Any, *, out: Path | None, run: RunOnce) -> None:
        def looking(small: Any, plan: Prepared, source: RandomSource, folder: Any) -> None:
            run(small, plan, source, folder)
            if folder is not None:
                certificate = (folder / "certificate.json").read_text()
                assert '"entry": "rehearsal"' in certificate
                assert '"private": false' in certificate
                seen.append((folder.parent.name, folder.parent.stat().st_mode & 0o777))

        real(ready, engine, out=out, run=looking)
        assert case.states() == []
        assert case.hidden() == []

    monkeypatch.setattr(publishing, "rehearse", watched)
    publish("plan.yaml", out=case.out)
    ((name, mode),) = seen
    assert name.startswith(".release.rehearsal-")
    assert mode == 0o700
    assert case.states() == ["released"]


VARIANTS = [
    (kind, variant)
    for kind in ("table", "baskets")
    for variant in variants(kind)
    if issubclass(METHODS[variant[0]], PrivateSettings)
]


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("asked", VARIANTS, ids=lambda asked: name_of(asked[1]))
def test_every_private_method_can_be_rehearsed_and_then_publishes(
    asked: tuple[str, Any], engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
    kind, variant = asked
    plan: dict[str, Any] = table_plan(variant) if kind == "table" else basket_plan(variant)
    write = write_table if kind == "table" else write_baskets
    data = write(tmp_path / ("data.csv" if kind == "table" else "data.dat"))
    publish(plan, data=data, out=tmp_path / "out", engine=engine, records=True, parquet=True)
    (account,) = Ledger(tmp_path / "ledger.sqlite").accounts()
    assert [entry.state for entry in account.entries] == ["released"]
    assert not list(tmp_path.glob(".out.*"))


def test_a_release_without_a_group_can_be_written_and_read(tmp_path: Path) -> None:
    """The first rehearsal of `truthful` found that it could not, after its booking."""
    few = write_table(tmp_path / "few.csv", n=4)
    plan: dict[str, Any] = table_plan(("truthful", {"delta": "1/100000"}))
    release = publish(plan, data=few, seed=1, out=tmp_path / "out", records=True, parquet=True)
    assert release.n_rows == 0
    assert Release.load(tmp_path / "out").n_rows == 0
