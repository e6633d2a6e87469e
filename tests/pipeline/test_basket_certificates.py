"""What certificates and reports of baskets say about the variant that was run."""

from __future__ import annotations

import polars as pl
import pytest

import hedgerow

PLAN = {
    "items": {"universe": ["bread", "eggs", "milk", "tea"], "fan-out": 2, "column": "bought"},
    "protects": "records",
    "confirmed": True,
    "ledger": {"dataset": "receipts", "cap": 2},
}
RECORDS = [["milk", "bread"], ["eggs"], ["milk"], ["milk", "tea", "milk"]] * 100


@pytest.mark.parametrize(
    ("settings", "listed"),
    [
        ({"faithful": True}, {"c1", "c2"}),
        ({"faithful": True, "c1": 2, "c2": 3}, {"c1", "c2"}),
        ({}, {"false-positives", "max-length"}),
        ({"max-length": 2}, {"false-positives", "max-length"}),
    ],
)
def test_the_certificate_lists_the_settings_of_its_variant_alone(settings, listed):
    plan = {**PLAN, "publish": {"method": "diffpart", "epsilon": 1, **settings}}
    frame = pl.DataFrame({"bought": RECORDS})
    certificate = hedgerow.publish(plan, data=frame, seed=1).certificate
    assert set(certificate.method.settings) == {"method", "epsilon", "faithful", *listed}
    [words] = [a.what for a in certificate.assumed_public if a.what.startswith("the settings")]
    assert {"false-positives", "c1"} & set(words.replace(",", "").split()) == {
        "false-positives", "c1"
    } & listed  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"faithful": True, "c1": 9}, "is below a threshold of at least 16 are omitted"),
        ({"max-length": 2}, "drawn from their noisy total"),
        ({}, "This applies to every possible basket"),
    ],
)
def test_the_report_says_what_became_of_rare_baskets(tmp_path, settings, words):
    plan = {**PLAN, "publish": {"method": "diffpart", "epsilon": 1, **settings}}
    release = hedgerow.publish(plan, data=pl.DataFrame({"bought": RECORDS * 20}), seed=1)
    release.write(tmp_path / "out")
    page = " ".join((tmp_path / "out" / "report.html").read_text().split())
    assert words in page
    assert "boxes" not in page
