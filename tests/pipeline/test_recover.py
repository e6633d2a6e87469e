"""A release whose last step failed: what is put in its place, and what is not."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hedgerow import Release, publish, recover
from hedgerow.errors import HedgerowError, KeptReleaseError
from hedgerow.ledger.ledger import Ledger
from hedgerow.release import write
from hedgerow.release.leftovers import claimed, sweep
from support.certificates import change_certificate
from support.fault_cases import Case
from support.once_booked import once_booked


@pytest.fixture
def kept(case: Case) -> Path:
    """The hidden folder of a run whose destination could not be given its name."""

    def taken() -> None:
        case.monkeypatch.setattr(write, "_move_into_place", refused)

    def refused(*_given: object, **_settings: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    once_booked(case.monkeypatch, taken)
    with pytest.raises(KeptReleaseError, match="hedgerow recover") as told:
        publish("plan.yaml", out=case.out)
    assert str(told.value).endswith(f"--ledger {shlex.quote(str(case.ledger))}")
    case.monkeypatch.undo()
    case.monkeypatch.chdir(case.folder)
    assert case.states() == ["booked"]
    assert "entry" in told.value.__notes__[0]
    return Path(told.value.kept)


def test_a_kept_release_gets_its_name_and_its_entry_its_digest(case: Case, kept: Path) -> None:
    assert kept.stat().st_mode & 0o777 == 0o700
    assert recover(kept, ledger=case.ledger) == case.out
    Release.load(case.out)
    assert case.hidden() == []
    (entry,) = Ledger(case.ledger).entries("wards")
    assert entry.state == "released"
    with pytest.warns(UserWarning, match="Nothing was read or spent"):
        publish("plan.yaml", out=case.out)  # the ledger knows the certificate that lies there
    assert case.states() == ["released"]


def test_the_next_run_names_folder_and_ledger_to_recover_with(case: Case, kept: Path) -> None:
    with pytest.raises(KeptReleaseError) as told:
        publish("plan.yaml", out=case.out)
    command = str(told.value).split("hedgerow recover ")[1]
    assert shlex.split(command) == [str(kept), "--ledger", str(case.ledger)]


def test_no_later_run_removes_it(case: Case, kept: Path) -> None:
    sweep(case.out)
    assert kept.is_dir()


def test_it_can_go_elsewhere(case: Case, kept: Path) -> None:
    recover(kept, out=case.folder / "deep" / "down", ledger=case.ledger)
    Release.load(case.folder / "deep" / "down")


def open_to_others(_case: Case, kept: Path) -> Path:
    kept.chmod(0o750)
    return kept


def a_link(case: Case, kept: Path) -> Path:
    link = case.folder / ".other.partial-00c0ffee"
    link.symlink_to(kept)
    return link


def renamed(case: Case, kept: Path) -> Path:
    return kept.rename(case.folder / "plain")


def a_larger_count(_case: Case, kept: Path) -> Path:
    path = kept / "release.csv"
    path.write_text(path.read_text().rstrip() + "0\n")
    return kept


def a_further_file(_case: Case, kept: Path) -> Path:
    (kept / "more.txt").write_text("more")
    return kept


def a_file_less(_case: Case, kept: Path) -> Path:
    (kept / "report.html").unlink()
    return kept


def a_linked_file(case: Case, kept: Path) -> Path:
    shutil.move(kept / "report.html", case.folder / "report.html")
    (kept / "report.html").symlink_to(case.folder / "report.html")
    return kept


def another_entry(_case: Case, kept: Path) -> Path:
    change_certificate(kept, lambda facts: facts["ledger"].update(entry=90))
    return kept


def another_plan(_case: Case, kept: Path) -> Path:
    change_certificate(kept, lambda facts: facts.update({"plan-sha256": "0" * 64}))
    return kept


def no_certificate(_case: Case, kept: Path) -> Path:
    (kept / "certificate.json").unlink()
    return kept


def no_folder(_case: Case, kept: Path) -> Path:
    shutil.rmtree(kept)
    return kept


def marked_as_failed(case: Case, kept: Path) -> Path:
    (entry,) = Ledger(case.ledger).entries("wards")
    Ledger(case.ledger).failed(entry.id, "given up")
    return kept


CHANGES: list[Callable[[Case, Path], Path]] = [
    open_to_others,
    a_link,
    renamed,
    a_larger_count,
    a_further_file,
    a_file_less,
    a_linked_file,
    another_entry,
    another_plan,
    no_certificate,
    no_folder,
    marked_as_failed,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_is_not_the_release_of_that_booking_is_refused(
    change: Callable[[Case, Path], Path], case: Case, kept: Path
) -> None:
    place = change(case, kept)
    before = case.states()
    with pytest.raises(HedgerowError):
        recover(place, ledger=case.ledger)
    assert case.states() == before
    assert not case.out.exists()


def test_another_ledger_does_not_know_it(case: Case, kept: Path) -> None:
    other = case.folder / "other.sqlite"
    Ledger(other).book("wards", 2, cap=2, method="diffgen", plan_digest="0" * 64)
    for ledger in (other, case.folder / "none.sqlite"):
        with pytest.raises(HedgerowError):
            recover(kept, ledger=ledger)
    assert kept.is_dir()


def test_a_folder_of_a_living_run_is_left_to_it(case: Case) -> None:
    with claimed(case.out) as claim, pytest.raises(HedgerowError, match="still at work"):
        recover(claim.path, ledger=case.ledger)


def test_a_ledger_that_cannot_be_written_leaves_all_as_it_was(
    case: Case, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "released", full)
        with pytest.raises(OSError, match="space"):
            recover(kept, ledger=case.ledger)
    assert not case.out.exists()
    recover(kept, ledger=case.ledger)
    assert case.states() == ["released"]
