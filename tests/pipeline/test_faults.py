"""Faults and abuse, as one table: what happens, how it ends, and what is there afterwards.

After every row the ledger holds what was really spent, the destination holds one whole
release or what it held before, nothing of the records is in any message or file, and there
was one message. What a row leaves beside the destination, it names.
"""

from __future__ import annotations

import gzip
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Release
from hedgerow.cli.main import main
from hedgerow.errors import DataError
from hedgerow.read.open import open_table
from support import fault_cases as cases
from support import fault_inputs as inputs
from support.fault_cases import DATA, PLAN, SECRET, WARD, Case, nothing

PUBLISH = ("publish", "plan.yaml", "-q")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A row: what happens, the exit codes, a word of the message, and what is there after.

    ``runs`` are stages of fault_publisher.py, each with further arguments; without any, the
    command runs in this process. ``states`` are those of all bookings (``None`` where the ledger
    cannot be read), ``whole`` says whether the destination is a release then, and ``hidden`` what
    stands beside it.
    """

    arrange: Callable[[Case], None] = nothing
    runs: tuple[tuple[str, ...], ...] = ()
    arguments: tuple[str, ...] = PUBLISH
    codes: tuple[int, ...] = (2,)
    says: str = ""
    states: tuple[str, ...] | None = ()
    whole: bool = False
    hidden: tuple[str, ...] = ()
    after: Callable[[Case], None] = nothing


KILLED = (-9,)
FAULTS: dict[str, Fault] = {
    # --- kill -9, and a polite request
    "kill -9 before the booking": Fault(
        runs=(("killed before booking", *PUBLISH),),
        codes=KILLED,
    ),
    "kill -9 while booking": Fault(
        runs=(("killed while booking", *PUBLISH),),
        codes=KILLED,
    ),
    "kill -9 after the booking": Fault(
        runs=(("killed after booking", *PUBLISH),),
        codes=KILLED,
        states=("booked",),
    ),
    "kill -9 while rehearsing": Fault(
        runs=(("killed while rehearsing", *PUBLISH),),
        codes=KILLED,
        hidden=("rehearsal",),
        after=cases.next_run_sweeps,
    ),
    "kill while rehearsing": Fault(
        runs=(("stopped while rehearsing", *PUBLISH),), codes=(143,), says="stopped"
    ),
    "kill -9 while writing": Fault(
        runs=(("killed while writing", *PUBLISH),),
        codes=KILLED,
        states=("booked",),
        hidden=("partial",),
        after=cases.only_the_owner_may_look,
    ),
    "kill -9 while writing over a release": Fault(
        arrange=cases.earlier_release,
        runs=(("killed while writing", *PUBLISH, "--force"),),
        codes=KILLED,
        states=("booked",),
        hidden=("partial",),
        after=cases.old_release_stands,
    ),
    "kill -9 while a release takes the place of another": Fault(
        arrange=cases.earlier_release,
        runs=(("killed between renames", *PUBLISH, "--force"),),
        codes=KILLED,
        states=("booked",),
        hidden=("partial", "replaced"),
        after=cases.old_and_new_are_both_there,
    ),
    "kill -9 before the ledger is told": Fault(
        runs=(("killed before noting", *PUBLISH),),
        codes=KILLED,
        states=("booked",),
        whole=True,
    ),
    "kill while the folder gets its name": Fault(
        runs=(("stopped while placing", *PUBLISH),),
        codes=(143,),
        says="hedgerow recover",
        states=("booked",),
        hidden=("partial",),
        after=cases.recovered_once,
    ),
    "kill when the release is in place": Fault(
        runs=(("stopped when placed", *PUBLISH),),
        codes=(0,),
        says="stays 'booked'",
        states=("booked",),
        whole=True,
    ),
    "kill while writing": Fault(
        runs=(("stopped while writing", *PUBLISH),),
        codes=(143,),
        says="stopped",
        states=("failed",),
    ),
    "Ctrl-C while writing": Fault(
        runs=(("interrupted while writing", *PUBLISH),),
        codes=(130,),
        says="interrupted",
        states=("failed",),
    ),
    "what a killed run left is removed": Fault(
        arrange=cases.leftovers_of_a_killed_run,
        arguments=(*PUBLISH, "--force"),
        codes=(0,),
        states=("released",),
        whole=True,
    ),
    "what only looks like it is not": Fault(
        arrange=cases.strangers_with_similar_names,
        codes=(0,),
        states=("released",),
        whole=True,
        hidden=("partial", "partial"),
        after=cases.strangers_are_still_there,
    ),
    # --- full disks
    "a full disk for the ledger": Fault(
        arrange=cases.disk_full_for_the_ledger, says="The disk is full. Nothing was booked."
    ),
    "a full disk for the release": Fault(
        arrange=cases.disk_full_for_the_release, says="no space left on device"
    ),
    "a disk with too little room": Fault(
        runs=(("has little room", *PUBLISH),), says="file too large", states=("booked",)
    ),
    "a full disk at the last moment": Fault(
        arrange=cases.disk_full_at_the_flush, says="no space left on device"
    ),
    "a full disk when all is done": Fault(
        arrange=cases.disk_full_for_the_last_word,
        codes=(0,),
        says="stays 'booked'",
        states=("booked",),
        whole=True,
    ),
    # --- read-only and linked folders
    "a read-only folder": Fault(arrange=cases.read_only_folder, says="not writable"),
    "a folder with too long a name": Fault(
        arguments=(*PUBLISH, "--out", "x" * 245), says="longer than 230 bytes"
    ),
    "a folder that becomes read-only": Fault(
        arrange=cases.read_only_meanwhile, says="read-only file system"
    ),
    "a linked folder": Fault(
        arrange=cases.linked_folder, says="symbolic link", after=cases.link_leads_nowhere
    ),
    "a folder that becomes a link": Fault(
        arrange=cases.linked_meanwhile,
        says="symbolic link",
        after=cases.link_leads_nowhere,
    ),
    # --- two processes
    "two processes and room for one": Fault(
        arrange=cases.spent_once,
        runs=(("meets another", *PUBLISH), ("meets another", *PUBLISH, "--out", "other")),
        codes=(0, 3),
        says="Nothing was booked",
        states=("booked", "released"),
        after=cases.one_of_two,
    ),
    "two processes and one folder": Fault(
        runs=(("waits while writing", *PUBLISH), ("publishes meanwhile", *PUBLISH)),
        codes=(0, 2),
        says="hedgerow recover",
        states=("booked", "released"),
        whole=True,
        hidden=("partial",),
        after=cases.recovered_elsewhere,
    ),
    # --- the clock and the ledger's file
    "a clock that goes backwards": Fault(
        arrange=cases.clock_goes_backwards,
        codes=(0,),
        states=("booked", "released"),
        whole=True,
        after=cases.order_is_kept,
    ),
    "a ledger that was cut short": Fault(
        arrange=cases.ledger_with(cases.cut_short),
        says="hedgerow ledger spend",
        states=None,
        after=cases.damage_is_kept,
    ),
    "a ledger that was emptied": Fault(
        arrange=cases.ledger_with(lambda path: path.write_bytes(b"") and None),
        says="hedgerow ledger spend",
        states=None,
        after=cases.damage_is_kept,
    ),
    "a ledger with a smaller sum": Fault(
        arrange=cases.ledger_with(
            cases.edited("UPDATE events SET body = replace(body, '\"1\"', '\"0\"')")
        ),
        says="cannot be trusted",
        states=None,
        after=cases.damage_is_kept,
    ),
    "a ledger that forgot a booking": Fault(
        arrange=cases.ledger_with(cases.edited("DELETE FROM events WHERE seq = 2")),
        says="cannot be trusted",
        states=None,
        after=cases.damage_is_kept,
    ),
    "the same table under a second name": Fault(
        arrange=cases.published_under_another_name,
        codes=(3,),
        says="hedgerow ledger same-people first wards",
        states=("released",),
    ),
    # --- a plan that changes
    "a plan changed after the check": Fault(
        arrange=cases.checked_and_then(lambda case: case.change("h: 3", "h: 4")),
        arguments=(*PUBLISH, "--expect", "FINGERPRINT"),
        codes=(3,),
        says="not the plan that was checked",
    ),
    "a taxonomy changed after the check": Fault(
        arrange=cases.checked_and_then(
            lambda case: case.put("ward.csv", WARD.replace("other", "new"))
        ),
        arguments=(*PUBLISH, "--expect", "FINGERPRINT"),
        codes=(3,),
        says="not the plan that was checked",
    ),
    "a plan that is still the one": Fault(
        arrange=cases.checked_and_then(nothing),
        arguments=(*PUBLISH, "--expect", "FINGERPRINT"),
        codes=(0,),
        states=("released",),
        whole=True,
    ),
    "a plan changed while publishing": Fault(
        arrange=cases.plan_changed_while_publishing,
        codes=(0,),
        states=("released",),
        whole=True,
        after=cases.first_plan_counts,
    ),
    # --- inputs made to hurt
    "a compressed bomb": Fault(arrange=inputs.bomb, says="times the file's size"),
    "a compressed bomb of one line": Fault(arrange=inputs.bomb_of_one_line, says="too long"),
    "a bomb of columns": Fault(arrange=inputs.bomb_of_columns, says="records per byte"),
    "a compressed bomb for a taxonomy": Fault(
        arrange=inputs.bomb_of_a_taxonomy, says="is larger than"
    ),
    "10 MB strings in an attribute": Fault(arrange=inputs.huge_values("ward"), says="'ward'"),
    "10 MB strings in a number": Fault(arrange=inputs.huge_values("age"), says="'age'"),
    "10 MB strings beside the attributes": Fault(
        arrange=inputs.huge_values("name"), codes=(0,), states=("released",), whole=True
    ),
    "100,000 columns": Fault(arrange=inputs.too_many_columns, says="more than 10,000 columns"),
    "more attributes than a plan may have": Fault(
        arrange=inputs.too_many_attributes, says="attributes"
    ),
    "NUL bytes in the data": Fault(
        arrange=lambda case: case.put("data.csv", f"{DATA}3,A,{SECRET}\0,no\n"), says="NUL"
    ),
    "NUL bytes in a taxonomy": Fault(
        arrange=lambda case: case.put("ward.csv", "A\0;x;*\n"), says="binary"
    ),
    "NUL bytes in the plan": Fault(
        arrange=lambda case: case.put("plan.yaml", PLAN + "x: '\0'\n"), says="plan.yaml"
    ),
    "a taxonomy 10,000 levels deep, ARX": Fault(arrange=inputs.deep_arx, says="100 levels"),
    "a taxonomy 10,000 levels deep, pairs": Fault(arrange=inputs.deep_pairs, says="100 levels"),
    "a taxonomy 10,000 levels deep, YAML": Fault(arrange=inputs.deep_yaml, says="levels"),
    "a taxonomy 10,000 levels deep, JSON": Fault(arrange=inputs.deep_json, says="deep"),
    "a taxonomy 10,000 levels deep, in the plan": Fault(
        arrange=inputs.deep_plan, says="levels deep"
    ),
    "a pipe for a taxonomy": Fault(arrange=inputs.pipe_for_a_taxonomy, says="not a file"),
    "a pipe for a plan": Fault(arrange=inputs.pipe_for_a_plan, says="not a file"),
    # --- what others open
    "labels that are formulas": Fault(
        arrange=inputs.formulas_for_labels,
        arguments=(*PUBLISH, "--write-records"),
        codes=(0,),
        states=("released",),
        whole=True,
        after=inputs.no_cell_is_a_formula,
    ),
    "labels that are formulas, disclosed": Fault(
        arrange=inputs.disclosed_formulas,
        arguments=("disclose", "plan.yaml", "-q"),
        codes=(0,),
        after=inputs.no_disclosed_cell_is_a_formula,
    ),
    "items that are formulas": Fault(
        arrange=inputs.basket_formulas,
        codes=(0,),
        states=("released",),
        after=inputs.no_basket_is_a_formula,
    ),
    "labels that are markup, disclosed": Fault(
        arrange=inputs.disclosed_markup,
        arguments=("disclose", "plan.yaml", "-q"),
        codes=(0,),
        after=inputs.pages_show_markup_as_text,
    ),
    "items that are markup": Fault(
        arrange=inputs.basket_markup,
        codes=(0,),
        states=("released",),
        after=inputs.pages_show_markup_as_text,
    ),
    "labels that are markup": Fault(
        arrange=inputs.markup_for_labels,
        codes=(0,),
        states=("released",),
        whole=True,
        after=inputs.pages_show_markup_as_text,
    ),
}


def run_here(case: Case, arguments: tuple[str, ...], capsys: Any) -> tuple[list[int], str]:
    given = [
        (case.folder / "fingerprint").read_text() if each == "FINGERPRINT" else each
        for each in arguments
    ]
    case.monkeypatch.setattr(sys, "argv", ["hedgerow", *given])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert said.out == ""
    return [int(end.value.code or 0)], said.err


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_loses_nothing_leaks_nothing_and_spends_nothing_twice(
    name: str, case: Case, request: pytest.FixtureRequest, capsys: Any
) -> None:
    fault = FAULTS[name]
    fault.arrange(case)
    if fault.runs:
        codes = request.getfixturevalue("publisher")(case.folder, fault.runs)
        said = "".join(path.read_text() for path in sorted(case.folder.glob("said-*.txt")))
    else:
        codes, said = run_here(case, fault.arguments, capsys)
    case.monkeypatch.undo()

    assert sorted(codes) == sorted(fault.codes), said[:2000]
    assert fault.says in said
    assert fault.states or "stays spent" not in said
    assert "stays spent" in said or "failed" not in (fault.states or ())
    assert said.count("error: ") == sum(code in (2, 3) for code in codes)
    assert len(said) < 2000
    assert SECRET not in said
    assert "Traceback" not in said
    if fault.states is not None:
        assert sorted(case.states()) == sorted(fault.states)
    assert case.hidden() == sorted(fault.hidden)
    if fault.whole:
        Release.load(case.out)
    written = [
        path for path in case.folder.rglob("*") if path.is_file() and path.parent != case.folder
    ]
    assert not any(SECRET.encode() in path.read_bytes() for path in written)
    fault.after(case)


def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    member = gzip.compress(b"x" * 10_000_000, 1, mtime=0)
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n", mtime=0) + member * 100)  # a gigabyte
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="too long"):
            list(open_table(path).batches(["a"]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150_000_000
