"""The streaming engine gives the same release as the in-memory one, and cleans up."""

from __future__ import annotations

import functools
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.count.settings import EngineSettings, parse_bytes
from hedgerow.count.stream import baskets as basket_stream
from hedgerow.count.stream import scratch as scratch_module
from hedgerow.count.stream import table as stream
from hedgerow.count.stream.scratch import Scratch
from hedgerow.count.stream.table import StreamEngine
from hedgerow.errors import ScratchError, SettingError, UnlistedValueError
from hedgerow.ledger.ledger import Ledger
from hedgerow.pipeline.prepare import prepare
from hedgerow.read.words import BasketFile
from support.basket_sets import encoded_baskets
from support.engine_plans import (
    basket_plan,
    name_of,
    table_plan,
    variants,
    write_baskets,
    write_table,
)
from support.naive_trees import compare_with_a_naive_tree
from support.once_booked import once_booked
from support.tables import encoded_tables


def released(folder: Path) -> dict[str, bytes | dict]:
    """What a release folder holds, but for the line of the engine."""
    found: dict[str, bytes | dict] = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        if path.name == "certificate.json":
            certificate = json.loads(path.read_text(encoding="utf-8"))
            assert certificate.pop("engine") in ("memory", "stream", "spark")
            certificate["files"].pop("report.html")
            certificate.pop("own-sha256")
            found[path.name] = certificate
        elif path.name != "report.html":
            found[path.name] = path.read_bytes()
    return found


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(stream, "rows_per_piece", lambda schema, memory: 61)
    monkeypatch.setattr(basket_stream, "items_per_piece", lambda memory: 97)
    small_file = functools.partial(BasketFile, block_size=200)
    monkeypatch.setattr("hedgerow.read.items.BasketFile", small_file)


@pytest.mark.parametrize("variant", variants("table"), ids=name_of)
def test_tables_stream_to_the_same_release(variant, tmp_path, small_pieces):
    data = write_table(tmp_path / "small.csv")
    for engine in ("memory", "stream"):
        hedgerow.publish(
            table_plan(variant), data=data, out=tmp_path / engine, seed=3, engine=engine
        )
    assert released(tmp_path / "stream") == released(tmp_path / "memory")


@pytest.mark.parametrize("variant", variants("baskets"), ids=name_of)
def test_baskets_stream_to_the_same_release(variant, tmp_path, small_pieces):
    data = write_baskets(tmp_path / "small.dat")
    for engine in ("memory", "stream"):
        hedgerow.publish(
            basket_plan(variant), data=data, out=tmp_path / engine, seed=3, engine=engine
        )
    assert released(tmp_path / "stream") == released(tmp_path / "memory")


def engine_of(table, scratch, *, rows):
    columns = table.codes if table.classes is None else (*table.codes, table.classes)
    shelf = scratch.shelf()
    slots = [
        shelf.put(tuple(column[start : start + rows] for column in columns))
        for start in range(0, len(table), rows)
    ]
    return StreamEngine(table.schema, scratch, shelf, slots)


@settings(max_examples=50)
@given(table=encoded_tables(), rows=st.integers(1, 9), data=st.data())
def test_levels_on_disk_equal_a_naive_tree_in_one_pass_each(table, rows, data):
    scratch = Scratch()
    try:
        engine = engine_of(table, scratch, rows=rows)
        compare_with_a_naive_tree(engine.place(), table, data)
        assert engine.passes <= 3
        compare_with_a_naive_tree(engine.place(), table, data)
    finally:
        scratch.close()


@settings(max_examples=25)
@given(baskets=encoded_baskets())
def test_baskets_on_disk_have_the_same_sums(baskets):
    scratch = Scratch()
    try:
        shelf = scratch.shelf()
        cut = len(baskets) // 2
        rows = np.arange(len(baskets))
        parts = [baskets.kept(rows < cut), baskets.kept(rows >= cut)]
        slots = [shelf.put((part.lengths, part.items)) for part in parts if len(part)]
        streamed = basket_stream.BasketStream(baskets.taxonomy, scratch, shelf, slots)
        whole = BasketMemory(baskets=baskets)
        for length in (None, 2):
            one, other = streamed.walk(max_length=length), whole.walk(max_length=length)
            assert one.size() == other.size()
            assert one.item_counts().tolist() == other.item_counts().tolist()
    finally:
        scratch.close()


def test_scratch_is_private_and_its_files_have_no_name(tmp_path):
    scratch = Scratch(tmp_path)
    shelf = scratch.shelf()
    slot = shelf.put((np.arange(5, dtype=np.uint16), np.zeros(0, dtype=np.int64)))
    assert stat.S_IMODE(scratch.folder.stat().st_mode) == 0o700
    assert list(scratch.folder.iterdir()) == []
    first, second = shelf.get(slot)
    assert first.tolist() == [0, 1, 2, 3, 4]
    assert second.dtype == np.int64
    scratch.close()
    assert list(tmp_path.iterdir()) == []


def test_nothing_stays_behind_when_the_data_are_refused(tmp_path):
    plan = table_plan(("diffgen", {"h": 1}))
    plan["attributes"]["job"].pop("other")
    data = write_table(tmp_path / "small.csv")
    place = tmp_path / "scratch"
    place.mkdir()
    with pytest.raises(UnlistedValueError):
        hedgerow.publish(
            plan, data=data, engine=hedgerow.EngineSettings.of("stream", scratch=place)
        )
    assert list(place.iterdir()) == []
    assert Ledger().accounts() == ()


def test_a_full_scratch_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    def full(self, left):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch_module.Shelf, "_write", full)
    data = write_table(tmp_path / "small.csv")
    place = tmp_path / "scratch"
    place.mkdir()
    with pytest.raises(ScratchError, match="no space left on device"):
        hedgerow.publish(
            table_plan(("hedge", {})),
            data=data,
            engine=hedgerow.EngineSettings.of("stream", scratch=place),
            out=tmp_path / "out",
        )
    assert list(place.iterdir()) == []
    assert not (tmp_path / "out").exists()


def test_a_disk_that_fills_after_the_booking_leaves_it_booked(tmp_path, monkeypatch, small_pieces):
    data = write_table(tmp_path / "small.csv")

    def filling(*_given):  # the table is read; these are the boxes of the first level
        raise OSError(28, "No space left on device")

    once_booked(monkeypatch, lambda: monkeypatch.setattr(scratch_module.Shelf, "_write", filling))
    with pytest.raises(ScratchError):
        hedgerow.publish(
            table_plan(("diffmulti", {"h": 8})),
            data=data,
            engine="stream",
            out=tmp_path / "out",
        )
    assert not (tmp_path / "out").exists()
    assert [entry.state for entry in Ledger().entries("small")] == ["failed"]


INTERRUPTED = """
    import signal
    import sys
    from pathlib import Path
    import hedgerow
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where nohup started us
    from hedgerow.count.stream.table import Pace
    sys.path.insert(0, sys.argv[1])
    from support.engine_plans import table_plan

    def stop(self, n_rows):
        print("reading", flush=True)
        sys.stdin.readline()

    Pace.read = stop
    hedgerow.publish(
        table_plan(("hedge", {})),
        data=Path(sys.argv[2]),
        engine=hedgerow.EngineSettings.of("stream", scratch=sys.argv[3]),
    )
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["interrupt", "kill"])
def test_no_code_outlives_a_run_that_was_stopped(tmp_path, sent):
    data = write_table(tmp_path / "small.csv")
    place = tmp_path / "scratch"
    place.mkdir()
    program = [sys.executable, "-c", textwrap.dedent(INTERRUPTED)]
    arguments = [str(Path(__file__).parents[1]), str(data), str(place)]
    with subprocess.Popen(
        [*program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as run:
        assert run.stdout.readline() == b"reading\n"
        run.send_signal(sent)
        run.wait(timeout=60)
    files = [path for path in place.rglob("*") if path.is_file()]
    assert files == []
    if sent == signal.SIGINT:
        assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("given_settings", "where"),
    [
        ({"kind": "cloud"}, "engine"),
        ({"kind": "memory", "memory": "2GB"}, "memory"),
        ({"kind": "memory", "scratch": "."}, "scratch"),
        ({"kind": "stream", "master": "local"}, "master"),
        ({"kind": "stream", "memory": "10MB"}, "memory"),
        ({"kind": "stream", "memory": "much"}, "memory"),
    ],
)
def test_settings_that_an_engine_has_no_use_for_are_refused(given_settings, where):
    with pytest.raises(SettingError) as refused:
        EngineSettings.of(**given_settings)
    assert refused.value.where == where


def test_pieces_fit_into_the_memory_that_was_given(tmp_path):
    schema = prepare(table_plan(("hedge", {}))).schema
    small = stream.rows_per_piece(schema, parse_bytes("1GB"))
    assert stream.rows_per_piece(schema, parse_bytes("4GB")) > 4 * small


def test_the_pace_of_reading_is_told(tmp_path, small_pieces):
    told = []
    hedgerow.publish(
        table_plan(("hedge", {})),
        data=write_table(tmp_path / "small.csv"),
        engine="stream",
        seed=1,
        progress=lambda step, fraction: told.append(step),
    )
    assert any("million rows a second" in step for step in told)
