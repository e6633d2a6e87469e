"""The release folder: what is in it, and that it can be trusted when read back."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.errors import InputError, ReleaseError
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Attribute
from hedgerow.privacy.source import SeededSource
from hedgerow.release import reading
from hedgerow.release import release as module
from hedgerow.release.release import Release, load_recoding
from hedgerow.taxonomy.domain import NumericDomain
from support.certificates import resealed

GOLDEN = Path(__file__).parent / "golden"


def same_groups(one: Groups, other: Groups) -> bool:
    columns = [*zip(one.index, other.index, strict=True), (one.counts, other.counts)]
    if one.classes is not None and other.classes is not None:
        columns.append((one.classes, other.classes))
    return (
        all(np.array_equal(mine, yours) and mine.dtype == yours.dtype for mine, yours in columns)
        and (one.classes is None) == (other.classes is None)
        and one.origin == other.origin
        and one.is_cut == other.is_cut
    )


def test_a_release_folder_is_as_it_was_reviewed(release, tmp_path, golden):
    release.write(tmp_path / "release", records=True, source=SeededSource(7))
    for name in (
        "release.csv",
        "records.csv",
        "recoding.json",
        "dictionary.csv",
        "datapackage.json",
    ):
        golden(GOLDEN / name, (tmp_path / "release" / name).read_text(encoding="utf-8"))
    facts = json.loads((tmp_path / "release" / "certificate.json").read_text(encoding="utf-8"))
    facts["files"]["report.html"] = "masked: the page is tested by what it says"
    facts["own-sha256"] = "masked: it follows from all the rest"
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    golden(GOLDEN / "certificate.json", text)


def test_a_release_is_read_back_as_it_was_written(release, tmp_path):
    written = release.write(tmp_path / "release")
    described = ("certificate.json", "datapackage.json", "dictionary.csv")
    assert written.files == (*described, "recoding.json", "release.csv", "report.html")
    again = Release.load(tmp_path / "release")
    assert same_groups(again.groups, release.groups)
    assert again.schema == release.schema
    assert again.to_arrow().equals(release.to_arrow())
    assert again.certificate.with_files({}) == release.certificate
    assert again.digest == release.digest


def test_the_same_release_is_written_with_the_same_bytes(release, tmp_path):
    for name in ("one", "two"):
        release.write(tmp_path / name, records=True, parquet=True, source=SeededSource(1))
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_the_certificate_vouches_for_every_other_file(release, tmp_path):
    written = release.write(tmp_path / "release", records=True, parquet=True)
    facts = json.loads((tmp_path / "release" / "certificate.json").read_text(encoding="utf-8"))
    assert {*facts["files"], "certificate.json"} == set(written.files)
    for name, promised in facts["files"].items():
        content = (tmp_path / "release" / name).read_bytes()
        assert promised["sha256"] == hashlib.sha256(content).hexdigest()
        assert promised["bytes"] == len(content)


def test_the_digest_is_that_of_the_table_before_and_after_writing(release, tmp_path):
    before = release.digest
    release.write(tmp_path / "release")
    content = (tmp_path / "release" / "release.csv").read_bytes()
    assert before == release.digest == hashlib.sha256(content).hexdigest()


def test_parquet_holds_the_plain_labels(release, tmp_path):
    release.write(tmp_path / "release", parquet=True)
    table = pq.read_table(tmp_path / "release" / "release.parquet")
    assert table.to_pylist() == release.to_arrow().to_pylist()
    assert "=Outdoor" in table["job"].to_pylist()


@pytest.mark.parametrize("name", ["release.csv", "recoding.json"])
def test_a_file_that_was_changed_or_lost_is_refused(release, tmp_path, name):
    release.write(tmp_path / "release")
    path = tmp_path / "release" / name
    path.write_text(path.read_text(encoding="utf-8").replace("40", "41") + " ", encoding="utf-8")
    with pytest.raises(ReleaseError, match="not the one"):
        Release.load(tmp_path / "release")
    path.unlink()
    with pytest.raises(ReleaseError, match="cannot be read"):
        Release.load(tmp_path / "release")


def test_a_folder_without_a_certificate_is_no_release(tmp_path):
    with pytest.raises(ReleaseError, match=r"certificate\.json is missing"):
        Release.load(tmp_path)
    with pytest.raises(ReleaseError, match=r"certificate\.json is missing"):
        load_recoding(tmp_path / "nowhere")


def vouched(folder: Path, name: str, text: str) -> None:
    """Change a file and make the certificate vouch for it."""
    (folder / name).write_text(text, encoding="utf-8")
    place = folder / "certificate.json"
    facts = json.loads(place.read_text(encoding="utf-8"))
    content = text.encode()
    digest = hashlib.sha256(content).hexdigest()
    facts["files"][name] = {"sha256": digest, "bytes": len(content)}
    place.write_text(resealed(facts), encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "age,job,income,count\n[-5, 0),office,>50K,3\n",
        'age,job,income,count\n"[-5, 0)",nobody,>50K,3\n',
        'age,job,income,count\n"[-5, 0)",office,>50K,three\n',
        'age,job,income,count\n"[-5, 0)",office,>50K\n',
        "",
    ],
)
def test_a_table_that_does_not_fit_the_recoding_is_refused(release, tmp_path, text):
    release.write(tmp_path / "release")
    vouched(tmp_path / "release", "release.csv", text)
    with pytest.raises(ReleaseError, match="does not have the content"):
        Release.load(tmp_path / "release")


def test_a_release_without_groups_can_be_written_and_read(release, tmp_path):
    none = np.zeros(0, np.int32)
    empty = replace(release.groups, index=(none, none), classes=none, counts=none.astype(np.int64))
    replace(release, groups=empty).write(tmp_path / "release", records=True)
    assert same_groups(Release.load(tmp_path / "release").groups, empty)


def test_a_release_without_a_class_can_be_written_and_read(release, tmp_path):
    bare = replace(
        release,
        schema=replace(release.schema, class_attribute=None),
        groups=replace(release.groups, classes=None),
    )
    bare.write(tmp_path / "release", records=True)
    again = Release.load(tmp_path / "release")
    assert same_groups(again.groups, bare.groups)
    assert again.to_arrow().column_names == ["age", "job", "count"]


def test_an_attribute_called_count_keeps_its_name(release, tmp_path):
    age, job = release.schema.attributes
    renamed = replace(age, name="count")
    release = replace(release, schema=replace(release.schema, attributes=(renamed, job)))
    release.write(tmp_path / "release")
    again = Release.load(tmp_path / "release")
    assert again.to_arrow().column_names == ["count", "job", "income", "noisy_count"]
    assert same_groups(again.groups, release.groups)


def test_labels_of_numbers_are_read_back_as_labels(release, tmp_path):
    years = NumericDomain.even(low=0, high=95, step=1)
    attributes = (Attribute(name="age", domain=years), release.schema.attributes[1])
    groups = replace(
        release.groups,
        ranges=(
            replace(
                release.groups.ranges[0],
                first=np.array([0, 1], np.int32),
                stop=np.array([1, 96], np.int32),
            ),
            release.groups.ranges[1],
        ),
    )
    release = replace(release, schema=replace(release.schema, attributes=attributes), groups=groups)
    release.write(tmp_path / "release")
    again = Release.load(tmp_path / "release")
    assert again.to_arrow()["age"].to_pylist()[0] == "0"
    assert same_groups(again.groups, groups)


def test_too_many_records_are_left_out_and_told(release, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_RECORDS", 52)
    written = release.write(tmp_path / "release", records=True)
    assert "records.csv" not in written.files
    assert written.notes == (
        "records.csv was not written: the noisy counts ask for too many records.",
    )
    with pytest.raises(ReleaseError, match="too many records"):
        release.records()
    monkeypatch.setattr(module, "MOST_RECORDS", 53)
    assert release.records().num_rows == 53


def test_a_failure_while_writing_leaves_no_release(release, tmp_path, monkeypatch):
    def failing(*_: object, **_named: object) -> str:
        raise RuntimeError("no")

    monkeypatch.setattr(module, "render_report", failing)
    with pytest.raises(RuntimeError):
        release.write(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_the_groups_come_as_the_callers_own_kind_of_dataframe(release):
    rows = release.to_arrow().to_pylist()
    assert release.to_pandas().to_dict("records") == rows
    assert release.to_polars().to_dicts() == rows
    assert isinstance(release.to_native(pd.DataFrame()), pd.DataFrame)
    assert isinstance(release.to_native(pl.DataFrame()), pl.DataFrame)
    assert isinstance(release.to_native(pa.table({"a": [1]})), pa.Table)


def test_a_release_shows_its_name_and_size_only(release):
    assert repr(release) == "Release('people & <jobs>', 5 groups)"


def test_labels_with_an_apostrophe_that_earlier_releases_wrote_are_still_read(tmp_path):
    """They shielded every sign, also where no spreadsheet would run anything."""
    labels = ["50000+.", "- 50000.", "=x", "'-y"]
    for written in (["- 50000.", "'=x", "'-y"], ["'- 50000.", "'=x", "''-y"]):
        column = pa.chunked_array([pa.array(written).dictionary_encode()])
        found = reading._positions(column, labels, True, tmp_path / "release.csv")
        assert found.tolist() == [1, 2, 3]
    wrong = pa.chunked_array([pa.array(["'- 50000.", "-y"]).dictionary_encode()])
    with pytest.raises(ReleaseError):
        reading._positions(wrong, labels, True, tmp_path / "release.csv")


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_dataframe_of_a_library_that_is_absent_says_what_to_do(release, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=f"pip install {library}"):
        getattr(release, f"to_{library}")()
