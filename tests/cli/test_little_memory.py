"""Under a small limit of memory libraries fail to load, in errors of any kind: what is said."""

from __future__ import annotations

import importlib
import sys

import pytest

from hedgerow.cli.main import run_command

resource = pytest.importorskip("resource")

UNLIMITED = resource.RLIM_INFINITY


def failing() -> None:
    raise NameError("PyLazyFrame")


@pytest.fixture
def limited(monkeypatch):
    def to(limit: int) -> None:
        monkeypatch.setattr(resource, "getrlimit", lambda _kind: (limit, UNLIMITED))

    return to


def test_an_unexpected_error_under_a_small_limit_is_one_of_memory(limited, capsys):
    limited(500 << 20)
    with pytest.raises(SystemExit) as ended:
        run_command(failing)
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert "Memory probably ran out" in told
    assert "500 MB" in told
    assert "ulimit -v" in told
    assert "PyLazyFrame" not in told


@pytest.mark.parametrize("limit", [UNLIMITED, 4 << 30])
def test_with_memory_enough_it_is_an_internal_error(limited, capsys, limit):
    limited(limit)
    with pytest.raises(SystemExit) as ended:
        run_command(failing)
    assert ended.value.code == 70
    assert "bug in hedgerow" in capsys.readouterr().err


@pytest.mark.parametrize("loaded", [False, True])
def test_it_says_that_nothing_was_booked_only_if_nothing_that_books_was_loaded(
    limited, capsys, monkeypatch, loaded
):
    books = importlib.import_module("hedgerow.pipeline.publish")
    monkeypatch.delitem(sys.modules, books.__name__)
    if loaded:
        monkeypatch.setitem(sys.modules, books.__name__, books)
    limited(500 << 20)
    with pytest.raises(SystemExit):
        run_command(failing)
    assert ("Nothing was booked." in capsys.readouterr().err) is not loaded
