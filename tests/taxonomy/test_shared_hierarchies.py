"""The public hierarchies of the literature, each as it should come out."""

from __future__ import annotations

import gzip

import pytest

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.files import FORMATS, read_taxonomy, write_taxonomy

# file: leaves, nodes, height
SIZES = {
    "adult-arx/adult_hierarchy_age.csv": (100, 136, 4),
    "adult-arx/adult_hierarchy_education.csv": (16, 25, 3),
    "adult-arx/adult_hierarchy_marital-status.csv": (7, 10, 2),
    "adult-arx/adult_hierarchy_native-country.csv": (41, 47, 2),
    "adult-arx/adult_hierarchy_occupation.csv": (14, 18, 2),
    "adult-arx/adult_hierarchy_race.csv": (5, 6, 1),
    "adult-arx/adult_hierarchy_salary-class.csv": (2, 3, 1),
    "adult-arx/adult_hierarchy_sex.csv": (2, 3, 1),
    "adult-arx/adult_hierarchy_workclass.csv": (8, 12, 2),
    "adult-mondrian/adult_marital_status.txt": (7, 11, 2),
    "adult-mondrian/adult_native_country.txt": (41, 42, 1),
    "adult-mondrian/adult_occupation.txt": (14, 15, 1),
    "adult-mondrian/adult_race.txt": (5, 6, 1),
    "adult-mondrian/adult_relationship.txt": (6, 7, 1),
    "adult-mondrian/adult_sex.txt": (2, 3, 1),
    "adult-mondrian/adult_workclass.txt": (8, 12, 2),
    # 3340 + 835 + 209 + 53 + 14 + 4 + 1 nodes, one of which is written at three levels
    "bms-webview-2/treefile_BMS.txt.gz": (3340, 4454, 6),
    # 1,265 items and 43 groups, 13 of them roots, under '*'
    "fruithut/taxonomy.txt": (1265, 1309, 4),
    "icd9/treefile_ICD9CODX.txt": (1221, 1387, 4),
    "icd9/treeseed_ICD9CODX.txt": (158, 324, 4),
}
NOT_A_TAXONOMY = "fruithut/product_names.txt"


def rows_of(path) -> list[list[str]]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return [line.split(";") for line in text.decode().splitlines()]


def test_every_shared_hierarchy_is_known_here(shared_data):
    folder = shared_data / "hierarchies"
    found = {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
    assert found == {*SIZES, NOT_A_TAXONOMY}


@pytest.mark.parametrize("name", SIZES)
def test_hierarchies_load_and_survive_a_round_trip(shared_data, tmp_path, name):
    tree = read_taxonomy(shared_data / "hierarchies" / name)
    assert (tree.n_leaves, tree.n_nodes, int(tree.height[0])) == SIZES[name]
    for format_name in FORMATS:
        copy = tmp_path / "copy.gz"
        write_taxonomy(tree, copy, format_name)
        assert read_taxonomy(copy, format=format_name) == tree


@pytest.mark.parametrize("name", [name for name in SIZES if not name.startswith("fruithut")])
def test_the_way_up_from_every_value_is_the_row_of_the_file(shared_data, name):
    path = shared_data / "hierarchies" / name
    tree = read_taxonomy(path)
    rows = rows_of(path)
    assert {row[0] for row in rows} == set(tree.leaf_labels)
    for row in rows:
        way = [tree.labels[node] for node in reversed(tree.path(tree.find(row[0])))]
        assert way == list(dict.fromkeys(row))  # repeated cells stand for one node


def test_all_items_of_the_fruit_shop_are_leaves_of_its_taxonomy(shared_data):
    tree = read_taxonomy(shared_data / "hierarchies" / "fruithut" / "taxonomy.txt")
    with gzip.open(shared_data / "set-valued" / "fruithut.dat.gz", "rt") as file:
        items = set(file.read().split())
    assert items == set(tree.leaf_labels)
    depths = [int((tree.depth[tree.leaf_nodes] == depth).sum()) for depth in (2, 3, 4)]
    assert depths == [858, 161, 246]  # one more than in the file's forest: the root


def test_a_list_of_names_is_refused_by_its_first_line(shared_data):
    with pytest.raises(TaxonomyError, match="'@CONVERTED_FROM_TEXT' is alone") as caught:
        read_taxonomy(shared_data / "hierarchies" / NOT_A_TAXONOMY)
    assert caught.value.line == 1
