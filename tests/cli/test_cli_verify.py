"""`hedgerow verify`, `sign` and `signing-key`, as they are typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hedgerow.cli.main import main


@pytest.fixture
def typed(monkeypatch, capsys, tmp_path, release):
    """A function that runs a command in a folder with a release, and returns what came of it."""
    release.write(tmp_path / "release")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hedgerow", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def test_a_release_is_signed_and_verified_as_typed(typed):
    assert typed("verify", "release")[0] == 0
    code, out, _ = typed("signing-key", "maker.key", "--json")
    assert (code, json.loads(out)["public"]) == (0, "maker.key.pub")
    code, out, _ = typed("sign", "release", "--signing-key", "maker.key")
    assert (code, out.startswith("release: signed by the key")) == (0, True)
    code, out, _ = typed("verify", "release", "--public-key", "maker.key.pub")
    assert (code, out.splitlines()[0]) == (0, "release: intact, maker proved")


def test_the_answer_names_what_is_wrong_and_the_exit_code_is_1(typed):
    Path("release/release.csv").write_text("age\n")
    code, out, _ = typed("verify", "release")
    assert code == 1
    assert out.splitlines()[:2] == [
        "release: not intact",
        "  release.csv: is not the file that the certificate lists",
    ]
    code, out, _ = typed("verify", "release", "--json")
    told = json.loads(out)
    assert (code, told["intact"], told["passed"]) == (1, False, False)
    assert told["faults"][0]["file"] == "release.csv"


def test_without_a_signature_the_maker_is_not_proved_and_a_key_makes_that_the_answer(typed):
    code, out, _ = typed("verify", "release")
    assert (code, out.splitlines()[0]) == (0, "release: intact, maker not proved")
    typed("signing-key", "maker.key")
    assert typed("verify", "release", "--public-key", "maker.key.pub")[0] == 1
    told = json.loads(typed("verify", "release", "--public-key", "maker.key.pub", "--json")[1])
    assert (told["intact"], told["passed"], told["maker"]) == (True, False, "not proved")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["verify", "nowhere"], "not a folder"),
        (["verify", "release/release.csv"], "not a folder"),
        (["verify", "release", "--public-key", "nowhere"], "cannot be read"),
        (["verify", "release", "--public-key", "release/release.csv"], "in the release folder"),
        (["verify", "release", "--expect", "1"], "not a fingerprint"),
        (["sign", "release", "--signing-key", "nowhere"], "cannot be read"),
        (["signing-key", "release"], "exists already"),
        (["signing-key", "no/such/place"], "cannot be written"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(typed, words, what):
    code, _, err = typed(*words)
    assert code == 2
    assert what in err
    assert "Traceback" not in err


def test_names_that_nobody_sees_are_written_out(typed):
    Path("release/\u202ecsv.exe").write_text("")
    Path("release/\ud800bad".encode("utf-8", "surrogatepass").decode("latin-1")).write_text("")
    code, out, _ = typed("verify", "release")
    assert code == 1
    assert "\u202e" not in out
    assert "\\u202e" in out
