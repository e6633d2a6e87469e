"""Nothing is spent for nothing: forty runs that go wrong, or seem to.

After every row either nothing is booked and nothing is there, or the release is there and the
exit code is 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Release
from hedgerow.ledger.ledger import Ledger, ReleaseTerms
from support import fault_cases as cases
from support.fault_cases import PLAN, Case, nothing
from support.fault_runs import Publisher

LONG = "9" * 5000
HEDGE = PLAN.replace("method: diffgen, epsilon: 1, h: 3", "method: hedge, epsilon: 1")


@dataclass(frozen=True, kw_only=True)
class Row:
    """What happens in a run, how it is called and how it ends; ``plan`` replaces the usual."""

    stage: str = "left alone"
    options: tuple[str, ...] = ("-q",)
    code: int = 2
    says: str = ""
    plan: str = PLAN
    out: str = "release"
    arrange: Callable[[Case], None] = nothing


def a_file(case: Case) -> None:
    case.put("file", "x")


def published_before(case: Case) -> None:
    cases.printed(case, "publish", "plan.yaml", "-q")


def no_ledger_folder(case: Case) -> None:
    case.put("nowhere", "a file where a folder should be")


COVERED = PLAN.replace("confirmed: true", "covers: {column: ward, values: [A]}\nconfirmed: true")
PEOPLE = PLAN.replace("dataset: wards", "people: wards").replace(
    "protects: records", "one-record-per-person: true"
)


def booked(case: Case, **terms: Any) -> None:
    told = {"cap": 2, "method": "diffgen", "plan_digest": "0" * 64}
    Ledger(case.ledger).book("wards", 1, **told, terms=ReleaseTerms(**terms))


def covered_before(case: Case) -> None:
    booked(case)
    booked(case)


def people_before(case: Case) -> None:
    booked(case, neighbours="person", people=True)


def records_before(case: Case) -> None:
    booked(case)


DONE = 0
ROWS: dict[str, Row] = {
    # --- what only shows when it is tried
    "loops that cannot be compiled": Row(
        stage="no compiler", plan=HEDGE, code=70, says="Nothing was booked"
    ),
    "no folder for compiled loops": Row(stage="no cache folder", plan=HEDGE, code=DONE),
    "compiled loops that cannot be kept": Row(
        stage="a cache that cannot be written", plan=HEDGE, code=DONE
    ),
    "threads that cannot be started": Row(stage="no threads", plan=HEDGE, code=70),
    "polars that does not load": Row(stage="no polars", code=DONE),
    "Parquet that does not load": Row(
        stage="no parquet", options=("-q", "--parquet"), code=70, says="Nothing was booked"
    ),
    "a system without random bytes": Row(stage="no random bytes", code=70),
    "files that may not grow": Row(stage="little room"),
    "a report that cannot be drawn": Row(stage="no report", code=70, says="Nothing was booked"),
    "a recoding that cannot be written": Row(stage="no recoding", code=70),
    "records that cannot be written": Row(
        stage="no records", options=("-q", "--write-records"), says="no space left"
    ),
    "records that nobody asked for": Row(stage="no records", code=DONE),
    "marginals that cannot be written": Row(stage="no marginals", plan=HEDGE, code=70),
    "too little memory to write": Row(stage="no memory to write", says="not enough memory"),
    "a disk that fails when flushed": Row(stage="no flush", says="Nothing was booked"),
    "a folder in which nothing gets a name": Row(stage="no rename", says="not permitted"),
    "a file system that moves no folder": Row(stage="no rename here", says="cross-device"),
    # --- the destination
    "a destination that is not UTF-8": Row(out=os.fsdecode(b"caf\xe9"), says="UTF-8"),
    "a destination in /proc": Row(out="/proc/release", says="no such file"),
    "a destination in a file": Row(out="file/release", arrange=a_file),
    "a destination in a file, further down": Row(out="file/a/b/release", arrange=a_file),
    "a destination with a long name": Row(out="x" * 245, says="longer than"),
    "a destination in a folder with a long name": Row(out=f"{'x' * 300}/release", says="too long"),
    "a destination that is a mount point": Row(out="/proc", says="mount point"),
    "a destination that is a link": Row(arrange=cases.linked_folder, says="symbolic link"),
    "a destination that is a file": Row(out="file", arrange=a_file, says="not a folder"),
    # --- options and the plan
    "specialisations of 5,000 digits": Row(options=("-q", "--h", LONG), says="--h"),
    "an epsilon of 5,000 digits": Row(options=("-q", "--epsilon", LONG)),
    "another plan than expected": Row(options=("-q", "--expect", "0" * 64), code=3),
    "a plan that nobody confirmed": Row(
        plan=PLAN.replace("confirmed: true", "confirmed: false"), code=3
    ),
    "data that are not there": Row(options=("-q", "--data", "none.csv")),
    "a scratch folder that is not there": Row(
        options=("-q", "--engine", "stream", "--scratch", "none"), says="scratch"
    ),
    "a ledger that cannot be made": Row(
        arrange=no_ledger_folder, plan=PLAN.replace("ledger.sqlite", "nowhere/ledger.sqlite")
    ),
    # --- parts of the table, and accounts of people
    "a cover of an unknown column": Row(plan=COVERED.replace("ward,", "wrad,"), says="'wrad'"),
    "a cover outside the domain": Row(plan=COVERED.replace("[A]", "[Z]"), says="not a value of"),
    "a cover of everything that is taken": Row(
        plan=COVERED, arrange=covered_before, code=3, says="0 left"
    ),
    "a cover of what is left": Row(plan=COVERED.replace("cap: 2", "cap: 1"), code=DONE),
    "another cap than that of the people": Row(
        plan=PEOPLE.replace("cap: 2", "cap: 3"), arrange=people_before, says="has cap 2"
    ),
    "records on an account of people": Row(
        plan=PLAN, arrange=people_before, says="several times larger per person"
    ),
    "people on an account of records": Row(
        plan=PEOPLE.replace("one-record-per-person: true", "person: name\nrecords-per-person: 2"),
        arrange=records_before,
        says="per person",
    ),
    # --- runs that are ended
    "killed while rehearsing": Row(stage="killed while rehearsing", code=-9),
    "stopped while rehearsing": Row(stage="stopped while rehearsing", code=143),
    # --- the release is there, and nobody to hear it
    "an answer to a closed pipe": Row(stage="stdout is a closed pipe", options=(), code=DONE),
    "an answer to a full disk": Row(stage="stdout is full", options=(), code=DONE),
    "an answer to a full pipe": Row(stage="stdout is a full pipe", options=(), code=DONE),
    "JSON to a closed pipe": Row(
        stage="stdout is a closed pipe",
        options=("--json",),
        code=DONE,
        says="note: the work is complete",
    ),
    "JSON to a full disk": Row(stage="stdout is full", options=("--json",), code=DONE),
    "answers and errors to a full disk": Row(
        stage="stdout and stderr are full", options=(), code=DONE
    ),
    "letters that the terminal lacks": Row(
        stage="stdout is ASCII", options=(), out="r\u00e9sum\u00e9", code=DONE
    ),
    "no stdout": Row(stage="no stdout", options=(), code=DONE),
    "no stderr": Row(stage="no stderr", options=(), code=DONE),
    "no streams at all": Row(stage="no streams at all", options=(), code=DONE),
    # --- when all is done
    "a ledger that takes no last word": Row(stage="no last word", code=DONE, says="stays 'booked'"),
    "stopped when the release is in place": Row(stage="stopped when placed", code=DONE),
    "the same run once more": Row(arrange=published_before, code=DONE, says="Nothing was read"),
    "the same run once more, by force": Row(
        arrange=published_before, options=("-q", "--force"), code=DONE, says="Nothing was read"
    ),
    "another plan to the same folder": Row(
        arrange=published_before, options=("-q", "--h", "2"), says="not empty"
    ),
}


def test_there_are_forty_of_them() -> None:
    assert len(ROWS) >= 40


@pytest.mark.parametrize("name", ROWS)
def test_either_nothing_is_spent_or_the_release_is_there(
    name: str, case: Case, publisher: Publisher
) -> None:
    row = ROWS[name]
    case.put("plan.yaml", row.plan)
    row.arrange(case)
    before, listed = case.states(), set(case.folder.iterdir())
    run = (row.stage, "publish", "plan.yaml", "--out", row.out, *row.options)
    (code,) = publisher(case.folder, (run,))
    said = (case.folder / "said-0.txt").read_text()

    assert code == row.code, said
    assert row.says in said
    assert "Traceback" not in said
    assert "stays spent" not in said
    if code == 0:
        Release.load(case.folder / row.out)
        assert len(case.states()) == 1
        assert case.hidden() == []
    else:
        assert case.states() == before
        left = {path.name for path in set(case.folder.iterdir()) - listed}
        left -= {
            name for name in left if name.startswith(("said-", "ledger.sqlite", ".ledger.sqlite"))
        }
        assert all(".rehearsal-" in name for name in left) if code == -9 else not left, left


def test_a_release_that_may_have_come_out_is_not_reported_as_failed_by_a_broken_progress(
    case: Case,
) -> None:
    import hedgerow

    def progress(step: str, share: float | None) -> None:
        if step == "writing":
            raise BrokenPipeError

    hedgerow.publish("plan.yaml", out=case.out, progress=progress)
    assert case.states() == ["released"]


def test_another_release_is_booked_again(case: Case) -> None:
    cases.printed(case, "publish", "plan.yaml", "-q")
    first = (case.out / "certificate.json").read_bytes()
    cases.printed(case, "publish", "plan.yaml", "-q", "--again")
    assert case.states() == ["released", "released"]
    assert (case.out / "certificate.json").read_bytes() != first


@pytest.mark.parametrize("changed", ["release.csv", "certificate.json", "report.html"])
def test_a_release_that_was_touched_is_not_the_answer(changed: str, case: Case) -> None:
    from hedgerow import publish
    from hedgerow.errors import ReleaseError

    cases.printed(case, "publish", "plan.yaml", "-q")
    path = case.out / changed
    path.write_text(path.read_text() + " ")
    with pytest.raises(ReleaseError, match="not empty"):
        publish("plan.yaml", out=case.out)
    assert case.states() == ["released"]


@pytest.mark.parametrize(
    "options", [{"records": True}, {"parquet": True}, {"engine": "stream"}, {"data": "other.csv"}]
)
def test_a_run_with_other_options_is_not_the_same_run(options: dict[str, str], case: Case) -> None:
    from hedgerow import publish
    from hedgerow.errors import ReleaseError

    case.put("other.csv", cases.DATA)
    cases.printed(case, "publish", "plan.yaml", "-q")
    with pytest.raises(ReleaseError, match="not empty"):
        publish("plan.yaml", out=case.out, **options)
    assert case.states() == ["released"]


def test_a_taxonomy_that_changed_makes_another_run(case: Case) -> None:
    from hedgerow import publish
    from hedgerow.errors import ReleaseError

    cases.printed(case, "publish", "plan.yaml", "-q")
    case.put("ward.csv", cases.WARD.replace("other", "new"))
    with pytest.raises(ReleaseError, match="not empty"):
        publish("plan.yaml", out=case.out)


def test_a_seeded_run_is_never_answered_nor_rehearsed(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hedgerow import publish

    def rehearse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("hedgerow.pipeline.publish.rehearse", rehearse)
    publish("plan.yaml", out=case.out, seed=1)
    publish("plan.yaml", out=case.out, seed=1, force=True)
    assert case.states() == []


def test_a_second_run_does_not_spend_while_a_complete_release_waits(
    case: Case, publisher: Publisher
) -> None:
    from hedgerow import publish
    from hedgerow.errors import KeptReleaseError

    publisher(case.folder, (("killed while writing", "publish", "plan.yaml", "-q"),))
    with pytest.raises(KeptReleaseError, match="hedgerow recover") as told:
        publish("plan.yaml", out=case.out)
    assert case.states() == ["booked"]
    assert Path(told.value.kept) == case.holding("partial")
    publish("plan.yaml", out=case.out, again=True)
    assert sorted(case.states()) == ["booked", "released"]
