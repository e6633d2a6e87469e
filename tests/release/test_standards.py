"""A release in the formats that others ask for, each held to its public schema."""

from __future__ import annotations

import json
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml

import hedgerow
from hedgerow.cli.main import main
from hedgerow.errors import ReleaseError, SettingError
from hedgerow.model.certificate import Guarantee
from hedgerow.model.people import PeopleRule
from hedgerow.release.croissant import croissant
from hedgerow.release.folder import load_certificate
from hedgerow.release.publisher import Publisher
from hedgerow.release.registry import registry_entry
from support.certificates import change_certificate
from support.disclosure_tables import METHODS as DISCLOSURES
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.engine_plans import (
    basket_plan,
    sequence_plan,
    table_plan,
    write_baskets,
    write_table,
)

STANDARDS = Path(__file__).parent / "standards"
KINDS = ("table", "loose", "tables of weave", "baskets", "sequences", "disclosed", "awkward")
KNOWN = Publisher(
    name="City Hospital",
    kind="Nonprofit",
    region="Ticino",
    use="Research on readmission",
    url="https://data.example/visits",
    licence="https://creativecommons.org/licenses/by/4.0/",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """Releases of every kind; ledgers are not asked."""
    folder = tmp_path_factory.mktemp("releases")
    table, sets = write_table(folder / "t.csv"), write_baskets(folder / "s.dat", n=300)
    out = {kind: folder / kind.replace(" ", "-") for kind in KINDS}
    plans = {
        "table": (table_plan(("hedge", {})), table, {"records": True, "parquet": True}),
        "loose": (table_plan(("truthful", {"delta": "1/100"})), table, {}),
        "tables of weave": (table_plan(("weave", {})), table, {}),
        "baskets": (basket_plan(("coterie", {})), sets, {"parquet": True}),
        "sequences": (sequence_plan(("chain", {})), sets, {}),
    }
    for kind, (plan, data, given) in plans.items():
        hedgerow.publish(plan, data=data, out=out[kind], seed=5, **given)
    plan = disclosure_plan(**DISCLOSURES["aruba"])
    hedgerow.disclose(plan, data=patients(), out=out["disclosed"])
    return out


@pytest.fixture(params=KINDS)
def folder(request, folders, release) -> Path:
    """Each of them in turn, and a release whose labels and names are as awkward as they get."""
    place = folders[request.param]
    if request.param == "awkward" and not place.exists():
        release.write(place, records=True)
    return place


@pytest.fixture
def rules():
    text = (STANDARDS / "registry.schema.yaml").read_text(encoding="utf-8")
    checks = jsonschema.Draft7Validator.FORMAT_CHECKER
    return jsonschema.Draft7Validator(yaml.safe_load(text), format_checker=checks)


def as_private(folder: Path) -> hedgerow.Certificate:
    """The certificate of a seeded release, as if its noise had been real."""
    told = load_certificate(folder)
    real = told.guarantee.model_copy(update={"private": told.guarantee.kind != "none"})
    return told.model_copy(update={"guarantee": real})


def test_every_data_package_keeps_to_the_published_profile(folder):
    profile = json.loads((STANDARDS / "datapackage-2.0.schema.json").read_text(encoding="utf-8"))
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(profile).validate(package)
    for broken in ({**package, "resources": []}, {**package, "name": 7}):
        assert not jsonschema.Draft7Validator(profile).is_valid(broken)


def test_an_entry_for_the_registry_keeps_to_its_schema(folder, rules):
    certificate = as_private(folder)
    if not certificate.guarantee.private:
        with pytest.raises(ReleaseError, match="not differentially private"):
            registry_entry(certificate, KNOWN)
        return
    entry = yaml.safe_load(yaml.safe_dump(registry_entry(certificate, KNOWN)))
    assert [error.message for error in rules.iter_errors(entry)] == []
    parameters = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == float(certificate.guarantee.epsilon)
    assert ("delta" in parameters) == (certificate.guarantee.delta > 0)
    entry["deployment"]["dp_variant"]["variant_name"] = "Quite DP"
    del entry["deployment"]["administrative"]["tier"]
    assert len(list(rules.iter_errors(entry))) == 2  # the test can fail


def test_a_seeded_release_has_no_place_in_the_registry(folders):
    with pytest.raises(ReleaseError, match="not differentially private"):
        registry_entry(load_certificate(folders["table"]), KNOWN)


def test_what_no_certificate_says_is_asked_for(folders):
    with pytest.raises(SettingError) as asked:
        registry_entry(as_private(folders["table"]), Publisher(name="City Hospital"))
    assert asked.value.where == "--publisher-kind, --region, --use"
    with pytest.raises(SettingError, match="not one of the kinds"):
        Publisher(kind="Bakery")  # type: ignore[arg-type]


# rdflib, by which mlcroissant reads, uses what it has deprecated itself.
@pytest.mark.filterwarnings("ignore:.*is deprecated.*:DeprecationWarning")
def test_croissant_metadata_are_found_sound_and_lead_to_the_rows(folder, tmp_path):
    import mlcroissant

    shutil.copytree(folder, tmp_path / "copy")
    facts = croissant(folder, load_certificate(folder), KNOWN)
    checked = mlcroissant.Dataset(jsonld=facts)
    assert (list(checked.metadata.issues.errors), list(checked.metadata.issues.warnings)) == (
        [],
        [],
    )
    local = croissant(folder, load_certificate(folder), Publisher())
    (tmp_path / "copy" / "croissant.json").write_text(json.dumps(local), encoding="utf-8")
    read = mlcroissant.Dataset(jsonld=tmp_path / "copy" / "croissant.json")
    main_table = "disclosed" if (folder / "disclosed.csv").exists() else "release"
    rows = list(read.records(main_table))
    lines = (folder / f"{main_table}.csv").read_text(encoding="utf-8").count("\n")
    assert 0 < len(rows) <= lines - 1  # labels may hold line ends
    (wrong,) = [each for each in local["recordSet"] if each["@id"] == main_table]
    wrong["field"][0]["source"]["fileObject"]["@id"] = "nowhere.csv"
    with pytest.raises(mlcroissant.ValidationError):
        mlcroissant.Dataset(jsonld=local)


@pytest.fixture
def typed(monkeypatch, capsys, tmp_path, release):
    """A function that runs `hedgerow certificate` on a release, and returns what came of it."""
    release.write(tmp_path / "release")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hedgerow", "certificate", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def test_an_entry_is_printed_as_yaml_or_json(typed, rules):
    given = ["--publisher", "A", "--publisher-kind", "Industry", "--region", "B", "--use", "C"]
    code, out, _ = typed("release", "--as", "registry", *given)
    assert (code, list(rules.iter_errors(yaml.safe_load(out)))) == (0, [])
    code, as_json, _ = typed("release", "--as", "registry", *given, "--json")
    assert (code, json.loads(as_json)) == (0, yaml.safe_load(out))


def test_a_description_is_written_beside_the_release(typed):
    code, out, _ = typed("release", "--as", "croissant", "-o", "c.json")
    assert (code, out) == (0, "c.json: release as croissant\n")
    assert json.loads(Path("c.json").read_text())["conformsTo"].endswith("/1.0")
    assert hedgerow.verify("release").intact


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["release", "--as", "poem"], "not a kind of description"),
        (["release", "--as", "registry"], "--publisher"),
        (["release", "--as", "croissant", "-o", "release/c.json"], "in the release folder"),
        (["release", "--as", "croissant", "-o", "no/c.json"], "cannot be written"),
        (["nowhere", "--as", "croissant"], "certificate.json is missing"),
    ],
)
def test_wrong_uses_are_one_message(typed, words, what):
    code, _, err = typed(*words)
    assert code == 2
    assert what in err


def test_a_damaged_release_is_not_described(typed):
    change_certificate(Path("release"), lambda facts: facts["data"].update({"noisy-total": 1}))
    code, _, err = typed("release", "--as", "croissant")
    assert (code, "do not add up" in err) == (2, True)


UNITS = {
    "person": ("One patient", "Protects each patient (column patient) with all their records."),
    "one record per person": ("One person", "The plan states that nobody has more than one record"),
    "records": ("One record", "A person with ten records has ten times the privacy loss."),
}


@pytest.mark.parametrize("unit", UNITS)
def test_an_entry_names_the_privacy_unit_that_the_plan_states(make_certificate, unit):
    people = PeopleRule(columns=("patient",), most=4) if unit == "person" else None
    promised = Guarantee.differential_privacy(
        Fraction(1), reproducible=False, unit=unit, people=people
    )
    entry = registry_entry(make_certificate(guarantee=promised), KNOWN)
    loss = entry["deployment"]["privacy_loss"]
    name, words = UNITS[unit]
    assert loss["privacy_unit"] == name
    assert words in loss["privacy_unit_details"]
    assert ("nobody has more than one" in yaml.safe_dump(entry, width=9999)) == (
        unit == "one record per person"
    )
