"""Every byte of a release folder counts: `verify` finds what was changed, and who signed it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import LaterFormatError, ReleaseError, SettingError
from hedgerow.model.certificate import Certificate
from hedgerow.release.signing_keys import KeyFileError, make_key_pair
from support.certificates import change_certificate, resealed
from support.disclosure_tables import METHODS as DISCLOSURES
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.engine_plans import (
    basket_plan,
    sequence_plan,
    table_plan,
    write_baskets,
    write_table,
)
from support.forged import with_package

KINDS = ("table", "tables of weave", "baskets", "sequences", "disclosed", "signed")


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> tuple[Path, Path]:
    private, public, _ = make_key_pair(tmp_path_factory.mktemp("keys") / "maker.key")
    return private, public


@pytest.fixture(scope="module")
def releases(tmp_path_factory, keys) -> dict[str, Path]:
    """A release folder of every kind."""
    folder = tmp_path_factory.mktemp("releases")
    table, sets = write_table(folder / "t.csv"), write_baskets(folder / "s.dat", n=300)
    out = {kind: folder / kind for kind in KINDS}

    def publish(kind, plan, data, **given):
        hedgerow.publish(plan, data=data, out=out[kind], seed=5, **given)

    hedge = table_plan(("hedge", {}))
    publish("table", hedge, table, records=True, parquet=True)
    publish("tables of weave", table_plan(("weave", {})), table)
    publish("baskets", basket_plan(("coterie", {})), sets, parquet=True)
    publish("sequences", sequence_plan(("chain", {})), sets)
    publish("signed", table_plan(("diffgen", {"h": 3})), table, sign=keys[0])
    plan = disclosure_plan(**DISCLOSURES["aruba"])
    hedgerow.disclose(plan, data=patients(), out=out["disclosed"])
    return out


@pytest.fixture
def release(releases, tmp_path) -> Path:
    shutil.copytree(releases["signed"], tmp_path / "release")
    return tmp_path / "release"


def files_of(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if "owner" not in path.relative_to(folder).parts]


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_any_kind_is_intact_as_it_was_written(releases, kind):
    found = hedgerow.verify(releases[kind])
    assert found.faults == ()
    assert found.passed
    assert found.statement == "intact, maker not proved"
    assert found.n_files == len(files_of(releases[kind]))


@given(data=st.data())
def test_any_byte_of_any_file_that_is_flipped_is_found(releases, keys, data):
    kind = data.draw(st.sampled_from(KINDS), label="kind")
    path = data.draw(st.sampled_from(files_of(releases[kind])), label="file")
    content = path.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1), label="byte")
    flip = data.draw(st.integers(1, 255), label="flip")
    changed = bytearray(content)
    changed[place] ^= flip
    try:
        path.write_bytes(changed)
        assert not hedgerow.verify(releases[kind]).intact
    finally:
        path.write_bytes(content)


@given(data=st.data())
def test_any_file_that_is_cut_lengthened_taken_away_or_added_is_found(releases, data):
    kind = data.draw(st.sampled_from(KINDS[:-1]), label="kind")
    folder = releases[kind]
    path = data.draw(st.sampled_from(files_of(folder)), label="file")
    content = path.read_bytes()
    kept = data.draw(st.integers(0, len(content) - 1), label="kept")
    added = path.with_name(data.draw(st.sampled_from([".hidden", "new.csv", "Release.CSV"])))
    try:
        for changed in (content[:kept], content + b"\n", content + content[:1]):
            path.write_bytes(changed)
            assert not hedgerow.verify(folder).intact
        path.unlink()
        assert not hedgerow.verify(folder).intact
        path.write_bytes(content)
        added.write_bytes(content)
        assert not hedgerow.verify(folder).intact
    finally:
        path.write_bytes(content)
        added.unlink(missing_ok=True)
    assert hedgerow.verify(folder).intact


def test_no_byte_of_a_certificate_can_be_flipped_unseen(releases):
    content = (releases["signed"] / "certificate.json").read_bytes()
    assert Certificate.from_json(content.decode()).to_json().encode() == content
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 7  # stays ASCII where it was
        with pytest.raises(ReleaseError):
            Certificate.from_json(bytes(changed).decode("utf-8", errors="replace"))


def test_a_certificate_says_its_own_digest_to_anybody(release):
    lines = (release / "certificate.json").read_bytes().splitlines(keepends=True)
    digest = hashlib.sha256(b"".join(lines[:-2])).hexdigest()
    assert lines[-2:] == [f'  "own-sha256": "{digest}"\n'.encode(), b"}\n"]


def added_file(folder):
    (folder / "notes.txt").write_text("hello")


def added_folder(folder):
    (folder / "more").mkdir()


def symbolic_link(folder):
    (folder / "report.html").rename(folder.parent / "report.html")
    (folder / "report.html").symlink_to(folder.parent / "report.html")


def hard_link(folder):
    os.link(folder / "release.csv", folder.parent / "second.csv")


def pipe(folder):
    (folder / "release.csv").unlink()
    os.mkfifo(folder / "release.csv")


def linked_certificate(folder):
    (folder / "certificate.json").rename(folder.parent / "c.json")
    (folder / "certificate.json").symlink_to(folder.parent / "c.json")


def key_twice(folder):
    path = folder / "certificate.json"
    text = path.read_text().replace('"tool": "hedgerow",', '"tool": "hedgerow",\n  "tool": "x",')
    path.write_text(text)


def another_layout(folder):
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace("  ", "\t"))


def no_utf8(folder):
    (folder / "certificate.json").write_bytes(b"\xff{}")


def nested(folder):
    (folder / "certificate.json").write_text("[" * 100_000)


def endless(folder):
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace('"tool": "hedgerow"', '"tool": NaN'))


def downgraded(folder):
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace('"format-version": 2', '"format-version": 1'))


def no_certificate(folder):
    (folder / "certificate.json").unlink()


def other_signature(folder):
    path = folder / "signature.json"
    facts = json.loads(path.read_text())
    path.write_text(resealed(facts | {"certificate-sha256": "0" * 64}))


@pytest.mark.parametrize(
    ("harm", "file", "what"),
    [
        (added_file, "notes.txt", "not a file of this release"),
        (added_folder, "more", "not a folder of this release"),
        (symbolic_link, "report.html", "is a link"),
        (hard_link, "release.csv", "hard link"),
        (pipe, "release.csv", "not a regular file"),
        (linked_certificate, "certificate.json", "is a link"),
        (key_twice, "certificate.json", "a key twice"),
        (another_layout, "certificate.json", "not written in hedgerow's canonical form"),
        (no_utf8, "certificate.json", "UTF-8"),
        (nested, "certificate.json", "nested too deeply"),
        (endless, "certificate.json", "not a number"),
        (downgraded, "certificate.json", "extra inputs"),
        (no_certificate, "certificate.json", "missing"),
        (other_signature, "signature.json", "another certificate"),
    ],
)
def test_what_a_release_never_has_is_refused_by_name(release, harm, file, what):
    harm(release)
    found = hedgerow.verify(release)
    assert not found.passed
    assert [fault.file for fault in found.faults] == [file]
    assert what in found.faults[0].what


def set_to(path, value):
    def change(facts):
        *above, last = path
        for step in above:
            facts = facts[step]
        facts[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (set_to(["budget", "spends", 0, "of-epsilon"], "1/7"), "part of the total"),
        (set_to(["guarantee", "epsilon-decimal"], 0.1), "decimal form differ"),
        (set_to(["guarantee", "statement"], "Quite safe."), "statement"),
        (set_to(["counts", "within-95"], 0), "noise of a count"),
        (set_to(["data", "noisy-total"], 12), "add up"),
        (set_to(["assumed-public", 0, "sha256"], "0" * 64), "domains"),
        (set_to(["budget", "total"], "1"), "more than the total|do not add up"),
        (set_to(["surprise"], 1), "extra"),
    ],
)
def test_a_certificate_that_was_edited_with_care_contradicts_itself(
    releases, tmp_path, change, what
):
    shutil.copytree(releases["table"], tmp_path / "release")
    change_certificate(tmp_path / "release", change)
    found = hedgerow.verify(tmp_path / "release")
    assert not found.intact
    assert any(part in found.faults[0].what for part in what.split("|")), found.faults


def test_the_owners_part_of_a_disclosure_is_named_and_not_vouched_for(releases, tmp_path):
    shutil.copytree(releases["disclosed"], tmp_path / "d")
    assert any("owner" in note for note in hedgerow.verify(tmp_path / "d").notes)
    shutil.rmtree(tmp_path / "d" / "owner")  # what a recipient gets
    found = hedgerow.verify(tmp_path / "d")
    assert found.intact
    assert not any("owner" in note for note in found.notes)
    (tmp_path / "d" / "owner").symlink_to(tmp_path)
    assert not hedgerow.verify(tmp_path / "d").intact


def test_only_a_disclosure_may_have_an_owners_folder(release):
    (release / "owner").mkdir()
    (release / "owner" / "risk.csv").write_text("")
    assert {fault.file for fault in hedgerow.verify(release).faults} == {"owner", "owner/risk.csv"}


def test_a_later_format_is_told_from_damage(release):
    change_certificate(release, lambda facts: facts.update({"format-version": 3}))
    with pytest.raises(LaterFormatError, match="format 3"):
        hedgerow.verify(release)


def test_a_later_signature_is_told_from_damage(release):
    path = release / "signature.json"
    facts = json.loads(path.read_text())
    path.write_text(resealed({**facts, "format-version": 2}))
    with pytest.raises(LaterFormatError, match="signature has format 2"):
        hedgerow.verify(release)


def test_the_plan_that_was_agreed_on_is_known_by_its_fingerprint(release):
    own = hedgerow.verify(release).fingerprint
    assert hedgerow.verify(release, expect=own[:16].upper()).passed
    other = hedgerow.verify(release, expect="0" * 16)
    assert [fault.what for fault in other.faults] == [
        "it was made from another plan than the one expected"
    ]
    with pytest.raises(SettingError, match="hexadecimal"):
        hedgerow.verify(release, expect="short")


def test_a_signature_proves_the_maker_to_who_has_the_key(release, keys):
    found = hedgerow.verify(release, key=keys[1])
    assert (found.statement, found.passed) == ("intact, maker proved", True)
    assert "with --public-key" in hedgerow.verify(release).notes[0]


def test_a_folder_that_somebody_else_made_does_not_pass(release, keys, tmp_path):
    """Whoever changes files, certificate and signature together has another key."""
    other, _, _ = make_key_pair(tmp_path / "other.key")
    (release / "signature.json").unlink()
    facts = json.loads((release / "certificate.json").read_text())
    report = (release / "report.html").read_bytes()
    report = report.replace(facts["created"].encode(), b"2020-02-02")
    (release / "report.html").write_bytes(report)
    named = {"sha256": hashlib.sha256(report).hexdigest(), "bytes": len(report)}
    facts |= {"created": "2020-02-02", "files": facts["files"] | {"report.html": named}}
    (release / "certificate.json").write_text(with_package(release, facts))
    unsigned = hedgerow.verify(release, key=keys[1])
    assert (unsigned.intact, unsigned.passed) == (True, False)
    hedgerow.sign(release, key=other)
    assert hedgerow.verify(release).passed  # nothing but the key tells
    forged = hedgerow.verify(release, key=keys[1])
    assert (forged.intact, forged.passed, forged.maker) == (True, False, "not proved")


def test_a_signature_that_only_names_the_key_is_found_out(release, keys):
    path = release / "signature.json"
    facts = json.loads(path.read_text())
    facts["signature"] = "0" * 128
    path.write_text(resealed(facts))
    assert hedgerow.verify(release).intact
    assert not hedgerow.verify(release, key=keys[1]).intact


def test_the_key_never_comes_from_the_folder(release, keys):
    shutil.copy(keys[1], release / "maker.pub")
    with pytest.raises(KeyFileError, match="in the release folder"):
        hedgerow.verify(release, key=release / "maker.pub")


def test_what_is_no_folder_is_bad_input(tmp_path):
    with pytest.raises(ReleaseError, match="not a folder"):
        hedgerow.verify(tmp_path / "nowhere")


def test_verifying_writes_nothing(releases):
    before = {path: path.stat().st_mtime_ns for path in releases["table"].rglob("*")}
    hedgerow.verify(releases["table"])
    assert {path: path.stat().st_mtime_ns for path in releases["table"].rglob("*")} == before
