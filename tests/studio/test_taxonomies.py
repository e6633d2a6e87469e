"""The tree editor: its endpoints, its undo, other people's changes, hostile labels."""

from __future__ import annotations

import html
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.studio.treefile import TreeFiles
from hedgerow.studio.treeview import MOST_LINES, found_lines, stepped_place, tree_lines
from hedgerow.taxonomy.edits import EditableTree
from hedgerow.taxonomy.files import read_taxonomy, write_taxonomy
from hedgerow.taxonomy.tree import Taxonomy
from support.studio import Browser

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "'; DROP --",
    "-rf",
    "\u202egnp.exe",
]
WARDS = Taxonomy.from_nested(
    "*", {"Surgery": ["A", "B"], "Other": ["C", {"Day": ["D", "E"]}], "Odd": HOSTILE}
)


@pytest.fixture
def wards(folder):
    write_taxonomy(WARDS, _placed(folder / "taxonomies" / "wards.csv"))
    return folder / "taxonomies" / "wards.csv"


def _placed(path):
    path.parent.mkdir(exist_ok=True)
    return path


class Editor:
    """The editor of one file, as a page of a browser shows it."""

    def __init__(self, browser: Browser, file: str = "taxonomies/wards.csv") -> None:
        self.browser, self.file = browser, file
        self.take(browser.show(f"/taxonomies?plan=plan.yaml&file={file}"))

    def take(self, text: str) -> str:
        found = re.search(r'name="version" value="([0-9a-f]{64})"', text)
        assert found is not None, text
        self.version = found[1]
        return text

    def edit(self, do: str, **values):
        sent = {"file": self.file, "version": self.version, "do": do, **values}
        return self.browser.send("/taxonomies/edit?plan=plan.yaml", sent)

    def done(self, do: str, **values) -> str:
        answer = self.edit(do, **values)
        assert answer.status_code == 200, answer.text
        return self.take(answer.text)


def test_the_page_lists_the_columns_of_the_plan_and_opens_a_file(browser, wards):
    text = browser.show("/taxonomies?plan=plan.yaml")
    assert "taxonomies/wards.csv" in text
    assert re.search(r"<th scope=\"row\">ward</th>", text)
    assert "patient" not in text  # an identifier has no taxonomy
    opened = Editor(browser).browser.show("/taxonomies?plan=plan.yaml&file=taxonomies/wards.csv")
    assert 'value="Surgery"' in opened
    assert 'value="A"' in opened  # a small tree is open from the start


def test_closed_levels_of_a_large_tree_are_not_sent(browser, wards):
    rows = [f"W{n},ward {n % 9},*" for n in range(90)]
    wards.write_text("\n".join(rows) + "\n")
    opened = browser.show("/taxonomies?plan=plan.yaml&file=taxonomies/wards.csv")
    assert 'value="ward 3"' in opened
    assert 'value="W3"' not in opened


def test_every_edit_is_written_and_told_as_a_command(browser, wards):
    editor = Editor(browser)
    told = editor.done("group", label=["Surgery", "Other"], name="Wards")
    assert "hedgerow taxonomy edit group taxonomies/wards.csv Surgery Other" in html.unescape(told)
    editor.done("move", label=["C"], to="Surgery", before="B")
    editor.done("rename", label="Day", name="Day ward")
    editor.done("split", label=["D"], name="Night")
    editor.done("step", moved="A", direction="down")
    editor.done("add", values="F\nG", to="Day ward")
    editor.done("dissolve", label="Wards")
    editor.done("remove", label=["G"])
    editor.done("paste", cells="H\tNew ward\nI\tNew ward\n")
    tree = EditableTree.of(read_taxonomy(wards))
    assert tree.below["Surgery"] == ("C", "A", "B")
    assert tree.below["Day ward"] == ("E", "F")
    assert tree.below["Night"] == ("D",)
    assert tree.below["New ward"] == ("H", "I")


def test_undo_gives_every_byte_back_and_redo_every_edit(browser, wards):
    states = [wards.read_bytes()]
    editor = Editor(browser)
    for label, name in (("Surgery", "One"), ("One", "Two"), ("Two", "Three")):
        editor.done("rename", label=label, name=name)
        states.append(wards.read_bytes())
    for before in reversed(states[:-1]):
        editor.done("undo")
        assert wards.read_bytes() == before
    assert editor.edit("undo").status_code == 422
    for after in states[1:]:
        editor.done("redo")
        assert wards.read_bytes() == after
    another = Editor(Browser(wards.parent.parent))  # another start of the studio
    another.done("undo")
    assert wards.read_bytes() == states[-2]


def test_a_file_that_somebody_else_changed_is_refused_with_the_difference(browser, wards):
    editor = Editor(browser)
    wards.write_text(wards.read_text().replace("A;", "AA;"))
    changed = wards.read_bytes()
    answer = editor.edit("rename", label="Surgery", name="Operations")
    assert answer.status_code == 422
    assert "+AA;" in html.unescape(answer.text)
    assert wards.read_bytes() == changed
    assert Editor(browser).edit("undo").status_code == 422  # of no edit of this very file


def test_what_moves_into_an_open_group_is_shown_there(browser, wards):
    shown = Editor(browser).done("move", label=["C"], to="Surgery", open=["2:Surgery"])
    assert re.search(r'data-label="Surgery".*value="C".*data-label="Other"', shown, re.DOTALL)


def test_two_tabs_do_not_write_over_each_other(browser, wards):
    one, other = Editor(browser), Editor(browser)
    one.done("rename", label="Surgery", name="Operations")
    assert other.edit("rename", label="Other", name="Rest").status_code == 422
    assert "Operations" in wards.read_text()
    assert "Rest" not in wards.read_text()


def test_what_is_refused_writes_nothing(browser, wards):
    before = wards.read_bytes()
    editor = Editor(browser)
    for do, values in (
        ("move", {"label": ["Other"], "to": "Day"}),
        ("move", {"label": [], "to": "Day"}),
        ("group", {"label": ["A"], "name": "B"}),
        ("rename", {"label": ["A", "B"], "name": "x"}),
        ("split", {"label": ["A", "D"], "name": "x"}),
        ("step", {"moved": "*", "direction": "up"}),
        ("step", {"moved": "A", "direction": "sideways"}),
        ("remove", {"label": ["Surgery", "Other", "Odd"]}),
        ("paste", {"cells": ""}),
        ("nothing", {}),
    ):
        answer = editor.edit(do, **values)
        assert answer.status_code == 422, do
        assert answer.headers["HX-Retarget"] == "#notice"
    assert wards.read_bytes() == before


@pytest.mark.parametrize("label", HOSTILE)
def test_labels_are_text_wherever_they_are_shown(browser, wards, label):
    editor = Editor(browser)
    shown = editor.done("step", moved="C", direction="down", open=["100:Odd", "100:Other"])
    found = browser.show(f"/taxonomies/find?file=taxonomies/wards.csv&find={label[:3]}")
    told = editor.done("rename", label=label, name=f"{label}2")
    for text in (shown, found, told):
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "onerror=alert(1)>" not in re.sub(r"&\w+;|&#\d+;", "", text) or "&lt;" in text
        assert "49" not in re.sub(r'value="[0-9a-f]{64}"|[0-9a-f]{16,}', "", text)
    assert f"{label}2" in read_taxonomy(wards).leaf_labels


def test_hostile_names_of_files_do_not_lead_out(browser, folder, wards):
    secret = folder.parent / "secret.csv"
    write_taxonomy(WARDS, secret)
    (folder / "taxonomies" / "link.csv").symlink_to(secret)
    for file in ("../secret.csv", str(secret), "taxonomies/link.csv", ".hedgerow-studio/x", ""):
        answer = browser.client.get("/taxonomies", params={"plan": "plan.yaml", "file": file})
        assert answer.status_code == 422 or (file == "" and "Surgery" not in answer.text), file
        assert "Surgery" not in answer.text
    browser.show("/taxonomies?plan=plan.yaml")
    made = browser.send(
        "/taxonomies/make?plan=plan.yaml",
        {"kind": "import", "source": "../secret.csv", "name": "stolen"},
    )
    assert made.status_code == 422
    assert not (folder / "taxonomies" / "stolen.csv").exists()


def test_a_page_without_its_token_changes_nothing(browser, wards):
    editor = Editor(browser)
    before = wards.read_bytes()
    browser.token = ""
    assert editor.edit("rename", label="A", name="x").status_code == 403
    assert wards.read_bytes() == before


@pytest.mark.parametrize(
    ("form", "n_values"),
    [
        ({"kind": "ready", "ready": "months"}, 12),
        ({"kind": "numeric", "low": "0", "high": "99", "step": "1", "widths": "5, 10"}, 100),
        ({"kind": "numeric", "edges": "0 18 65 120", "low": "", "high": ""}, 3),
        ({"kind": "prefix", "length": "2"}, 100),
        ({"kind": "prefix", "values": "123\n124"}, 2),
        ({"kind": "dates", "from": "2020-01-01", "to": "2020-01-31"}, 31),
        ({"kind": "values", "values": "a\nb\nc"}, 3),
        ({"kind": "cells", "cells": "a\tX\t*\nb\tY\t*\n"}, 2),
        ({"kind": "cells", "cells": "X\ta\n\tb\nY\tc\n", "order": "group-first"}, 3),
        ({"kind": "import", "source": "taxonomies/wards.csv"}, 11),
    ],
)
def test_a_new_taxonomy_becomes_a_file_and_the_plan_names_it(browser, wards, form, n_values):
    text = browser.show("/taxonomies?plan=plan.yaml")
    version = re.search(r'name="plan-version" value="(\w+)"', text)[1]
    sent = {**form, "name": "new one", "column": "ward", "plan-version": version}
    answer = browser.send("/taxonomies/make?plan=plan.yaml", sent)
    assert answer.status_code == 204, answer.text
    assert "new+one.csv" in answer.headers["HX-Redirect"]
    assert read_taxonomy(wards.parent / "new one.csv").n_leaves == n_values
    plan = (wards.parent.parent / "plan.yaml").read_text()
    assert "taxonomy: taxonomies/new one.csv" in plan
    assert "values: [A, B, C]" not in plan
    assert "# wards as on the hospital's site" in plan
    again = browser.send("/taxonomies/make?plan=plan.yaml", sent)
    assert again.status_code == 422  # no file is written over


def test_what_the_plan_says_itself_becomes_a_file_to_edit(browser, folder):
    text = browser.show("/taxonomies?plan=plan.yaml")
    version = html.unescape(
        re.search(r'plan-version&#34;: &#34;(\w+)|plan-version" value="(\w+)', text)[0]
    )
    version = re.search(r"(\w{20,})", version)[1]
    answer = browser.send(
        "/taxonomies/own?plan=plan.yaml", {"column": "ward", "plan-version": version}
    )
    assert answer.status_code == 204, answer.text
    assert read_taxonomy(folder / "taxonomies" / "ward.csv").leaf_labels == ("A", "B", "C")
    assert Editor(browser, "taxonomies/ward.csv").version


def test_a_column_is_compared_by_a_command_of_its_own_and_kept(browser, folder):
    write_taxonomy(Taxonomy.flat(["A", "B"]), _placed(folder / "taxonomies" / "short.csv"))
    plan = folder / "plan.yaml"
    plan.write_text(
        plan.read_text().replace("{values: [A, B, C]}", "{taxonomy: taxonomies/short.csv}")
    )
    editor = Editor(browser, "taxonomies/short.csv")
    answer = browser.send(
        "/taxonomies/check?plan=plan.yaml", {"file": "taxonomies/short.csv", "column": "ward"}
    )
    assert answer.status_code == 200, answer.text
    run = browser.runs.all("coverage")[0]
    deadline = time.monotonic() + 60
    while browser.runs.get(run.id).is_running and time.monotonic() < deadline:
        time.sleep(0.1)
    shown = browser.show("/taxonomies?plan=plan.yaml&file=taxonomies/short.csv")
    assert "incomplete" in shown
    assert "<code>C</code>" in shown
    assert "for the data owner only" in shown
    editor.done("add", values="C", to="*")
    after = browser.show("/taxonomies?plan=plan.yaml")
    assert "incomplete" not in after  # what was found is of the file as it was


def test_a_mark_is_of_the_file_as_it_is(browser, wards):
    editor = Editor(browser)
    assert "marked complete" in editor.done("mark").lower()
    assert TreeFiles(folder=browser.app.state.studio.folder).marked("taxonomies/wards.csv")
    editor.done("rename", label="A", name="AA")
    assert not TreeFiles(folder=browser.app.state.studio.folder).marked("taxonomies/wards.csv")
    editor.done("undo")
    assert TreeFiles(folder=browser.app.state.studio.folder).marked("taxonomies/wards.csv")
    editor.done("unmark")
    assert not TreeFiles(folder=browser.app.state.studio.folder).marked("taxonomies/wards.csv")


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_edits_through_the_page_keep_every_value_once_and_can_all_be_undone(
    browser, wards, data
):
    write_taxonomy(WARDS, wards)
    first = wards.read_bytes()
    editor, n_done = Editor(browser), 0
    for _ in range(data.draw(st.integers(1, 6))):
        tree = read_taxonomy(wards)
        node, name = st.sampled_from(tree.labels), st.sampled_from(["New", "Newer", "A", ""])
        some = st.lists(node, max_size=3, unique=True)
        values = {
            "move": {"label": some, "to": node},
            "step": {"moved": node, "direction": st.sampled_from(["up", "down", "in", "out"])},
            "group": {"label": some, "name": name},
            "split": {"label": some, "name": name},
            "dissolve": {"label": node},
        }
        do = data.draw(st.sampled_from(sorted(values)))
        before = wards.read_bytes()
        answer = editor.edit(do, **{key: data.draw(each) for key, each in values[do].items()})
        if answer.status_code == 200:
            editor.take(answer.text)
            n_done += wards.read_bytes() != before
        else:
            assert wards.read_bytes() == before
        assert sorted(read_taxonomy(wards).leaf_labels) == sorted(WARDS.leaf_labels)
    for _ in range(n_done):
        editor.done("undo")
    assert wards.read_bytes() == first


def test_of_a_large_taxonomy_only_what_is_open_is_drawn():
    groups = {f"group {g}": [f"item {g}-{i}" for i in range(165)] for g in range(100)}
    tree = Taxonomy.from_nested("*", groups)
    line = tree_lines(tree, [f"group {g}" for g in range(100)])

    def size(each):
        return 1 + sum(size(below) for below in each.below)

    assert size(line) <= MOST_LINES + 101
    assert line.below[0].n_more == 65
    more = tree_lines(tree, [], shown={"group 3": 165}, top="group 3")
    assert (len(more.below), more.n_more) == (165, 0)
    lines, n_found = found_lines(tree, "ITEM 7-1")
    assert n_found > len(lines) or lines[0].label == "item 7-1"
    assert lines[0].way == ("*", "group 7")


def test_steps_lead_where_the_keys_say():
    tree = EditableTree.of(WARDS)
    assert stepped_place(tree, "B", "up") == ("Surgery", "A")
    assert stepped_place(tree, "A", "down") == ("Surgery", None)
    assert stepped_place(tree, "Other", "in") == ("Surgery", None)
    assert stepped_place(tree, "Surgery", "in") == ("Other", None)
    assert stepped_place(tree, "D", "out") == ("Other", None)
    assert stepped_place(tree, "C", "out") == ("*", "Odd")


def test_a_file_whose_comments_an_edit_would_lose_says_so_before(browser, folder):
    path = _placed(folder / "taxonomies" / "w.yaml")
    path.write_text('# head\n"*":\n  In: [a, b]  # why\n  Out: [c]\n')
    page = "/taxonomies?plan=plan.yaml&file=taxonomies/w.yaml"
    assert "1 lines of this file have comments" in browser.show(page)
    editor = Editor(browser, "taxonomies/w.yaml")
    editor.take(editor.edit("rename", label="Out", name="Outside").text)
    assert "have comments inside" not in browser.show(page)
    assert path.read_text().startswith("# head\n")
    editor.edit("undo")
    assert "# why" in path.read_text()
