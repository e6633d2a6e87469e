"""The whole way in a real browser, with the mouse and by keyboard; slow, so part of the audit."""

from __future__ import annotations

import pytest


@pytest.mark.audit
@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_from_a_table_to_a_release_in_a_browser(way, root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "tools"))
    from pages import NotThereError

    import studio as tool

    try:
        shots = tmp_path if way == "mouse" else None
        found = tool.walked(way, scratch=root / ".pages", shots=shots)
    except NotThereError as error:
        pytest.skip(str(error))
    assert found["steps"][-1] == "words looked up"
    assert tool.complaints(found) == []
    assert len(found["views"]) == (80 if way == "mouse" else 0)
