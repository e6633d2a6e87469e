"""`publish(out=hedgerow.Output(...))` says what is written; former keywords still work."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hedgerow
from hedgerow.errors import SettingError

PLAN = {
    "attributes": {"age": {"numeric": [0, 99]}},
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 2},
}
TABLE = pa.table({"age": [20, 70] * 200})


def test_an_output_says_which_files_are_written(tmp_path):
    output = hedgerow.Output(folder=tmp_path / "a", records=True, parquet=True)
    hedgerow.publish(PLAN, data=TABLE, seed=1, out=output)
    names = {each.name for each in (tmp_path / "a").iterdir()}
    assert {"records.csv", "release.parquet", "release.csv"} <= names


def test_a_path_writes_neither_records_nor_parquet(tmp_path):
    hedgerow.publish(PLAN, data=TABLE, seed=1, out=tmp_path / "a")
    names = {each.name for each in (tmp_path / "a").iterdir()}
    assert not {"records.csv", "release.parquet"} & names


def test_former_keywords_work_with_a_warning(tmp_path):
    with pytest.warns(DeprecationWarning, match=r"records, force. Give out=hedgerow\.Output"):
        hedgerow.publish(PLAN, data=TABLE, seed=1, out=tmp_path / "a", records=True, force=False)
    assert (tmp_path / "a" / "records.csv").exists()


def test_a_folder_is_replaced_only_by_force(tmp_path):
    hedgerow.publish(PLAN, data=TABLE, seed=1, out=tmp_path)
    with pytest.raises(hedgerow.errors.ReleaseError):
        hedgerow.publish(PLAN, data=TABLE, seed=2, out=tmp_path)
    replaced = hedgerow.Output(folder=tmp_path, force=True)
    release = hedgerow.publish(PLAN, data=TABLE, seed=2, out=replaced)
    assert hedgerow.Release.load(tmp_path).digest == release.digest


def test_a_release_that_is_not_written_is_not_signed():
    with (
        pytest.warns(DeprecationWarning, match="sign"),
        pytest.raises(SettingError, match="cannot be signed"),
    ):
        hedgerow.publish(PLAN, data=TABLE, seed=1, sign="hospital.key")


def test_a_folder_has_a_name():
    with pytest.raises(SettingError, match="The name is empty"):
        hedgerow.Output(folder="")
