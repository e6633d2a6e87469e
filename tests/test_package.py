"""What the package states about itself agrees, and the release script refuses what does not."""

from __future__ import annotations

import importlib.util
import re
import tomllib

import pytest


@pytest.fixture(scope="module")
def facts(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tool(root):
    spec = importlib.util.spec_from_file_location("release_tool", root / "tools" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def stated(tmp_path):
    """Write a changelog and a citation that agree on 1.2.3, and let a test change one."""

    def write(*, log="## 1.2.3, 2026-01-31", cited="1.2.3"):
        (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{log}\n\n- x\n", encoding="utf-8")
        (tmp_path / "CITATION.cff").write_text(f"a: b\nversion: {cited}\nc: d\n", encoding="utf-8")
        return tmp_path

    return write


def test_all_is_every_extra(facts):
    extras = facts["project"]["optional-dependencies"]
    (every,) = extras["all"]
    named = set(re.fullmatch(r"hedgerow\[(.*)\]", every)[1].split(","))
    assert named == set(extras) - {"all"}


def test_what_developers_need_is_no_extra(facts):
    assert "dev" not in facts["project"]["optional-dependencies"]
    assert "pytest" in " ".join(facts["dependency-groups"]["dev"])


def test_every_requirement_states_a_lower_bound_that_the_lowest_lock_has(facts, root):
    pinned = dict(
        re.findall(
            r"^([\w.-]+)==(\S+)",
            (root / "requirements" / "lowest.lock").read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
    )
    extras = facts["project"]["optional-dependencies"]
    wanted = [*facts["project"]["dependencies"]]
    wanted += [each for name, needs in extras.items() if name != "all" for each in needs]
    for requirement in wanted:
        name, _, bound = re.fullmatch(r"([\w.-]+)(>=)([\d.]+)", requirement).groups()
        found = pinned[name.lower().replace("_", "-").replace(".", "-")]
        assert found.split(".")[: len(bound.split("."))] == bound.split("."), requirement


def test_the_changelog_and_the_citation_are_about_this_version(facts, root):
    version = facts["project"]["version"]
    assert f"\n## {version}, " in (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")


def test_a_version_that_is_told_everywhere_may_be_released(tool, stated):
    tool.check_words("1.2.3", stated())


@pytest.mark.parametrize(
    "wrong", [{"log": "## 1.2.3, unreleased"}, {"log": "## 1.2.2, 2026-01-31"}, {"cited": "1.2.2"}]
)
def test_a_version_that_is_told_otherwise_somewhere_is_not_released(tool, stated, wrong):
    with pytest.raises(tool.NotReadyError):
        tool.check_words("1.2.3", stated(**wrong))
