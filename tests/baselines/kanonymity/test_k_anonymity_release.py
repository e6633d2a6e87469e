"""The k-anonymity baselines from plan to folder: certificate, report, recoding, command line."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import PlanError, ReleaseError
from hedgerow.release.release import Release

AGES = [20 + i * 7 % 50 for i in range(240)]
WARDS = ["ABC?"[i * 5 % 4] for i in range(240)]
ROWS = [
    {"age": age, "ward": ward, "back": "yes" if age > 40 else "no"}
    for age, ward in zip(AGES, WARDS, strict=True)
]
PLAN = """\
data: visits.csv
missing: value
attributes:
  age:  {numeric: [0, 99]}
  ward: {taxonomy: {Any: {Old: [A, B], New: [C]}}}
  back: {role: class, values: ["no", "yes"]}
protects: records
confirmed: true
ledger: {dataset: visits, cap: 2, file: ledger.sqlite}
"""
SETTINGS = {
    "mondrian": ["--method", "mondrian"],
    "mondrian for classification": ["--method", "mondrian", "--for", "classification"],
    "mondrian by order": ["--method", "mondrian", "--strict", "--categories", "order"],
    "relaxed mondrian": ["--method", "mondrian", "--relaxed"],
    "tds": ["--method", "tds"],
    "full-domain": ["--method", "full-domain", "--score", "ncp", "--fan-out", "4"],
    "full-domain with suppression": ["--method", "full-domain", "--suppression", "1/10"],
}


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    with (tmp_path / "visits.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["age", "ward", "back"])
        writer.writeheader()
        writer.writerows(ROWS)
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path / "plan.yaml"


def call(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=list(SETTINGS))
def test_the_command_line_publishes_k_anonymous_groups_and_books_nothing(plan, settings):
    out = plan.parent / "out"
    told = json.loads(call("publish", plan, *settings, "--k", 6, "-o", out, "--json"))
    assert told["epsilon"] is None
    assert told["ledger"] is None
    assert not told["private"]
    with (out / "release.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = Counter()
    for row in rows:
        sizes[row["age"], row["ward"]] += int(row["count"])
    assert min(sizes.values()) >= 6
    assert len(sizes) > 1
    suppressed = "--suppression" in settings
    assert 216 <= sum(sizes.values()) <= 240
    assert suppressed or sum(sizes.values()) == 240
    assert not (plan.parent / "ledger.sqlite").exists()
    again = Release.load(out)
    assert again.n_rows == told["groups"] == len(rows)


def test_generalised_raw_rows_add_up_to_the_release(plan):
    for settings in (SETTINGS["mondrian"], SETTINGS["tds"], SETTINGS["full-domain"]):
        out, rows = plan.parent / "out", plan.parent / "rows.csv"
        call("publish", plan, *settings, "--k", 6, "-o", out, "--force")
        call("generalise", out, plan.parent / "visits.csv", "-o", rows, "--force")
        with rows.open(newline="") as file:
            counted = Counter((r["age"], r["ward"], r["back"]) for r in csv.DictReader(file))
        with (out / "release.csv").open(newline="") as file:
            listed = {
                (r["age"], r["ward"], r["back"]): int(r["count"]) for r in csv.DictReader(file)
            }
        assert counted == listed


def test_relaxed_boxes_overlap_so_that_other_rows_cannot_be_put_in_them(plan):
    call("publish", plan, *SETTINGS["relaxed mondrian"], "--k", 6, "-o", plan.parent / "out")
    with pytest.raises(ReleaseError, match="do not form one cut"):
        call("generalise", plan.parent / "out", plan.parent / "visits.csv")


@pytest.mark.parametrize("method", ["mondrian", "tds", "full-domain"])
def test_certificate_and_report_say_plainly_that_it_is_not_differentially_private(plan, method):
    release = hedgerow.publish(plan, method=method, k=6)
    guarantee = release.certificate.guarantee
    assert guarantee.kind == "none"
    assert guarantee.epsilon is None
    assert guarantee.statement.startswith("Not differentially private.")
    assert "at least k = 6 records" in guarantee.statement
    assert release.certificate.counts is None
    assert release.certificate.method.settings["k"] == 6
    page = " ".join(release.report().split())
    assert "<strong>Not differentially private</strong>" in page
    assert guarantee.statement in page
    assert "exact counts" in page
    assert "adding or removing one person can visibly change the groups" in page
    for word in ("noisy", "ε", "distinguishable from noise", "may be pure noise"):
        assert word not in page.replace("Noisy 1-way marginals", "")


def test_a_private_release_is_still_reported_as_one(plan):
    page = " ".join(hedgerow.publish(plan, method="diffgen", epsilon=1).report().split())
    assert "may be pure noise" in page
    assert "Not differentially private" not in page
    assert "exact counts" not in page


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "mondrian"}, "publish.k"),
        ({"method": "mondrian", "k": 0}, "out of range"),
        ({"method": "tds", "k": True}, "out of range"),
        ({"method": "mondrian", "k": 5, "epsilon": 1}, "does not have this setting"),
        ({"method": "tds", "k": 5, "relaxed": True}, "does not have this setting"),
        ({"method": "mondrian", "k": 5, "relaxed": True, "for": "classification"}, "medians"),
        ({"method": "full-domain", "k": 5, "suppression": 1}, "out of range"),
        ({"method": "full-domain", "k": 5, "fan-out": 1}, "out of range"),
        ({"method": "full-domain", "k": 5, "score": "max"}, "discernibility"),
    ],
)
def test_settings_that_make_no_sense_are_refused(plan, settings, message):
    with pytest.raises(PlanError, match=message):
        hedgerow.publish(plan, **settings)


def test_classification_needs_a_class(plan):
    plan.write_text(PLAN.replace("role: class, ", ""))
    for settings in ({"method": "tds"}, {"method": "mondrian", "for": "classification"}):
        with pytest.raises(PlanError, match="class"):
            hedgerow.publish(plan, k=3, **settings)
    assert hedgerow.publish(plan, method="mondrian", k=3).groups.classes is None
