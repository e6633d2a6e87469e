"""`publish --signing-key`: signed at once, the key tried first, known again, and recovered."""

from __future__ import annotations

from pathlib import Path

import pytest

import hedgerow
from hedgerow.errors import KeptReleaseError, SettingError
from hedgerow.ledger.ledger import Ledger
from hedgerow.release import write
from hedgerow.release.signing_keys import KeyFileError, make_key_pair
from support.fault_cases import Case
from support.once_booked import once_booked


@pytest.fixture
def keys(case: Case) -> tuple[Path, Path]:
    private, public, _ = make_key_pair(case.folder / "maker.key")
    return private, public


def test_a_release_is_signed_as_it_is_written(case: Case, keys: tuple[Path, Path]) -> None:
    hedgerow.publish("plan.yaml", out=hedgerow.Output(folder=case.out, signing_key=keys[0]))
    assert hedgerow.verify(case.out, key=keys[1]).maker == "proved"
    assert "signature.json" in (case.out / "report.html").read_text(encoding="utf-8")
    assert (case.out / "signature.json").stat().st_mode & 0o777 == 0o644


def test_a_key_that_cannot_be_used_costs_nothing(case: Case, keys: tuple[Path, Path]) -> None:
    keys[0].chmod(0o644)
    with pytest.raises(KeyFileError, match="accessible to other users"):
        hedgerow.publish("plan.yaml", out=hedgerow.Output(folder=case.out, signing_key=keys[0]))
    with pytest.raises(KeyFileError, match="cannot be read"):
        hedgerow.publish(
            "plan.yaml", out=hedgerow.Output(folder=case.out, signing_key=case.folder / "nowhere")
        )
    with pytest.raises(SettingError, match="A release that is not written cannot be signed"):
        hedgerow.publish("plan.yaml", sign=keys[0])
    assert case.states() == []
    assert not case.out.exists()


def test_the_same_run_with_a_key_signs_what_is_in_place(
    case: Case, keys: tuple[Path, Path]
) -> None:
    hedgerow.publish("plan.yaml", out=case.out)
    with pytest.warns(UserWarning, match="(?i)nothing was read or spent"):
        hedgerow.publish("plan.yaml", out=hedgerow.Output(folder=case.out, signing_key=keys[0]))
    assert hedgerow.verify(case.out, key=keys[1]).passed
    for sign in (keys[0], None):  # and a signed release is known again, with or without the key
        with pytest.warns(UserWarning, match="(?i)nothing was read or spent"):
            hedgerow.publish("plan.yaml", out=hedgerow.Output(folder=case.out, signing_key=sign))
    assert case.states() == ["released"]


def test_a_signed_release_is_recovered_with_its_signature(
    case: Case, keys: tuple[Path, Path]
) -> None:
    def taken() -> None:
        case.monkeypatch.setattr(write, "_move_into_place", refused)

    def refused(*_given: object, **_settings: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    once_booked(case.monkeypatch, taken)
    with pytest.raises(KeptReleaseError) as told:
        hedgerow.publish("plan.yaml", out=hedgerow.Output(folder=case.out, signing_key=keys[0]))
    case.monkeypatch.undo()
    hedgerow.recover(told.value.kept, ledger=case.ledger)
    assert hedgerow.verify(case.out, key=keys[1]).passed
    (entry,) = Ledger(case.ledger).entries("wards")
    assert entry.state == "released"
