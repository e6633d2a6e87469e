"""Whatever a version of hedgerow has written, this one reads: plans, releases and ledgers."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import tarfile
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import hedgerow
from hedgerow.ledger.store import SCHEMA_VERSION
from hedgerow.model.certificate import CERTIFICATE_FORMAT
from hedgerow.pipeline.prepare import prepare
from hedgerow.release.folder import load_certificate

HERE = Path(__file__).parent
SAMPLES = sorted(path.name.removesuffix(".tar.gz") for path in HERE.glob("*.tar.gz"))
LOADERS = {"baskets": hedgerow.BasketRelease, "sequences": hedgerow.SequenceRelease}


def numbers(sample: str) -> tuple[int, int]:
    found = re.match(r"certificate-(\d+)-ledger-(\d+)", sample)
    assert found is not None
    return int(found[1]), int(found[2])


@pytest.fixture(params=SAMPLES)
def sample(request, tmp_path) -> tuple[str, Path]:
    with tarfile.open(HERE / f"{request.param}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    return request.param, tmp_path


def releases(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/certificate.json"))


def test_every_number_of_every_format_has_a_sample():
    kept = [numbers(sample) for sample in SAMPLES]
    assert {certificate for certificate, _ in kept} == set(range(1, CERTIFICATE_FORMAT + 1))
    assert {ledger for _, ledger in kept} == set(range(1, SCHEMA_VERSION + 1))
    assert (CERTIFICATE_FORMAT, SCHEMA_VERSION) in kept


def test_releases_open_and_are_intact(sample):
    name, folder = sample
    found = releases(folder)
    assert {"table", "boxes", "baskets"} <= {path.name for path in found}
    for path in found:
        certificate = load_certificate(path)
        assert certificate.format_version == numbers(name)[0]
        told = hedgerow.verify(path)
        assert told.faults == (), path.name
        assert any("format 1" in note for note in told.notes) == (certificate.format_version == 1)
        if path.name != "disclosed":
            release = LOADERS.get(path.name, hedgerow.Release).load(path)
            assert release.n_rows > 0
            assert release.certificate.data.noisy_total == sum(
                release.to_arrow()["count"].to_pylist()
            )


def test_a_release_of_any_version_shows_what_was_changed_in_its_files(sample):
    _, folder = sample
    for path in releases(folder):
        for name in load_certificate(path).files:
            content = (path / name).read_bytes()
            (path / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
            assert [fault.file for fault in hedgerow.verify(path).faults] == [name]
            (path / name).write_bytes(content)


def holds(after: object, before: object) -> bool:
    """Whether nothing of ``before`` is lost or another in ``after``."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(key in after and holds(after[key], before[key]) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(holds, after, before))
    return before == after


def test_no_fact_of_a_certificate_is_lost_where_it_is_read(sample):
    """What came later stands there with its default; the newest are the same to the byte."""
    _, folder = sample
    for path in releases(folder):
        text = (path / "certificate.json").read_text(encoding="utf-8")
        read = load_certificate(path)
        assert holds(json.loads(read.to_json()), json.loads(text))
        assert not holds(json.loads(read.to_json()), {**json.loads(text), "engine": "abacus"})
        if read.format_version == CERTIFICATE_FORMAT:
            assert read.to_json() == text


def test_plans_are_read_and_mean_what_they_meant(sample, monkeypatch):
    _, folder = sample
    monkeypatch.chdir(folder)
    for path in releases(folder):
        plan = hedgerow.load_plan(folder / f"{path.name}.yaml")
        if path.name == "disclosed":
            continue
        told = load_certificate(path)
        ready = prepare(plan)
        assert ready.settings.method == told.method.name
        assert ready.epsilon == told.guarantee.epsilon
        assert told.plan_sha256 is not None


def test_a_ledger_is_read_and_goes_on(sample):
    name, folder = sample
    path = folder / "ledger.sqlite"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == numbers(name)[1]
    path.chmod(0o600)
    ledger = hedgerow.Ledger(path, create=False)
    before = ledger.spent("wards")
    assert before == len(ledger.entries("wards")) >= 2
    assert {entry.state for entry in ledger.entries("wards")} == {"released"}
    booking = ledger.book("wards", Fraction(1, 2), cap=8, method="hedge", plan_digest="p")
    assert ledger.spent("wards") == before + Fraction(1, 2)
    assert booking.id == max(entry.id for entry in ledger.entries("wards"))


def test_a_ledger_of_any_version_names_the_certificates_of_its_releases(sample):
    _, folder = sample
    (folder / "ledger.sqlite").chmod(0o600)
    ledger = hedgerow.Ledger(folder / "ledger.sqlite", create=False)
    for path in releases(folder):
        line = load_certificate(path).ledger
        if line is None:
            continue
        (entry,) = [each for each in ledger.entries(line.dataset) if each.id == line.entry]
        digest = hashlib.sha256((path / "certificate.json").read_bytes()).hexdigest()
        assert entry.release_digest == digest


def test_a_signature_of_the_first_format_proves_its_maker(tmp_path):
    with tarfile.open(HERE / "certificate-2-ledger-4.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    assert hedgerow.verify(tmp_path / "boxes", key=tmp_path / "maker.key.pub").maker == "proved"
