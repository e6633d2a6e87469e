"""The documentation says what the program does."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import hedgerow
from hedgerow.plan.registry import METHODS
from hedgerow.trees.scores import SCORES


@pytest.mark.parametrize("page", ["cli", "api"])
def test_the_references_are_up_to_date(root, page):
    made = subprocess.run(
        [sys.executable, f"tools/{page}_reference.py"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert made.stdout == (root / "docs" / f"{page}.md").read_text(encoding="utf-8"), (
        f"run: python tools/{page}_reference.py > docs/{page}.md"
    )


def test_the_library_reference_has_every_public_name_once(root):
    page = (root / "docs" / "api.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (\w+)$", page, flags=re.M)
    assert sorted(headings) == [name for name in hedgerow.__all__ if name != "__version__"]
    for name in headings:
        first = inspect.getdoc(getattr(hedgerow, name)).splitlines()[0]
        assert first.replace("``", "`") in page
        assert f"hedgerow.{name}(" in page


def test_the_front_page_states_the_present_version(root):
    page = (root / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"Version {hedgerow.__version__} " in page


def test_every_method_and_score_is_documented(root):
    text = (root / "docs" / "plan.md").read_text(encoding="utf-8")
    for name in (*METHODS, *SCORES):
        assert f"`{name}`" in text


def test_links_between_pages_lead_somewhere(root):
    top = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
    pages = [*(root / name for name in top), *(root / "docs").rglob("*.md")]
    pages += (root / "research").rglob("*.md")
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_links_from_the_documentation_to_research_lead_somewhere(root):
    address = "https://github.com/hedgerow/hedgerow/blob/main/"
    found = 0
    for page in (root / "docs").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert "](../research" not in text, f"{page.name}: research/ is not in the wheel"
        for target in re.findall(rf"\]\({address}([^)#]+)\)", text):
            assert (root / target).is_file(), f"{page.name} links to {target}"
            found += 1
    assert found > 10


def test_functions_and_tests_named_on_the_papers_pages_exist(root):
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("src", "tests")
        for path in (root / folder).rglob("*.py")
    )
    pages = [path for top in ("docs", "research") for path in (root / top / "papers").glob("*.md")]
    for page in pages:
        for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")):
            assert f"def {name}(" in source, f"{page.name} names {name}"


def test_every_test_that_holds_a_claim_of_privacy_exists(root):
    page = (root / "docs" / "privacy.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", page)
    assert len(named) > 40
    for file, test in named:
        text = (root / "tests" / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text, f"docs/privacy.md names {test}, which is not in {file}"
    alone = set(re.findall(r"`(test_\w+)`", page))
    assert not alone, f"docs/privacy.md names tests without their file: {alone}"


def test_every_module_that_implements_a_claim_of_privacy_exists(root):
    page = (root / "docs" / "privacy.md").read_text(encoding="utf-8")
    for module in re.findall(r"`(\w+/[\w/]+\.py)`", page):
        assert (root / "src" / "hedgerow" / module).is_file(), f"docs/privacy.md names {module}"


def test_every_method_has_its_guarantee_written_down(root):
    page = (root / "docs" / "privacy.md").read_text(encoding="utf-8")
    methods = page.split("\n## Methods\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|", methods, re.MULTILINE)
    assert sorted(rows) == sorted(METHODS)


def test_the_glossary_is_linked_from_where_people_start_and_names_modules_that_exist(root):
    text = (root / "docs" / "glossary.md").read_text(encoding="utf-8")
    for module in re.findall(r"`((?!tests/)\w+/[\w/]+\.py)`", text):
        assert (root / "src" / "hedgerow" / module).is_file(), f"docs/glossary.md names {module}"
    starts = ["README.md", "CONTRIBUTING.md"]
    starts += [f"docs/{name}.md" for name in ("methods", "plan", "architecture", "papers")]
    for page in starts:
        assert "glossary.md)" in (root / page).read_text(encoding="utf-8"), page


def test_every_room_is_on_the_page_of_the_architecture(root):
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.stem for path in (root / "src" / "hedgerow").iterdir() if path.stem[0] != "_"}
    for room in rooms - {"py"}:
        assert f"`{room}`" in page, room


def test_sections_that_are_cited_exist(root):
    page = (root / "docs" / "privacy.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (.+)$", page, re.MULTILINE))
    cited = set()
    for folder in ("src", "tests", "experiments", "benchmarks"):
        for path in (root / folder).rglob("*.py"):
            text = " ".join(path.read_text(encoding="utf-8").split()).replace("# ", "")
            cited |= set(re.findall(r'docs/privacy\.md, "([A-Z][^"]+)"', text))
    assert cited, "nothing cites docs/privacy.md"
    assert cited <= sections
