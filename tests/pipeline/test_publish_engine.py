"""The engine of a run: as text, as settings, and by the keywords of earlier versions."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hedgerow
from hedgerow.errors import SettingError

PLAN = {
    "attributes": {"age": {"numeric": [0, 99]}},
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 1},
}
DATA = pa.table({"age": [20, 70] * 300})


def digest(**settings):
    return hedgerow.publish(PLAN, data=DATA, seed=1, **settings).digest


def test_text_and_settings_name_the_same_engine():
    settings = hedgerow.EngineSettings.of("stream", memory="1GB")
    assert hedgerow.EngineSettings.of("stream:1GB") == settings
    assert hedgerow.EngineSettings.of("spark:local[4]").master == "local[4]"
    assert digest(engine="stream:1GB") == digest(engine=settings) == digest()


@pytest.mark.parametrize("text", ["memory:1GB", "disk", "disk:1GB", "stream:much"])
def test_an_engine_that_does_not_exist_is_refused(text):
    with pytest.raises(SettingError):
        hedgerow.EngineSettings.of(text)


def test_a_resource_that_is_given_twice_is_refused():
    with pytest.raises(SettingError):
        hedgerow.EngineSettings.of("stream:1GB", memory="2GB")


def test_keywords_of_earlier_versions_work_with_a_deprecation_warning(tmp_path):
    with pytest.warns(DeprecationWarning, match="memory, scratch"):
        old = digest(engine="stream", memory="1GB", scratch=tmp_path)
    assert old == digest(engine="stream:1GB")


def test_keywords_of_earlier_versions_do_not_change_engine_settings():
    settings = hedgerow.EngineSettings.of("stream")
    with (
        pytest.warns(DeprecationWarning, match="memory"),
        pytest.raises(SettingError, match="already"),
    ):
        digest(engine=settings, memory="1GB")


def test_help_names_the_functions_as_the_library_does():
    functions = [name for name in hedgerow.__all__ if name.islower() and name[0] != "_"]
    assert [getattr(hedgerow, name).__name__ for name in functions] == functions
