"""What plans, certificates and reports say of DiffGen's number of specialisations."""

from __future__ import annotations

import pandas as pd
import pytest

import hedgerow
from hedgerow.errors import InputError
from hedgerow.pipeline.check import check

ROWS = pd.DataFrame(
    {
        "age": [30, 50, 70, 90] * 100,
        "ward": ["a", "b", "c", "d"] * 100,
        "ill": ["no", "no", "yes", "yes"] * 100,
    }
)


def plan(**publish):
    return {
        "attributes": {
            "age": {"numeric": [0, 127]},
            "ward": {"values": ["a", "b", "c", "d"]},
            "ill": {"role": "class", "values": ["no", "yes"]},
        },
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "diffgen", "epsilon": 1, **publish},
        "ledger": {"dataset": "wards", "cap": 10},
    }


def released(tmp_path, **publish):
    given = plan(**publish)
    given["ledger"]["file"] = str(tmp_path / "ledger.sqlite")
    return hedgerow.publish(given, data=ROWS, seed=1)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"h": 3}, "3 of 3"),
        ({"h": 500, "faithful": True}, "128 of 500; every further one would make a cut too large"),
        ({"h": "auto"}, "4 of 4, by a noisy number of records"),
        ({"h": "auto", "faithful": True}, " of 4, by a noisy number of records"),
    ],
)
def test_the_certificate_and_the_report_say_how_many_specialisations_were_made(
    tmp_path, settings, told
):
    release = released(tmp_path, **settings)
    assert told in release.certificate.method.details["specialisations"]
    release.write(tmp_path / "release")
    report = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert f"Specialisations: {release.certificate.method.details['specialisations']}" in report


def test_going_to_the_leaves_makes_no_specialisation_to_tell_of(tmp_path):
    assert "specialisations" not in released(tmp_path, h="all").certificate.method.details


def test_check_foretells_an_early_end():
    notes = " ".join(check(plan(h=500, faithful=True)).outline.notes)
    assert "to 500 specialisations will be made" in notes
    assert "specialisations will be made" not in " ".join(check(plan(h=3)).outline.notes)


@pytest.mark.parametrize("h", ["automatic", 1.5, -1, True])
def test_another_h_is_refused_with_what_may_be_given(h):
    with pytest.raises(InputError, match="auto or all"):
        check(plan(h=h))
