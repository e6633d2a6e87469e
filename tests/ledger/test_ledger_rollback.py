"""A ledger that was rolled back is refused: by its key file, or by the releases booked on it."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import struct
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.ledger import app
from hedgerow.errors import LedgerError
from hedgerow.ledger import mark as ledger_mark
from hedgerow.ledger import store as ledger_store
from hedgerow.ledger.key import KEY_BYTES, SLOT_BYTES, key_path, read_key
from hedgerow.ledger.ledger import Ledger
from hedgerow.ledger.mark import KeyFile, read_key_file
from hedgerow.ledger.store import LedgerStore
from support.old_ledgers import booked, dataset, write_old

TENTH = Fraction(1, 10)
BOOKINGS = 6
MAGIC = bytes.fromhex("d9d505f920a163d7")
PAIRS = list(combinations(range(BOOKINGS), 2))


def book(ledger: Ledger) -> object:
    return ledger.book("adult", TENTH, cap=50, method="m", plan_digest="p")


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.sqlite")
    read_key(made.path)
    return made


def hot(journal: bytes, before: bytes) -> bytes:
    """Return a journal whose header was wiped at its commit as it was before that."""
    size = struct.unpack(">H", before[16:18])[0]
    record = 8 + size
    first = journal[512 : 512 + record]
    page = first[4:-4]
    own = sum(page[at] for at in range(len(page) - 200, 0, -200))
    nonce = (struct.unpack(">I", first[-4:])[0] - own) & 0xFFFFFFFF
    n_records, n_pages = (len(journal) - 512) // record, len(before) // size
    return MAGIC + struct.pack(">5I", n_records, nonce, n_pages, 512, size) + journal[28:]


@cache
def history() -> list[tuple[bytes, bytes, bytes]]:
    """Return the ledger and its key after each booking, and the journal of that booking."""
    told = []
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "ledger.sqlite"
        ledger = Ledger(path)
        read_key(path)
        book(ledger)
        begun = LedgerStore._begun

        def keeping(store, begin):
            connection = begun(store, begin)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = PERSIST")
            connection.execute(begin)
            return connection

        patch.setattr(LedgerStore, "_begun", keeping)
        for _ in range(BOOKINGS):
            before = path.read_bytes()
            book(ledger)
            journal = path.with_name("ledger.sqlite-journal").read_bytes()
            told.append((path.read_bytes(), key_path(path).read_bytes(), hot(journal, before)))
    return told


def lay_out(folder: Path, content: bytes, key: bytes, journal: bytes | None = None) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    path = folder / "ledger.sqlite"
    for place, written in ((path, content), (key_path(path), key)):
        place.write_bytes(written)
        place.chmod(0o600)
    if journal is not None:
        path.with_name("ledger.sqlite-journal").write_bytes(journal)
    return path


def n_booked(path: Path) -> int | None:
    """Return how many bookings a ledger has; ``None`` if it is refused."""
    try:
        return len(Ledger(path).entries("adult"))
    except LedgerError:
        return None


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_an_old_copy_of_the_ledger_is_refused(tmp_path, old, new):
    states = history()
    path = lay_out(tmp_path / "l", states[old][0], states[new][1])
    with pytest.raises(LedgerError, match="was replaced by an older copy") as refused:
        Ledger(path)
    assert "hedgerow ledger restored --reason" in refused.value.do
    assert n_booked(lay_out(tmp_path / "l", states[new][0], states[new][1])) == new + 2


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_an_old_journal_beside_a_newer_file_forgets_no_booking(tmp_path, old, new):
    states = history()
    path = lay_out(tmp_path / "l", states[new][0], states[new][1], states[old][2])
    assert n_booked(path) in {None, new + 2}


def test_without_the_key_old_journals_are_taken(tmp_path):
    """The pairs above can fail: without what the key file has seen, some are."""
    states = history()
    taken = 0
    for old, new in PAIRS:
        path = lay_out(tmp_path / "l", states[new][0], b"", states[old][2])
        key_path(path).unlink()
        taken += n_booked(path) not in {None, new + 2}
    assert taken


def test_the_journal_of_a_booking_that_was_killed_is_still_rolled_back(tmp_path):
    states = history()
    path = lay_out(tmp_path / "l", states[3][0], states[2][1], states[3][2])
    assert n_booked(path) == 4
    book(Ledger(path))
    assert n_booked(path) == 5


def test_another_chain_of_the_same_length_is_refused(tmp_path, ledger):
    book(ledger)
    shutil.copy(ledger.path, tmp_path / "copy")
    book(ledger)
    fork = tmp_path / "fork" / "ledger.sqlite"
    fork.parent.mkdir(mode=0o700)
    shutil.copy(tmp_path / "copy", fork)
    Ledger(fork).book("adult", TENTH, cap=50, method="another", plan_digest="p")
    shutil.copy(fork, ledger.path)
    with pytest.raises(LedgerError, match="is not the one that its key has seen"):
        Ledger(ledger.path)


@pytest.mark.parametrize("length", range(0, KEY_BYTES + 2 * SLOT_BYTES, 5))
def test_a_truncated_key_file_is_refused(tmp_path, length):
    content, key, _ = history()[-1]
    path = lay_out(tmp_path / "l", content, key[:length])
    with pytest.raises(LedgerError, match="key file is damaged"):
        Ledger(path)


@pytest.mark.parametrize("length", [KEY_BYTES, KEY_BYTES + SLOT_BYTES])
def test_a_key_file_cut_at_a_border_is_refused(tmp_path, length):
    content, key, _ = history()[-1]
    with pytest.raises(LedgerError, match="key file is damaged") as refused:
        Ledger(lay_out(tmp_path / "l", content, key[:length]))
    assert "hedgerow ledger restored" in refused.value.do


def test_a_missing_key_file_is_named(tmp_path):
    content, key, _ = history()[-1]
    path = lay_out(tmp_path / "l", content, key)
    key_path(path).unlink()
    assert any("key file is missing" in note for note in Ledger(path).key_notes())
    told = CliRunner().invoke(app, ["verify", "--ledger", str(path)])
    assert "key file is missing" in told.stdout


def test_an_older_key_file_is_named(tmp_path):
    states = history()
    path = lay_out(tmp_path / "l", states[-1][0], states[1][1])
    assert any("an older copy" in note for note in Ledger(path).key_notes())
    told = json.loads(CliRunner().invoke(app, ["verify", "--json", "--ledger", str(path)]).stdout)
    assert len(told["notes"]) == 1
    book(Ledger(path))
    assert Ledger(path).key_notes() == []


def test_the_key_file_is_never_ahead_of_the_ledger(ledger, monkeypatch):
    """A run that is killed before the commit, or between it and the key, locks nobody out."""

    class KilledError(BaseException):
        pass

    def killed(*_: object) -> bool:
        raise KilledError

    book(ledger)
    with monkeypatch.context() as patch:  # at the body's end, before the commit
        patch.setattr(ledger_store.BookingDraft, "_write_state", killed)
        with pytest.raises(KilledError):
            book(ledger)
    assert len(ledger.entries("adult")) == 1
    marks = []
    with monkeypatch.context() as patch:  # after the commit, before the key file
        raised = ledger_store.raise_mark

        def second(path, mark):
            marks.append(mark)
            return killed() if len(marks) == 2 else raised(path, mark)

        patch.setattr(ledger_store, "raise_mark", second)
        with pytest.raises(KilledError):
            book(ledger)
    assert len(ledger.entries("adult")) == 2
    assert read_key_file(ledger.path).mark.events == ledger.verify()[0] - 1
    assert ledger.key_notes() == []  # one event is what a kill leaves
    book(ledger)
    assert read_key_file(ledger.path).mark.events == ledger.verify()[0]


def test_a_slot_that_was_half_written_leaves_the_other(tmp_path):
    states = history()
    old, new = states[-2][1], states[-1][1]
    changed = [at for at in range(len(old)) if old[at] != new[at]]
    assert changed[-1] - changed[0] < SLOT_BYTES  # one slot is written at a time
    for cut in range(changed[0], changed[-1] + 1):
        torn = new[:cut] + old[cut:]
        path = lay_out(tmp_path / "l", states[-1][0], torn)
        assert n_booked(path) == BOOKINGS + 1
    assert new[:KEY_BYTES] == old[:KEY_BYTES]


def test_a_full_disk_after_the_commit_does_not_undo_a_booking(ledger, monkeypatch):
    book(ledger)
    raised = ledger_store.raise_mark
    calls = []

    def full(path, mark):
        calls.append(mark)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return raised(path, mark)

    monkeypatch.setattr(ledger_store, "raise_mark", full)
    book(ledger)
    monkeypatch.undo()
    assert len(ledger.entries("adult")) == 2


def test_who_may_not_write_the_key_file_is_not_locked_out(ledger, monkeypatch):
    def denied(_: Path) -> object:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(ledger_mark, "_opened", denied)
        for _ in range(3):
            book(ledger)
        assert read_key_file(ledger.path).mark is None
    assert len(Ledger(ledger.path).entries("adult")) == 3
    book(ledger)
    assert read_key_file(ledger.path).mark.events == ledger.verify()[0]


def test_a_key_of_an_earlier_version_is_read_and_begins_to_keep_the_highest_event(tmp_path):
    path = tmp_path / "ledger.sqlite"
    write_old(path, [dataset("adult", "50"), booked("adult", "1/10")])
    secret = os.urandom(KEY_BYTES)
    key_path(path).write_bytes(secret)
    for place in (path, key_path(path)):
        place.chmod(0o600)
    ledger = Ledger(path)
    assert read_key(path).secret == secret
    assert read_key_file(path).mark is None
    old = path.read_bytes()
    book(ledger)
    held = read_key_file(path)
    assert held.key.secret == secret
    assert held.mark.events == ledger.verify()[0]
    path.write_bytes(old)
    with pytest.raises(LedgerError, match="an older copy"):
        Ledger(path)


def test_a_ledger_without_a_key_file_gets_none_by_itself(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    book(ledger)
    assert list(tmp_path.iterdir()) == [ledger.path]
    assert ledger.key_notes() == []


def test_the_key_of_another_ledger_says_nothing_of_this_one(tmp_path):
    states = history()
    other = Ledger(tmp_path / "other.sqlite")
    read_key(other.path)
    for _ in range(BOOKINGS + 5):
        book(other)
    path = lay_out(tmp_path / "l", states[1][0], key_path(other.path).read_bytes())
    assert n_booked(path) == 3
    assert any("not the one" in note for note in Ledger(path).key_notes())


def test_a_backup_is_accepted_with_a_reason_that_stays(tmp_path):
    states = history()
    path = lay_out(tmp_path / "l", states[1][0], states[-1][1])
    call = CliRunner().invoke
    assert call(app, ["show", "--ledger", str(path)]).exit_code != 0
    done = call(app, ["restored", "--reason", "disk failure", "--ledger", str(path)])
    assert done.exit_code == 0, done.output
    ledger = Ledger(path)
    assert len(ledger.entries("adult")) == 3
    said = json.loads(ledger.export()["events"][-1]["body"])
    assert (said["kind"], said["why"], said["seen"]) == ("restored", "disk failure", "8")
    book(ledger)
    path.write_bytes(states[1][0])
    assert n_booked(path) is None  # what was accepted once is not accepted again


def test_a_cut_key_file_is_accepted_with_a_reason(tmp_path):
    content, key, _ = history()[-1]
    path = lay_out(tmp_path / "l", content, key[:KEY_BYTES])
    Ledger(path, restored=True).restored("the key file was cut off")
    assert n_booked(path) == BOOKINGS + 1
    assert read_key(path).secret == key[:KEY_BYTES]


def _books(path: Path, n_bookings: int) -> None:
    for _ in range(n_bookings):
        book(Ledger(path))


def test_processes_that_book_at_the_same_time_never_refuse_each_other(ledger):
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    workers = [context.Process(target=_books, args=(ledger.path, 15)) for _ in range(3)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        with suppress(LedgerError):
            assert Ledger(ledger.path).verify()[0] >= 0
        Ledger(ledger.path)  # never refused
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(ledger.entries("adult")) == 45
    assert read_key_file(ledger.path).mark.events == ledger.verify()[0]


def test_the_file_of_a_key_shows_nothing_of_the_secret_elsewhere(ledger):
    held = read_key_file(ledger.path)
    assert held.key.secret.hex() not in repr(held)
    assert KeyFile.of(b"").key is None


# --- releases

PLAN = {
    "attributes": {"age": {"numeric": [0, 3]}, "sex": {"values": ["m", "f"]}},
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "basic-table", "epsilon": "1/10"},
    "ledger": {"dataset": "people", "cap": 4},
}
ROWS = "age,sex\n" + "1,m\n2,f\n" * 50


@pytest.fixture(scope="module")
def published_once(tmp_path_factory):
    """Two releases of one ledger, and the ledger with its key between them."""
    folder = tmp_path_factory.mktemp("published")
    path, data = folder / "ledger" / "ledger.sqlite", folder / "people.csv"
    data.write_text(ROWS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGEROW_LEDGER", str(path))
        hedgerow.publish(PLAN, data=data, out=folder / "out" / "first", even_if_noise=True)
        shutil.copytree(path.parent, folder / "between")
        hedgerow.publish(PLAN, data=data, out=folder / "out" / "second", even_if_noise=True)
    return folder


@pytest.fixture
def published(published_once, tmp_path, monkeypatch):
    folder = tmp_path / "copy"
    shutil.copytree(published_once, folder)
    monkeypatch.setenv("HEDGEROW_LEDGER", str(folder / "ledger" / "ledger.sqlite"))
    return folder


def verified(path: Path, *folders: Path) -> tuple[int, dict[str, str]]:
    given = ["verify", "--json", "--ledger", str(path), "--releases", *map(str, folders)]
    result = CliRunner().invoke(app, given)
    found = json.loads(result.stdout)["releases"]
    return result.exit_code, {Path(each["folder"]).name: each["verdict"] for each in found}


def line_of(folder: Path) -> dict:
    return json.loads((folder / "certificate.json").read_text(encoding="utf-8"))["ledger"]


def test_releases_are_found_on_the_ledger_that_booked_them(published):
    path, out = published / "ledger" / "ledger.sqlite", published / "out"
    both = {"first": "on the ledger", "second": "on the ledger"}
    assert verified(path, out) == (0, both)
    assert verified(path, out / "first", out / "second") == (0, both)


def test_a_ledger_rolled_back_together_with_its_key_is_named_by_its_releases(published):
    path = published / "between" / "ledger.sqlite"
    code, found = verified(path, published / "out")
    assert (code, found) == (1, {"first": "on the ledger", "second": "not on the ledger"})
    shown = CliRunner().invoke(
        app, ["verify", "--ledger", str(path), "--releases", str(published / "out")]
    )
    assert "second: not on the ledger (the ledger has no entry" in shown.stdout


def test_a_fork_that_went_on_is_named_by_its_releases(published, monkeypatch):
    path, out = published / "between" / "ledger.sqlite", published / "out"
    monkeypatch.setenv("HEDGEROW_LEDGER", str(path))
    data = published / "people.csv"
    hedgerow.publish(PLAN, data=data, out=out / "third", even_if_noise=True)
    assert line_of(out / "third")["entry"] == line_of(out / "second")["entry"]
    found = verified(path, out)
    assert found[0] == 1
    assert found[1]["second"] == "not on the ledger"
    assert found[1]["third"] == found[1]["first"] == "on the ledger"


def test_a_certificate_carries_a_keyed_digest_of_the_chain_and_not_the_digest(published):
    path, line = published / "ledger" / "ledger.sqlite", line_of(published / "out" / "second")
    head = Ledger(path).heads()[line["entry"]]
    assert line["chain"] == read_key(path).chained(head) != head
    text = (published / "out" / "second" / "certificate.json").read_text(encoding="utf-8")
    assert not any(digest in text for digest in Ledger(path).heads().values())


def test_a_release_that_was_never_marked_is_found_by_its_chain(published, monkeypatch):
    path, out = published / "ledger" / "ledger.sqlite", published / "out" / "late"
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "released", lambda *_: None)
        hedgerow.publish(PLAN, data=published / "people.csv", out=out, even_if_noise=True)
    assert Ledger(path).entry(line_of(out)["entry"]).release_digest is None
    assert verified(path, out) == (0, {"late": "on the ledger"})


def test_a_release_of_before_a_new_key_is_found_by_its_own_digest(published):
    path = published / "ledger" / "ledger.sqlite"
    key_path(path).unlink()
    Ledger(path).new_key("the disk broke")
    read_key(path)
    code, found = verified(path, published / "out")
    assert (code, set(found.values())) == (0, {"on the ledger"})


def test_a_release_without_a_booking_and_one_that_cannot_be_read_are_named(published):
    path, out = published / "ledger" / "ledger.sqlite", published / "out"
    hedgerow.publish(PLAN, data=published / "people.csv", out=out / "seeded", seed=1)
    (out / "second" / "certificate.json").write_text("{}", encoding="utf-8")
    code, found = verified(path, out)
    assert (code, found) == (
        1,
        {"first": "on the ledger", "second": "unreadable", "seeded": "not booked"},
    )
    nothing = CliRunner().invoke(
        app, ["verify", "--ledger", str(path), "--releases", str(published / "ledger")]
    )
    assert nothing.exit_code != 0


def test_a_mark_that_was_written_meanwhile_is_seen(tmp_path, monkeypatch):
    """Two processes begin a ledger: the second reads the key file just before its first mark."""
    path = tmp_path / "ledger.sqlite"
    read_key(path)
    before = ledger_store.read_key_file(path)
    ledger = Ledger(path)
    ledger.open_dataset("people", 4)
    ledger.open_dataset("others", 4)
    reads = iter([before])

    def first_too_early(place):
        return next(reads, None) or ledger_mark.read_key_file(place)

    monkeypatch.setattr(ledger_store, "read_key_file", first_too_early)
    assert len(Ledger(path).accounts()) == 2
