"""One option has one meaning on all commands, and one meaning has one name."""

from __future__ import annotations

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from hedgerow.cli.former import FORMER, REMOVED_IN, present_names
from hedgerow.cli.main import make_app
from hedgerow.cli.settings import Section, setting_options

APP = make_app()

MEANINGS = {
    "--accept-risk": "Write the disclosure although its mean risk is above half",
    "--again": "Make and book another release",
    "--against": "Read the attacker's dictionary",
    "--all-public": "State that all domains taken from the data are public",
    "--approve": "Approve the release too",
    "--as": "Write this kind: registry or croissant",
    "--before": "Put them before this member",
    "--by": "Name who signs",
    "--cap": "Spend at most this epsilon on all releases",
    "--class": "Use this column as the class",
    "--column": "Check the values of this column",
    "--data": "Read this confidential table",
    "--delta": "Use this delta",
    "--disjoint": "Assume that no record or person is in two releases",
    "--dry-run": "Show what would be signed",
    "--duration": "Publish for this time",
    "--edge": "Put an edge between cells here",
    "--engine": "Count records with this engine",
    "--epsilon": "Use this privacy budget",
    "--even-if-noise": "Publish although the release would be mostly noise",
    "--every": "Publish every day, week",
    "--expect": "Refuse any plan but the one with this fingerprint",
    "--fan-out": "Group this number of nodes into one",
    "--for": "Publish for this purpose",
    "--force": "Replace an existing result",
    "--format": "Write this format",
    "--fraction": "Estimate the number of people who are unique in the population",
    "--fresh": "Resume an interrupted run, or start again",
    "--from": "Begin with this day",
    "--group-first": "Read rows that begin with the widest group",
    "--high": "End with this value",
    "--history": "Use this record of what recipients were given",
    "--holdout": "Test membership with these records",
    "--hospital": "Write only patients.csv",
    "--hours": "Refuse a run that is expected to take longer",
    "--input-format": "Read this format",
    "--into": "Put them into this group",
    "--items": "Read the items of baskets from this column",
    "--jobs": "Use this number of processes",
    "--json": "Print the answer as JSON",
    "--ledger": "Use this ledger instead of the default one",
    "--length": "Use all codes of this number of digits",
    "--level": "Keep this level",
    "--licence": "State the licence",
    "--low": "Begin with this value",
    "--mask": "Mask with this character",
    "--master": "Connect to this master",
    "--max-children": "Show at most this number of children",
    "--max-depth": "Show at most this number of levels",
    "--max-records": "Attack at most this number of records",
    "--max-sets": "Count at most this number of sets of columns",
    "--memory": "Use at most this memory",
    "--method": "Use this method",
    "--methods": "Compare with all other methods",
    "--name": "Label the new group",
    "--new": "Add a data set",
    "--no-open": "Print the address and open no browser",
    "--note": "Describe the release",
    "--one-record-per-person": "State that nobody can have two records",
    "--order": "Order the rows of a sequence by this column",
    "--ordered": "Read records as sequences",
    "--other": "Attack this second release too",
    "--other-data": "Use these data for the second release",
    "--out": "Write to this",
    "--pairs": "Use only these pairs of neighbours",
    "--parquet": "Write release.parquet too",
    "--path": "Print the path of the page",
    "--people": "Add an account of people",
    "--per-person": "Use tables that differ in all records of one person",
    "--person": "Identify the person of a record",
    "--plan": "Use this plan",
    "--port": "Listen on this port",
    "--protects-records": "Protect each record",
    "--public": "Run plans on this public file",
    "--public-key": "Check the signature with this public key",
    "--publisher": "Name the publisher",
    "--publisher-kind": "State the sector",
    "--quasi": "Treat this column as a quasi-identifier",
    "--query": "Read the result of this query",
    "--quiet": "Print neither progress nor closing text",
    "--reason": "State the reason",
    "--record-id": "Identify records by this column",
    "--records": "Assume this number of records",
    "--records-per-person": "Use at most this number of records of one person",
    "--region": "State the region",
    "--releases": "Compare this release, or all releases in this folder, with the ledger",
    "--resume": "Resume an interrupted run, or start again",
    "--root": "Label the root",
    "--row": "Explain this row",
    "--runs": "Run each table of the worst pairs",
    "--scratch": "Put scratch files into this folder",
    "--seed": "Use this random seed",
    "--sensitive": "Treat this column as sensitive",
    "--shadows": "Make this number of shadow releases",
    "--signing-key": "Sign the release with the private key in this file",
    "--simulate": "Run plans on a table simulated",
    "--source": "State the public source",
    "--step": "Make cells of this width",
    "--table": "Read this table of the database",
    "--task": "Measure this",
    "--taxonomies": "Choose from the taxonomies in this folder",
    "--test": "Test classifiers on these records",
    "--to": "End with this day",
    "--url": "State the base URL",
    "--use": "State the intended use",
    "--values": "Read the values from this file",
    "--version": "Show the version",
    "--width": "Make a level of groups of this width",
    "--within": "Compute the epsilon for this error",
    "--write-pairs": "Write pairs.json too",
    "--write-records": "Write records.csv too",
}
"""How the help of an option begins, on every command that has it."""

SHARED = {
    "--resume": "Two names of one choice.",
    "--fresh": "Two names of one choice.",
}
"""Options whose meaning begins like that of another, with the reason."""

ALSO_SETTINGS = {
    "--delta": "the same delta, as a setting of truthful",
    "--fan-out": "the same number of nodes in one, as a setting of full-domain",
    "--for": "the same purpose, as a setting of weave and hedge",
    "--history": "the same file, as a setting of disclose",
    "--record-id": "the same column, as a setting of disclose",
}
"""Options of commands that are settings of methods as well, with the reason."""


def own_options() -> list[tuple[str, str, str]]:
    """The name, the command and the help of every option that is not a setting of a method."""
    found: list[tuple[str, str, str]] = []
    waiting = [((), get_command(APP))]
    while waiting:
        path, command = waiting.pop()
        for each in command.params:
            if each.param_type_name == "option" and not each.name.startswith("set_"):
                names = [*each.opts, *each.secondary_opts]
                found += [(name, " ".join(path), each.help) for name in names if name[:2] == "--"]
        waiting += [((*path, name), sub) for name, sub in getattr(command, "commands", {}).items()]
    return found


OWN = own_options()


@pytest.mark.parametrize(("name", "command", "text"), OWN, ids=lambda each: str(each)[:40])
def test_an_option_has_the_meaning_of_its_name(name, command, text):
    assert name in MEANINGS, f"{command} {name} is not in the table of meanings"
    assert text.startswith(MEANINGS[name])
    assert text.endswith(".")


def test_the_table_has_every_option_and_no_other():
    assert {name for name, _, _ in OWN} == set(MEANINGS)


def test_one_meaning_has_one_name():
    for name, meaning in MEANINGS.items():
        same = {each for each, other in MEANINGS.items() if other == meaning} - {name}
        assert not same or name in SHARED, f"{name} and {same}"


@pytest.mark.parametrize("section", ["publish", "disclose"])
def test_a_setting_has_the_name_of_no_other_option(section: Section):
    own = {name for name, _, _ in OWN}
    names = [f"--{each.option}" for each in setting_options(section).values()]
    assert len(names) == len(set(names))
    assert set(names) & own <= set(ALSO_SETTINGS)


def test_settings_of_both_sections_with_one_name_are_one_setting():
    publish, disclose = setting_options("publish"), setting_options("disclose")
    by_name = {each.option: key.rpartition(".")[2] for key, each in disclose.items()}
    shared = {each.option: key for key, each in publish.items() if each.option in by_name}
    assert shared == {name: by_name[name] for name in shared}
    assert {"measure", "model", "lambda", "kappa", "floor", "at-least", "faithful"} == set(shared)


# Former names.


def options_of(command: str) -> set[str]:
    found = get_command(APP)
    for word in command.split():
        found = found.commands[word]
    return {name for each in found.params for name in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("command", FORMER)
def test_former_names_lead_to_options_and_are_none_themselves(command):
    options = options_of(command)
    assert set(FORMER[command].values()) <= options
    assert not set(FORMER[command]) & options


def test_a_former_name_works_with_a_notice_on_stderr():
    words = ["ledger", "plan", "--every", "month", "--json"]
    old = CliRunner().invoke(APP, [*words, "--for", "2", "years", "--epsilon=4"])
    new = CliRunner().invoke(APP, [*words, "--duration", "2", "years", "--cap=4"])
    assert (old.exit_code, old.stdout) == (new.exit_code, new.stdout) == (0, new.stdout)
    assert new.stderr == ""
    assert old.stderr.splitlines() == [
        f"note: --for is now --duration; the old name works until {REMOVED_IN}",
        f"note: --epsilon is now --cap; the old name works until {REMOVED_IN}",
    ]


def test_an_option_of_the_same_name_elsewhere_is_left_alone():
    result = CliRunner().invoke(APP, ["taxonomy", "build", "dates", "--from", "x", "--to", "y"])
    assert result.exit_code == 2
    assert "note:" not in result.stderr
    assert "--out" in result.stderr  # the missing option is the only fault in form


def test_words_after_two_dashes_are_no_options():
    seen: list[str] = []
    words = ["--why", "a", "--", "--why"]
    found = list(
        present_names(words, {"--why": "--reason"}, notice=lambda *each: seen.extend(each))
    )
    assert found == ["--reason", "a", "--", "--why"]
    assert seen == ["--why", "--reason"]


def test_a_former_name_of_a_flag_names_a_flag():
    publish = get_command(APP).commands["publish"]
    flag = next(each for each in publish.params if "--write-records" in each.opts)
    assert FORMER["publish"]["--records"] == "--write-records"
    assert flag.is_flag


# Help.

VERBS = """
Accept Add Answer Approve Assume Attack Begin Book Build Change Check Choose Compare Compute
Confirm Connect Convert Count Describe Disclose Dissolve Draw Edit End Estimate Evaluate Explain
Export Finish Forecast Generalise Give Group Identify Keep Label List Listen Make Mask Measure Merge
Move Name Open Order Place Print Propose Protect Publish Put Read Refuse Remove Rename Replace
Resume Round Run Say Share Show Sign Spend Split State Test Treat Try Use Verify Withdraw Work Write
"""


def lines_of_help() -> list[tuple[str, str]]:
    """The first line of every command, and the line of every option, settings too."""
    found: list[tuple[str, str]] = []
    waiting = [((), get_command(APP))]
    while waiting:
        path, command = waiting.pop()
        found.append((" ".join(path), command.help))
        options = [each for each in command.params if each.param_type_name == "option"]
        found += [(" ".join((*path, each.opts[0])), each.help) for each in options]
        waiting += [((*path, name), sub) for name, sub in getattr(command, "commands", {}).items()]
    return found


def test_every_line_of_help_begins_with_a_verb():
    wrong = [
        (name, text)
        for name, text in lines_of_help()
        if text.split()[0].strip(",") not in VERBS.split()
    ]
    assert not wrong
