"""Ready taxonomies: every spelling has one leaf, every block its chapter, and plans read them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import TaxonomyError, UnlistedValueError
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table
from hedgerow.release.domains import describe
from hedgerow.taxonomy.ready.catalogue import READY, ready_taxonomy
from hedgerow.taxonomy.ready.diagnoses import icd10_leaf
from hedgerow.taxonomy.ready.spelling import package_lines, plain_spelling

ALL = pytest.mark.parametrize("name", READY)
FILES = ["countries", "us-states", "isced", "months"]


def way(name, text):
    taxonomy = READY[name]
    tree = taxonomy.tree
    return [tree.labels[node] for node in tree.path(tree.find(taxonomy.leaf_of(text)))]


@ALL
def test_each_is_a_tree_with_source_and_licence(name):
    taxonomy = READY[name]
    assert taxonomy.tree.n_leaves >= 10
    assert taxonomy.tree is taxonomy.tree  # made once
    for word in (taxonomy.title, taxonomy.values, taxonomy.source, taxonomy.licence):
        assert len(word) > 3
    for leaf in taxonomy.tree.leaf_labels:
        assert taxonomy.leaf_of(leaf) == leaf


@ALL
@settings(max_examples=30)
@given(text=st.text(max_size=12) | st.from_regex(r"[A-Z0-9.+\-\[\)]{0,8}", fullmatch=True))
def test_any_text_has_one_leaf_or_none(name, text):
    leaf = READY[name].leaf_of(text)
    assert leaf is None or leaf in READY[name].tree.leaf_code


@pytest.mark.parametrize("name", FILES)
def test_no_spelling_stands_for_two_values(name):
    owners: dict[str, set[str]] = {}
    for line in package_lines(name):
        _, leaf, aliases = line.split("|")
        for spelling in {plain_spelling(word) for word in (leaf, *aliases.split("; "))}:
            owners.setdefault(spelling, set()).add(leaf)
            if spelling.isdigit():
                owners.setdefault(str(int(spelling)), set()).add(leaf)
    assert not {word: leaves for word, leaves in owners.items() if len(leaves) > 1}


@pytest.mark.parametrize(
    ("name", "texts", "leaf"),
    [
        ("countries", ["Germany", "germany", "DE", "deu", "276", "Deutschland"], "Germany"),
        ("countries", ["United-States", "U.S.A.", "usa", "840"], "United States"),
        ("countries", ["Cote d'Ivoire", "CIV", "Ivory Coast"], "Côte d'Ivoire"),
        ("countries", ["004", "4", "AF"], "Afghanistan"),
        ("us-states", ["California", "CA", "ca", "06", "6"], "California"),
        ("zip3", ["90210", "90210-1234", "902101234", "902", "902xx"], "902"),
        ("zip3", ["02139", "2139", "021"], "021"),
        ("icd-10", ["I21.4", "I214", "i21", "I21.-", "I21.4*"], "I21"),
        (
            "isced",
            ["3", "ISCED 3", "ED3", "level 3", "344", "Upper secondary"],
            "3 upper secondary",
        ),
        ("months", ["3", "03", "Mar", "MÄRZ", "march", "mars"], "March"),
        ("age-bands", ["35", "39.9", "35-39", "[35,40)", "35 to 39"], "35-39"),
        ("age-decades", ["[70-80)", "70-79", "71"], "70-79"),
        ("year-months", ["2020-03", "2020-03-31", "2020-03-31 12:00"], "2020-03"),
    ],
)
def test_spellings_of_one_value(name, texts, leaf):
    assert {READY[name].leaf_of(text) for text in texts} == {leaf}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("countries", "Atlantis"),
        ("us-states", "XX"),
        ("zip3", "9021"[:2]),
        ("icd-10", "250.83"),
        ("icd-10", "I2"),
        ("isced", "tertiary"),
        ("age-bands", "30-39"),
        ("age-bands", "(35,40]"),
        ("age-decades", "500"),
        ("years", "87"),
    ],
)
def test_what_is_outside_has_no_leaf(name, text):
    assert READY[name].leaf_of(text) is None


def test_countries_stand_in_the_regions_of_the_united_nations():
    assert way("countries", "DE") == ["World", "Europe", "Western Europe", "Germany"]
    assert way("countries", "KE")[1:4] == ["Africa", "Sub-Saharan Africa", "Eastern Africa"]
    regions = Counter(way("countries", leaf)[1] for leaf in READY["countries"].tree.leaf_labels)
    assert regions["Africa"] == 60
    assert regions["Europe"] == 52  # 51 of M49, and Kosovo
    assert regions["Oceania"] == 29


def test_states_stand_in_the_census_divisions():
    tree = READY["us-states"].tree
    sizes = {
        label: int(tree.stop[tree.find(label)] - tree.first[tree.find(label)])
        for label in ("Northeast", "Midwest", "South", "West")
    }
    assert sizes == {"Northeast": 9, "Midwest": 12, "South": 17, "West": 13}


def test_a_block_of_diagnoses_holds_the_codes_between_its_ends():
    tree = READY["icd-10"].tree
    blocks = [label for label in tree.labels if re.fullmatch(r"[A-Z]\d\d-[A-Z]\d[\dA-Z]", label)]
    assert len(blocks) > 200
    for label in blocks:
        node = tree.find(label)
        low, high = label.split("-")
        leaves = tree.leaf_labels[int(tree.first[node]) : int(tree.stop[node])]
        plain = [leaf for leaf in leaves if leaf[1:].isdigit()]
        assert plain[0] == low
        assert plain[-1] == high or high[-1].isalpha()
        assert all(low <= leaf <= high for leaf in plain)
        letter_and_digits = ord(high[0]) - ord(low[0])
        assert len(plain) == 100 * letter_and_digits + int(plain[-1][1:]) - int(low[1:]) + 1


@pytest.mark.parametrize(
    ("code", "chapter", "block"),
    [
        ("I21.4", "I00-I99 circulatory system", "I20-I25"),
        ("M1A.0", "M00-M99 muscles, bones and connective tissue", "M05-M14"),
        ("C4A.9", "C00-D49 neoplasms", "C43-C44"),
        ("C7A.0", "C00-D49 neoplasms", "C00-C96"),
        ("D50", "D50-D89 blood and immune system", "D50-D53"),
        ("H60", "H60-H95 ear", "H60-H62"),
        ("U07.1", "U00-U85 special purposes", "U00-U49"),
        ("T07", "S00-T88 injury and poisoning", "T07-T88"),
    ],
)
def test_diagnoses_stand_in_their_chapters(code, chapter, block):
    path = way("icd-10", code)
    assert path[1] == chapter
    assert path[-2] == block
    assert path[-1] == icd10_leaf(code)


PLAN = {
    "attributes": {
        "land": {"taxonomy": "hedgerow:countries", "other": "elsewhere"},
        "diag": {"taxonomy": "hedgerow:icd-10"},
    }
}


def test_a_plan_reads_values_by_their_spellings():
    schema = schema_of(plan_of(PLAN))
    table = pa.table(
        {"land": ["DE", "Germany", "deu", "Atlantis"], "diag": ["I21.4", "i21", "I22", "C7A"]}
    )
    encoded = encode_table(open_table(table), schema)
    land, diag = (attribute.domain for attribute in schema.attributes)
    labels = [land.label(int(code), int(code) + 1) for code in encoded.codes[0]]
    assert labels == ["Germany", "Germany", "Germany", "elsewhere"]
    assert [diag.label(int(c), int(c) + 1) for c in encoded.codes[1]] == [
        "I21",
        "I21",
        "I22",
        "C7A",
    ]
    with pytest.raises(UnlistedValueError):
        encode_table(open_table(pa.table({"land": ["DE"], "diag": ["250.83"]})), schema)


def test_a_name_that_is_none_is_refused_with_the_choices():
    plan = plan_of({"attributes": {"a": {"taxonomy": "hedgerow:nowhere"}}})
    with pytest.raises(TaxonomyError, match="hedgerow:countries"):
        schema_of(plan)


def test_a_release_reads_other_rows_by_the_same_spellings(tmp_path):
    n = 400
    table = pa.table(
        {"land": ["DE", "FRA", "Italy", "JP"] * (n // 4), "ill": ["no", "yes"] * (n // 2)}
    )
    plan = {
        "attributes": {
            "land": {"taxonomy": "hedgerow:countries", "other": "other"},
            "ill": {"role": "class", "values": ["no", "yes"]},
        },
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "hedge", "epsilon": 8},
    }
    release = hedgerow.publish(plan, data=table, seed=1, out=tmp_path / "out")
    land = release.schema.attributes[0].domain
    assert describe(land).domain() == land
    assert describe(land).facts()["reads"] == "countries"
    other = pa.table({"land": ["Germany", "276", "GERMANY"], "ill": ["no"] * 3})
    found = hedgerow.generalise(tmp_path / "out", other)
    assert len(set(found["land"].to_pylist())) == 1


def test_nothing_is_loaded_before_it_is_asked_for():
    code = (
        "from hedgerow.taxonomy.ready import catalogue, spelling, diagnoses\n"
        "assert spelling.spelt_tree.cache_info().currsize == 0\n"
        "assert diagnoses.icd10_tree.cache_info().currsize == 0\n"
        "catalogue.ready_taxonomy('months').tree\n"
        "assert spelling.spelt_tree.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_catalogue_knows_names_with_and_without_the_prefix():
    assert ready_taxonomy("hedgerow:zip3") is ready_taxonomy("zip3")
