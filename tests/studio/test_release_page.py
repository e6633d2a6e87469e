"""The page of a release: its views, what is marked on a map, files, and hostile labels."""

from __future__ import annotations

import html
import re
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.draw.axis import PictureAxis
from hedgerow.draw.tree import box_node
from hedgerow.studio.boxview import brushed, kept_attributes, some_records
from hedgerow.studio.shell import FRAME_POLICY
from hedgerow.studio.shownrelease import shown_release
from support.studio import Browser

EVIL = "<img src=x onerror=alert(1)>"
ATTRIBUTES = {
    "age": {"numeric": [0, 99]},
    EVIL: {"values": ["A", "<script>alert(1)</script>", "C"]},
    "sick": {"role": "class", "values": ["no", "yes"]},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with releases of several methods, and one of baskets."""
    folder = tmp_path_factory.mktemp("releases")
    rng = np.random.default_rng(5)
    age = rng.integers(0, 100, 3000)
    ward = rng.integers(0, 3, 3000)
    table = pl.DataFrame(
        {
            "age": age,
            EVIL: np.array(["A", "<script>alert(1)</script>", "C"])[ward],
            "sick": np.where((age > 50) == (ward > 0), "yes", "no"),
        }
    )
    for method in ("hedge", "weave", "diffgen"):
        plan = {
            "attributes": ATTRIBUTES,
            "protects": "records",
            "confirmed": True,
            "publish": {"method": method, "epsilon": 2},
            "ledger": {"dataset": "d", "cap": 50, "file": str(folder / "l.sqlite")},
        }
        hedgerow.publish(plan, data=table.to_arrow(), out=folder / method, seed=3)
    (folder / "b.dat").write_text(f"bread,milk\nbread\nmilk,{EVIL}\n" * 200)
    plan = {
        "items": {"separator": "comma", "taxonomy": {"flat": ["bread", "milk", EVIL, "tea"]}},
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "diffpart", "epsilon": 4},
        "ledger": {"dataset": "b", "cap": 50, "file": str(folder / "l.sqlite")},
    }
    hedgerow.publish(plan, data=folder / "b.dat", out=folder / "baskets", seed=3)
    return folder


@pytest.fixture
def visitor(made):
    return Browser(made)


def views(browser, release):
    text = browser.show(f"/release?release={release}")
    return re.findall(r"show=(\w+)", text.partition('class="views"')[2].partition("</nav>")[0])


@pytest.mark.parametrize("release", ["hedge", "weave", "diffgen", "baskets"])
def test_every_view_of_every_kind_of_release_can_be_shown(visitor, release):
    found = views(visitor, release)
    assert {"report", "marginals", "records", "certificate", "recipient"} <= set(found)
    assert ("map" in found) == (release != "baskets")
    for view in found:
        text = visitor.show(f"/release?release={release}&show={view}")
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert len(text.encode()) < 200_000


def test_the_report_is_in_a_sandbox_with_a_policy_of_its_own(visitor):
    assert re.search(r"<iframe [^>]*\bsandbox src=", visitor.show("/release?release=hedge"))
    answer = visitor.client.get("/release/report?release=hedge")
    assert answer.headers["content-security-policy"] == FRAME_POLICY


def test_a_map_can_have_any_two_attributes(visitor):
    one = visitor.show("/release?release=hedge&show=map")
    other = visitor.client.get(
        "/release", params={"release": "hedge", "show": "map", "across": EVIL, "down": "age"}
    ).text
    assert one.count("<path") > 0
    assert re.search(r'<option selected>age</option>.*?id="down"', one, re.DOTALL) or one != other
    same = visitor.client.get(
        "/release", params={"release": "hedge", "show": "map", "across": "age", "down": "age"}
    )
    assert same.status_code == 200
    painted = visitor.show("/release?release=hedge&show=map&paint=class")
    assert "paint-class" in painted


def test_what_is_marked_adds_up_to_the_whole(made):
    shown = shown_release(Browser(made).app.state.studio.folder, "hedge")
    schema, groups = shown.release.schema, shown.pictured
    axes = [PictureAxis.of(schema.attributes[at], groups.ranges[at]) for at in (0, 1)]
    whole = brushed(schema, groups, (0, 1), (0, len(axes[0]) - 1, 0, len(axes[1]) - 1))
    assert whole.n_records == round(groups.counts.sum())
    assert whole.percent == 100
    parts = [
        brushed(schema, groups, (0, 1), (cell, cell, 0, len(axes[1]) - 1)).n_records
        for cell in range(len(axes[0]))
    ]
    assert abs(sum(parts) - whole.n_records) <= len(parts)
    # By brute force: every group gives the part of its range that lies in the marked one.
    first, stop = int(axes[0].borders[0]), int(axes[0].borders[1])
    expected = 0.0
    for group in range(len(groups)):
        place = groups.index[0][group]
        low, high = int(groups.ranges[0].first[place]), int(groups.ranges[0].stop[place])
        common = max(0, min(high, stop) - max(low, first))
        expected += float(groups.counts[group]) * common / (high - low)
    assert parts[0] == round(expected)


def test_marks_that_are_not_on_the_map_are_refused(visitor):
    for cells in ("left=0&right=999&top=0&bottom=0", "left=-1&right=0&top=0&bottom=0", "left=x"):
        answer = visitor.client.get(f"/release/brushed?release=hedge&{cells}")
        assert answer.status_code == 422, cells
    good = visitor.client.get("/release/brushed?release=hedge&left=0&right=0&top=0&bottom=0")
    assert good.status_code == 200


def test_the_tree_of_boxes_opens_level_by_level(made, visitor):
    shown = shown_release(visitor.app.state.studio.folder, "hedge")
    tree = shown.pictured.tree
    root = box_node(shown.release.schema, tree, depth=1)
    assert root.n_boxes == int((tree.box >= 0).sum())
    assert sum(each.n_boxes for each in root.below) == root.n_boxes
    child = root.below[0].number
    assert visitor.client.get(f"/release/below?release=hedge&node={child}").status_code == 200
    assert visitor.client.get("/release/below?release=hedge&node=99999").status_code == 422


def test_records_are_drawn_and_can_be_taken_home(visitor, made):
    answer = visitor.client.get("/release/records.csv?release=hedge")
    assert "attachment" in answer.headers["content-disposition"]
    drawn = pl.read_csv(answer.content)
    release = hedgerow.Release.load(made / "hedge")
    assert len(drawn) == int(release.groups.counts.sum())
    assert drawn.columns == ["age", EVIL, "sick"]
    few = some_records(release.groups, 7, seed=1)
    assert int(few.counts.sum()) == 7
    assert (few.counts <= release.groups.counts).all()


def test_the_recipient_sees_which_files_are_as_certified(visitor, made, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(made / "hedge", folder / "hedge")
    (folder / "hedge" / "owner").mkdir()
    (folder / "hedge" / "owner" / "risk.csv").write_text("secret")
    browser = Browser(folder)
    assert "was modified" not in browser.show("/release?release=hedge&show=recipient")
    page = folder / "hedge" / "dictionary.csv"
    page.write_text(page.read_text() + "more\n")
    text = browser.show("/release?release=hedge&show=recipient")
    assert "was modified" in text
    assert "risk.csv" not in text
    for name in ("owner/risk.csv", "../x", "/etc/passwd"):
        answer = browser.client.get("/release/file", params={"release": "hedge", "file": name})
        assert answer.status_code == 422, name
    taken = browser.client.get("/release/file?release=hedge&file=certificate.json")
    assert taken.json()["tool"] == "hedgerow"


def test_every_line_of_a_certificate_is_explained(visitor):
    text = html.unescape(visitor.show("/release?release=diffgen&show=certificate"))
    assert "no conclusion becomes more than 7.39 times as likely" in text
    assert text.count("<dt>") == text.count('<dd class="value">')


def test_items_and_what_goes_with_them(visitor):
    text = visitor.show("/release?release=baskets&show=marginals&item=bread")
    assert "With bread" in text
    assert visitor.client.get("/release?release=baskets&show=marginals&item=no").status_code == 422


def test_names_that_lead_out_are_refused(visitor, made):
    for name in ("../releases/hedge", str(made / "hedge"), ".hedgerow-studio"):
        assert visitor.client.get("/release", params={"release": name}).status_code == 422


def test_attributes_that_divide_come_first(made):
    release = hedgerow.Release.load(made / "hedge")
    assert sorted(kept_attributes(release.schema, release.groups)) == [
        at for at, ranges in enumerate(release.groups.ranges) if len(ranges) > 1
    ]
    assert replace(release.groups) is not release.groups


NAMES = [
    EVIL,
    "a\"b'&c",
    "{{ 7 * 7 }}",
    "-rf",
    "x?release=hedge#y%2e",
    "\u202egnp",
    "new\nline",
]


def test_hostile_names_of_release_folders_are_only_names(made, tmp_path):
    place = tmp_path / "named"
    place.mkdir()
    for name in NAMES:
        shutil.copytree(made / "hedge", place / name)
    browser = Browser(place)
    listed = browser.show("/release")
    assert EVIL not in listed
    links = [
        html.unescape(each) for each in re.findall(r'class="card choice" href="(.*?)"', listed)
    ]
    assert len(links) == len(NAMES)
    for link in links:
        assert "\n" not in link
        for view in ("report", "map", "tree", "marginals", "records", "certificate", "recipient"):
            text = browser.show(f"{link}&show={view}")
            assert EVIL not in text
            assert "49" not in re.search(r"<h1>(.*?)</h1>", text, re.DOTALL)[1]
        for address in re.findall(r'(?:href|src)="(/release/[^"]*)"', text):
            answer = browser.client.get(html.unescape(address))
            assert answer.status_code == 200, address
            assert not set(answer.headers.get("content-disposition", "")) & set("\n<>&'")
