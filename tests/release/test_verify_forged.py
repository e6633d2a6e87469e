"""A certificate without a signature cannot be edited alone: every fact of it is compared.

A forger changes one fact and makes all digests anew. A careful one makes `datapackage.json` anew
as well, which repeats the whole certificate; then what follows from other facts, from the public
domains, the tables and the report is still found.
"""

from __future__ import annotations

import json
import shutil
import warnings
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import HedgerowError
from hedgerow.model.certificate import Certificate
from hedgerow.release.claims import unfounded
from hedgerow.release.coherence import contradictions
from hedgerow.release.restated import ReportText
from hedgerow.release.signing_keys import make_key_pair
from support.certificates import resealed
from support.disclosure_tables import METHODS as DISCLOSURES
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.engine_plans import basket_plan, sequence_plan, table_plan, write_baskets, write_table
from support.forged import forged, leaves, pattern, with_package

UNDETERMINED = {
    "ledger.chain": "keyed: only the owner of the ledger can check it (ledger verify --releases)",
    "confirmed.plan-sha256": "the fingerprint of a plan that is not in the folder",
    "counts.lowered-by": "a report says nothing of counts that were not lowered, as noise has it",
    "budget.spends.[].on": "the report puts lines of one kind together, whatever follows the colon",
}
"""Facts that a careful forger can change unseen, since no other file than the package has them."""

ONE = {"one-record-per-person": True}


def with_unit(plan, unit):
    """Return a plan with another privacy unit."""
    return {key: value for key, value in plan.items() if key != "protects"} | unit


KINDS = {
    "hedge": table_plan(("hedge", {})),
    "weave": with_unit(table_plan(("weave", {})), ONE),
    "diffgen": with_unit(table_plan(("diffgen", {"h": 3})), ONE),
    "truthful": with_unit(table_plan(("truthful", {"delta": "1/100"})), ONE),
    "signed": with_unit(table_plan(("hedge", {})), ONE),
    "mondrian": table_plan(("mondrian", {"k": 5})),
    "coterie": basket_plan(("coterie", {})),
    "diffpart": basket_plan(("diffpart", {})),
    "chain": sequence_plan(("chain", {})),
    "people": with_unit(table_plan(("hedge", {})), {"person": "note", "records-per-person": 400}),
    "disclosed": {},
    "seeded": table_plan(("diffgen", {"h": 3})),
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("forged")
    table, sets = write_table(folder / "t.csv"), write_baskets(folder / "s.dat", n=300)
    found = {kind: folder / kind for kind in KINDS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hedgerow.errors.PublishNotice)
        for kind, plan in KINDS.items():
            if kind == "disclosed":
                told = disclosure_plan(**DISCLOSURES["aruba"])
                hedgerow.disclose(told, data=patients(), out=found[kind])
                continue
            is_table = "attributes" in plan
            ledger = {"dataset": kind, "cap": 20, "delta-cap": "1/2"}
            told = {**plan, "ledger": {**ledger, "file": str(folder / "ledgers" / kind)}}
            if kind == "signed":
                told = hedgerow.confirm(told, by="A. Officer", approve=True, why="for the test")
            hedgerow.publish(
                told,
                data=table if is_table else sets,
                out=found[kind],
                even_if_noise=True,
                **({"seed": 5} if kind == "seeded" else {}),
            )
    return found


@pytest.fixture(autouse=True)
def _reports_are_read_once(monkeypatch):
    monkeypatch.setattr(ReportText, "of", cache(ReportText.of))


def passes(folder: Path, certificate: str) -> bool:
    """Return what `verify` would say, whose digests of files fit as the forger made them."""
    try:
        found = Certificate.from_json(certificate)
    except HedgerowError:
        return False
    return not contradictions(folder, found) and not unfounded(folder, found)


@pytest.mark.parametrize("kind", KINDS)
def test_no_fact_of_a_certificate_can_be_changed_alone(releases, kind, tmp_path):
    folder = tmp_path / kind
    shutil.copytree(releases[kind], folder)
    facts = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert passes(folder, resealed(facts))
    assert hedgerow.verify(folder).intact
    assert sum(1 for _ in leaves(facts)) > 80
    changes = forged(facts, most=1)
    assert {pattern(path) for path, each in changes if passes(folder, resealed(each))} == set()
    changed = resealed(facts | {"created": "2020-02-02"})
    (folder / "certificate.json").write_text(changed, encoding="utf-8")
    assert not hedgerow.verify(folder).intact


@pytest.mark.parametrize("kind", KINDS)
def test_a_careful_forger_is_found_wherever_a_fact_follows_from_others(releases, kind, tmp_path):
    folder = tmp_path / kind
    shutil.copytree(releases[kind], folder)
    facts = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert passes(folder, with_package(folder, facts))  # the forger's own package is as good
    unseen = {
        pattern(path)
        for path, changed in forged(facts)
        if passes(folder, with_package(folder, changed))
    }
    assert unseen <= set(UNDETERMINED)


def test_a_certificate_that_claims_more_privacy_is_found(releases, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(releases["mondrian"], folder)
    facts = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    private = json.loads((releases["diffgen"] / "certificate.json").read_text(encoding="utf-8"))
    for part in ("guarantee", "budget", "counts", "ledger"):
        facts[part] = private[part]
    assert not passes(folder, with_package(folder, facts))
    shutil.copytree(releases["seeded"], tmp_path / "seeded")
    seeded = json.loads((releases["seeded"] / "certificate.json").read_text(encoding="utf-8"))
    for part in ("guarantee", "randomness", "ledger"):
        seeded[part] = private[part]
    assert not passes(tmp_path / "seeded", with_package(tmp_path / "seeded", seeded))


def test_a_guarantee_is_a_claim_until_it_is_signed(releases, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(releases["hedge"], folder)
    private, public, _ = make_key_pair(tmp_path / "maker.key")

    def shown(*given: str) -> str:
        result = CliRunner().invoke(app, ["verify", str(folder), *given], catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    assert "\nclaims: Differentially private with epsilon = 2" in shown()
    assert json.loads(shown("--json"))["statement-is"] == "claimed"
    hedgerow.sign(folder, key=private)
    assert "\nclaims: Differentially private" in shown()  # signed, but nobody checked by whom
    assert "\nDifferentially private with epsilon = 2" in shown("--public-key", str(public))
    assert json.loads(shown("--json", "--public-key", str(public)))["statement-is"] == "signed"
