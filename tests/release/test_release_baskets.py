"""Releases of baskets: their files, what comes back from them, and counting queries."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import InputError, InternalError, ReleaseError
from hedgerow.model import certificate as parts
from hedgerow.model.baskets import EncodedBaskets, NoisyBaskets
from hedgerow.model.groups import CountOrigin
from hedgerow.model.precision import deviation, within
from hedgerow.release.basket_files import read_csv, separator_of
from hedgerow.release.baskets import BasketRelease
from hedgerow.taxonomy.builders import context_free

SHARE = Fraction(1, 2)
AWKWARD = ["=milk", "-tea", "a,b", 'say"x"', "<b>", "7", "ü"]
SPACED = ["red apples", "milk", "@home", "'quoted"]


def noisy(items, counted, share=SHARE):
    taxonomy = context_free(items, fan_out=3)
    records = EncodedBaskets.from_sets(taxonomy, [basket for basket, _ in counted])
    return NoisyBaskets.sorted_of(
        taxonomy,
        offsets=records.offsets,
        items=records.items,
        counts=np.array([count for _, count in counted], dtype=np.int64),
        origin=CountOrigin(share=share, threshold=3, lowered_by=None),
    )


def release_of(items, counted):
    baskets = noisy(items, counted)
    certificate = parts.Certificate(
        created=date(2026, 1, 31),
        guarantee=parts.Guarantee.differential_privacy(
            Fraction(1), reproducible=False, unit="records"
        ),
        method=parts.CertifiedMethod(name="diffpart", faithful=False, settings={"epsilon": 1}),
        counts=parts.CountNoise(share=SHARE, within_95=within(SHARE), threshold=3),
        budget=parts.Budget(
            spends=(
                parts.Spend(on="tests", share=SHARE, of_epsilon=SHARE),
                parts.Spend(on="counts", share=SHARE, of_epsilon=SHARE),
            ),
            total=Fraction(1),
        ),
        departures=(),
        assumed_public=(parts.Assumed(what="the universe", sha256="a" * 64),),
        randomness=parts.Randomness(source="operating system", reproducible=False),
        data=parts.Data(
            name="shop & <co>",
            attributes=(),
            items=parts.DescribedItems(size=len(items), height=2),
            noisy_total=int(baskets.counts.sum()),
        ),
        ledger=None,
        engine="memory",
        versions={"hedgerow": "0"},
        plan_sha256="b" * 64,
    )
    return BasketRelease(baskets=baskets, certificate=certificate)


COUNTED = [({1, 2}, 4), ({0}, 20), ({0, 1, 2}, 3), ({3}, 9)]


def contents(release):
    rows = release.to_arrow().to_pylist()
    return [(row["items"], row["count"]) for row in rows]


def expected(items, counted):
    return [([items[code] for code in sorted(basket)], n) for basket, n in counted]


@pytest.mark.parametrize("items", [AWKWARD, SPACED, [str(n) for n in range(1, 18)]])
def test_what_was_written_comes_back(tmp_path, items):
    release = release_of(items, COUNTED)
    written = release.write(tmp_path / "out", parquet=True)
    assert written.files == (
        "certificate.json",
        "datapackage.json",
        "dictionary.csv",
        "release.csv",
        "release.dat",
        "release.parquet",
        "report.html",
        "universe.json",
    )
    again = BasketRelease.load(tmp_path / "out")
    assert contents(again) == contents(release)
    assert again.taxonomy == release.taxonomy
    assert again.baskets.origin == release.baskets.origin
    assert again.digest == release.digest
    assert pq.read_table(tmp_path / "out" / "release.parquet").to_pylist() == (
        release.to_arrow().to_pylist()
    )


def test_baskets_are_sorted_by_their_codes_whatever_order_they_were_found_in():
    release = release_of(AWKWARD, COUNTED)
    order = [({0}, 20), ({0, 1, 2}, 3), ({1, 2}, 4), ({3}, 9)]
    assert contents(release) == expected(AWKWARD, order)


@given(sets=st.sets(st.frozensets(st.integers(0, 6), min_size=1), max_size=20), data=st.data())
def test_the_canonical_order_is_that_of_lists_of_codes(sets, data):
    given_order = data.draw(st.permutations(sorted(map(sorted, sets))))
    baskets = noisy(AWKWARD, [(basket, at + 1) for at, basket in enumerate(given_order)])
    bounds = baskets.offsets.tolist()
    codes = [baskets.items[a:b].tolist() for a, b in pairwise(bounds)]
    assert codes == sorted(given_order)
    assert [given_order[count - 1] for count in baskets.counts.tolist()] == codes


def test_a_basket_without_a_positive_count_is_not_published():
    assert contents(release_of(AWKWARD, [({0}, 0), ({1}, -3), ({2}, 1)])) == [(["a,b"], 1)]
    taxonomy = context_free(AWKWARD, fan_out=3)
    with pytest.raises(InternalError):
        NoisyBaskets(
            taxonomy=taxonomy,
            offsets=np.array([0, 1]),
            items=np.zeros(1, dtype=np.uint16),
            counts=np.zeros(1, dtype=np.int64),
        )


def test_the_dat_file_repeats_every_basket_as_often_as_its_count(tmp_path):
    release_of([f"i{n}" for n in range(9)], COUNTED).write(tmp_path / "out")
    lines = (tmp_path / "out" / "release.dat").read_text().splitlines()
    assert Counter(lines) == {"i1 i2": 4, "i0": 20, "i0 i1 i2": 3, "i3": 9}
    assert lines == sorted(lines)


def test_items_with_blanks_stand_apart_by_tabs(tmp_path):
    release_of(SPACED, COUNTED).write(tmp_path / "out")
    assert separator_of(context_free(SPACED, fan_out=2)) == "\t"
    lines = (tmp_path / "out" / "release.dat").read_text().splitlines()
    assert "red apples\tmilk\t@home" in lines


def test_baskets_that_earlier_releases_shielded_are_still_read(tmp_path):
    labels = ["-tea", "=milk", "rum"]
    taxonomy = context_free(labels, fan_out=2)
    for text in ("-tea rum,3\n'=milk,4\n", "'-tea rum,3\n'=milk,4\n"):
        (tmp_path / "release.csv").write_text("items,count\n" + text)
        found = read_csv(tmp_path / "release.csv", taxonomy, origin=None)
        assert found.items.tolist() == [0, 2, 1]
        assert found.counts.tolist() == [3, 4]


def test_the_csv_file_is_safe_in_spreadsheets(tmp_path):
    release_of(AWKWARD, COUNTED).write(tmp_path / "out")
    text = (tmp_path / "out" / "release.csv").read_text(encoding="utf-8")
    assert text.splitlines()[:3] == ["items,count", "'=milk,20", '"\'=milk -tea a,b",3']
    frame = pl.read_csv(tmp_path / "out" / "release.csv")
    assert frame["count"].to_list() == [20, 3, 4, 9]


def test_an_empty_release_can_be_written_and_read(tmp_path):
    release = release_of(AWKWARD, [])
    release.write(tmp_path / "out")
    assert (tmp_path / "out" / "release.dat").read_text() == ""
    assert contents(BasketRelease.load(tmp_path / "out")) == []
    assert "Nothing was published" in (tmp_path / "out" / "report.html").read_text()
    assert release.count(["7"]) == (0, deviation(SHARE))


@pytest.mark.parametrize("name", ["release.csv", "universe.json"])
def test_a_file_that_was_changed_is_refused(tmp_path, name):
    release_of(AWKWARD, COUNTED).write(tmp_path / "out")
    with (tmp_path / "out" / name).open("a") as file:
        file.write(" ")
    with pytest.raises(ReleaseError, match="certificate lists"):
        BasketRelease.load(tmp_path / "out")


def test_a_release_of_a_table_is_not_one_of_baskets(tmp_path, release):
    release.write(tmp_path / "out")
    with pytest.raises(ReleaseError, match="holds a table"):
        BasketRelease.load(tmp_path / "out")


@given(
    counted=st.dictionaries(
        st.frozensets(st.integers(0, 6), min_size=1), st.integers(1, 50), max_size=12
    ),
    asked=st.sets(st.integers(0, 6)),
)
def test_a_count_adds_up_the_baskets_that_hold_the_items(counted, asked):
    release = release_of(AWKWARD, list(counted.items()))
    answer = release.count([AWKWARD[code] for code in asked])
    matching = [n for basket, n in counted.items() if asked <= basket]
    assert answer.estimate == sum(matching)
    noise = deviation(SHARE) * math.sqrt(max(1, len(matching)))
    assert answer.standard_error == pytest.approx(noise)


def test_where_every_basket_was_counted_all_of_their_noise_is_in_the_answer():
    certificate = release_of(AWKWARD, COUNTED).certificate
    baskets = noisy(AWKWARD, COUNTED, share=Fraction(1))
    release = BasketRelease(baskets=baskets, certificate=certificate)
    answer = release.count([AWKWARD[0], AWKWARD[1]])  # 2^5 baskets of 7 items hold both
    assert answer.estimate == 3
    assert answer.standard_error == pytest.approx(deviation(Fraction(1)) * math.sqrt(2**5))


def test_a_count_takes_numbers_and_single_items():
    release = release_of([str(n) for n in range(1, 18)], COUNTED)
    assert release.count([2, 3]).estimate == release.count({"2", "3"}).estimate == 7
    assert release.count("1").estimate == 23


def test_a_count_of_an_unknown_item_is_refused():
    with pytest.raises(InputError, match="'beer' is not an item"):
        release_of(AWKWARD, COUNTED).count(["beer"])


def test_the_release_becomes_the_callers_kind_of_dataframe():
    release = release_of(AWKWARD, COUNTED)
    assert isinstance(release.to_native(pl.DataFrame()), pl.DataFrame)
    assert release.to_polars()["count"].to_list() == [20, 3, 4, 9]
    assert list(release.to_pandas()["count"]) == [20, 3, 4, 9]
    assert repr(release) == "BasketRelease('shop & <co>', 4 baskets)"


def test_asking_for_records_is_answered_with_a_note(tmp_path):
    written = release_of(AWKWARD, COUNTED).write(tmp_path / "out", records=True)
    assert "release.dat holds the records" in written.notes[0]


def test_the_certificate_describes_the_universe(tmp_path):
    release_of(AWKWARD, COUNTED).write(tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert facts["data"]["items"] == {"size": 7, "height": 2, "ordered": False}
    assert facts["data"]["attributes"] == []


def test_the_report_shows_frequent_items_and_baskets_and_escapes_them():
    page = release_of(AWKWARD, COUNTED).report()
    assert "shop &amp; &lt;co&gt;" in page
    hostile = release_of(AWKWARD, [({4}, 30)]).report()
    assert "&lt;b&gt;" in hostile
    assert "<b><b>" not in hostile
    for words in ("The most frequent items", "The most frequent baskets", "release.dat"):
        assert words in page
    assert "=milk, -tea, a,b" in page
    assert "attributes" not in re.sub(r"<style>.*</style>", "", page, flags=re.DOTALL)
    assert "± 6" in page
