"""The server: on this machine alone, with a way in that nobody else can read."""

from __future__ import annotations

import stat
import sys

import pytest

from hedgerow.cli.main import make_app
from hedgerow.errors import InputError, MissingExtraError
from hedgerow.studio import server
from hedgerow.studio.security import StartKeys


def test_the_token_reaches_the_browser_through_a_file_of_its_owner():
    keys = StartKeys(port=1)
    with server.way_in(keys.address()) as file:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert keys.entry in file.read_text()
        assert keys.entry not in file.as_uri()
    assert not file.exists()


def test_it_listens_on_the_loopback_address_alone():
    with server.bound(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        with pytest.raises(InputError), server.bound(listening.getsockname()[1]):
            pass


def test_every_start_has_a_name_of_its_own():
    one, two = StartKeys(port=1), StartKeys(port=1)
    assert one.name != two.name
    assert one.name.endswith(".localhost")
    assert server.entered_by(one) in one.hosts


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "hedgerow.studio.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"hedgerow\[studio\]"):
        make_app()(["studio"], standalone_mode=False)
