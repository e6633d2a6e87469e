"""Facts of a certificate that follow from others, derived again and compared.

A certificate without a signature can be edited and its digests made anew. What is derived here
must be edited everywhere: in the guarantee's sentence, in the settings, in the public domains of
`recoding.json` or `universe.json`, in the disclosed table and in `datapackage.json`.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.model.certificate import (
    Certificate,
    CertifiedPerson,
    DescribedAttribute,
    DisclosedRisk,
    Guarantee,
)
from hedgerow.model.people import PeopleRule
from hedgerow.model.sealed import SealError, facts_in
from hedgerow.model.unit import NEIGHBOURS
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from hedgerow.release.certificate_parts import described, randomness
from hedgerow.release.dictionary import DICTIONARY
from hedgerow.release.domains import CategoricalDescription, describe
from hedgerow.release.inventory import Fault
from hedgerow.release.leftovers import CERTIFICATE
from hedgerow.release.package import PACKAGE, certified_facts
from hedgerow.release.recoding import Recoding
from hedgerow.release.restated import misreported
from hedgerow.release.table import spreadsheet_safe
from hedgerow.taxonomy.labels import displayed

_RECODING, _UNIVERSE = "recoding.json", "universe.json"
_DISCLOSED, _REPORT = "disclosed.csv", "report.html"
_ENGINES = ("memory", "stream", "spark")
_EARLIER_NEIGHBOURS = "add or remove one record; one record per person"
"""The neighbours of records in certificates that state no privacy unit."""

_ONE_EACH = "each person has at most one record, as the plan states"
"""What a certificate assumes of people if, and only if, that is its privacy unit."""

_PROVED_DELTA = "sample"
"""The one method whose delta is proved from public numbers and is not a setting."""


def unfounded(folder: Path, certificate: Certificate) -> list[Fault]:
    """Return what in a certificate does not follow from its other facts, or from the files."""
    own = (
        *_of_guarantee(certificate),
        *_of_method(certificate),
        *_of_kind(certificate),
        *_of_domain_words(certificate),
        *_of_signatures(certificate),
    )
    found = [Fault(file=CERTIFICATE, what=what) for what in own]
    readers = {
        _RECODING: _of_recoding,
        _UNIVERSE: _of_universe,
        _DISCLOSED: _of_disclosed,
        DICTIONARY: _of_dictionary,
        PACKAGE: _of_package,
        _REPORT: misreported,
    }
    for name, read in readers.items():
        if name in certificate.files:
            found += [
                Fault(file=name, what=what) for what in _read(folder / name, read, certificate)
            ]
    return found


def _read(path: Path, read: Any, certificate: Certificate) -> list[str]:
    try:
        return list(read(path, certificate))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, SealError, HedgerowError):
        return ["it does not hold what such a file of a release has"]


def _of_guarantee(certificate: Certificate) -> Iterator[str]:
    promised, seeded = certificate.guarantee, certificate.randomness.reproducible
    if certificate.randomness != randomness(seeded=seeded):
        yield "where its random numbers came from does not fit together"
    if promised.private != (promised.epsilon is not None and not seeded):
        yield "whether it is private does not follow from its guarantee and its random numbers"
    if promised.epsilon is None:
        numbers = (promised.epsilon_decimal, promised.delta, promised.neighbours, promised.person)
        if any(each is not None for each in numbers):
            yield "it has numbers of a guarantee that it does not give"
        if certificate.budget.spends or certificate.budget.total or certificate.counts is not None:
            yield "it has a budget without a guarantee"
        if not promised.statement.startswith("Not differentially private"):
            yield "its statement does not say that it is not differentially private"
        return
    if promised.neighbours != _neighbours(promised):
        yield "its neighbouring tables are not those of whom it protects"
    assumes_one = any(each.what == _ONE_EACH for each in certificate.assumed_public)
    if promised.unit is not None and assumes_one != (promised.unit == "one record per person"):
        yield "what it assumes of people is not its privacy unit"
    if promised.person is not None:
        words = " ".join(each.what for each in certificate.assumed_public)
        counted = re.findall(r"at most (\d+) of them count", words)
        if counted and counted[-1] != str(promised.person.records):
            yield "how many records of a person count is said in two ways"
    if promised.delta is None:
        yield "it has an epsilon without a delta"
    elif not _is_derived(certificate, promised.epsilon, promised.delta):
        yield "its statement does not follow from its epsilon, its delta and whom it protects"
    if promised.private and certificate.ledger is None:
        yield "it is private, and names no booking"
    if certificate.ledger is not None and (promised.delta or 0) > certificate.ledger.delta_cap:
        yield "delta is over the cap of the ledger"


def _neighbours(promised: Guarantee) -> str:
    """Return the neighbouring tables of those whom a guarantee protects."""
    if promised.unit is not None:
        return NEIGHBOURS[promised.unit]
    return _EARLIER_NEIGHBOURS if promised.person is None else NEIGHBOURS["person"]


def _is_derived(certificate: Certificate, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether the statement is the one of its facts.

    A certificate without a privacy unit has the words of an earlier version.

    A delta comes with words of its method, which follow after.
    """
    said, seeded = certificate.guarantee.statement, certificate.randomness.reproducible
    rests_on = certificate.method.details.get("rests-on")
    unit = certificate.guarantee.unit
    if unit is None and not seeded:
        earlier = _earlier(certificate, epsilon, delta)
        return said.startswith(earlier) if delta else said == earlier
    now = Guarantee.differential_privacy(
        epsilon,
        reproducible=seeded,
        delta=delta,
        unit=unit or "records",
        people=_people(certificate.guarantee.person),
        called=_called(certificate),
        rests_on=None if rests_on is None else str(rests_on),
    ).statement
    return said.startswith(now) if delta and not seeded else said == now


def _earlier(certificate: Certificate, epsilon: Fraction, delta: Fraction) -> str:
    """Return the statement as it was before 0.2.0: one direction, rounded to the nearest."""
    factor = math.inf if epsilon > 700 else math.exp(epsilon)
    times = f"{factor:.2g}" if factor >= 1e6 else f"{factor:,.2f}"
    times = "more than 10^304" if factor == math.inf else times
    if delta:
        return (
            f"Differentially private with epsilon = {epsilon} and delta = {float(delta):.3g}: but"
            " for a chance of delta that may go wrong for any one person, whatever anyone concludes"
            f" from this release is at most {times} times as likely with that person's record as"
            " without it."
        )
    person = certificate.guarantee.person
    whose = "any one person's record as without it"
    if person is not None:
        told = displayed(", ".join(person.columns))
        records = _called(certificate)
        whose = f"any one {person.noun} (told by {told}), with all their {records}, as without them"
    rests_on = certificate.method.details.get("rests-on")
    return (
        f"Differentially private with epsilon = {epsilon} and delta = 0: whatever anyone concludes"
        f" from this release is at most {times} times as likely with {whose}."
        f"{'' if rests_on is None else f' {rests_on}'}"
    )


def _people(person: CertifiedPerson | None) -> PeopleRule | None:
    if person is None:
        return None
    return PeopleRule(
        columns=person.columns, most=person.records, counted=person.counted, join=person.join
    )


def _called(certificate: Certificate) -> str:
    items = certificate.data.items
    if items is None:
        return "records"
    return "sequences" if items.ordered else "baskets"


def _of_method(certificate: Certificate) -> Iterator[str]:
    method, promised = certificate.method, certificate.guarantee
    settings = method.settings
    if settings.get("method", method.name) != method.name:
        yield "its settings are those of another method"
    if settings.get("faithful", method.faithful) != method.faithful:
        yield "whether it is faithful to a paper is said in two ways"
    if "epsilon" in settings and _fraction(settings["epsilon"]) != promised.epsilon:
        yield "its settings have another epsilon than its guarantee"
    known = METHODS.get(method.name)
    if known is None:
        return
    if issubclass(known, PrivateSettings) != (promised.epsilon is not None):
        yield "its method gives another guarantee"
    set_delta = promised.delta is not None and method.name != _PROVED_DELTA
    if set_delta and _fraction(settings.get("delta") or 0) != promised.delta:
        yield "its delta is not that of its settings"


def _of_kind(certificate: Certificate) -> Iterator[str]:
    if certificate.tool != "hedgerow":
        yield "it is of another tool"
    if certificate.format_version > 1 and not {PACKAGE, _REPORT} <= certificate.files.keys():
        yield "it has no report, or no data package, which every release has"
    if certificate.engine not in _ENGINES:
        yield "there is no such engine"
    data, known = certificate.data, METHODS.get(certificate.method.name)
    kinds = {"records": "table", "baskets": "baskets", "sequences": "sequences"}
    if known is not None and known.publishes != kinds[_called(certificate)]:
        yield "its method publishes data of another kind"
    if (data.items is None) != bool(data.attributes):
        yield "it has both attributes and items, or neither"
    if (data.noisy_total is None) != (_DISCLOSED in certificate.files):
        yield "only single records have no total"
    risk = certificate.disclosure
    if risk is not None and _DISCLOSED not in certificate.files:
        yield "it says how single records were disclosed, and there are none"
    if risk is not None and _risk_number(risk) not in certificate.guarantee.statement:
        yield "its statement does not say how far risk fell"
    if risk is not None and not (risk.lowered or risk.accepted):
        yield "risk did not fall, and nobody accepted that"
    if certificate.format_version > 1 and any(line.note for line in certificate.budget.spends):
        yield "a line of its budget has a note, which none has"
    if certificate.counts is not None and certificate.counts.noise != "discrete Laplace":
        yield "there is no such noise"


def _risk_number(risk: DisclosedRisk) -> str:
    """Return the number that the statement of a disclosure names; nothing if it names none."""
    if not risk.lowered:
        return f" {risk.threshold} "
    is_named = risk.mean_left is not None and risk.mean_left <= risk.threshold
    return f" {risk.mean_left} " if is_named else ""


def _of_signatures(certificate: Certificate) -> Iterator[str]:
    """Compare the parts of who confirmed and approved the plan."""
    confirmed, approved = certificate.confirmed, certificate.approved
    if confirmed is None:
        return
    parts = (confirmed.by, confirmed.on, confirmed.plan_sha256)
    if any(each is None for each in parts) and any(each is not None for each in parts):
        yield "a confirmation has a name, a day and a fingerprint, or none of them"
    signed = (confirmed.plan_sha256, approved.plan_sha256 if approved is not None else None)
    if None not in signed and len(set(signed)) > 1:
        yield "it was confirmed and approved for two different plans"


def _of_domain_words(certificate: Certificate) -> Iterator[str]:
    """Compare the sizes of attributes with what is said of their public domains."""
    public = [each.what for each in certificate.assumed_public if each.sha256 is not None]
    for attribute, what in zip(certificate.data.attributes, public, strict=False):
        sizes = re.findall(r"\b(?:with|in) (\d+) (?:values|cells)\b", what)
        if sizes and sizes[-1] != str(attribute.size):
            yield f"the size of {displayed(attribute.name)} is not that of its public domain"


def _of_dictionary(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare units and meanings of attributes with the data dictionary."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {row["column"]: row for row in reversed(rows) if not row["label"] and row["type"]}
    for attribute in certificate.data.attributes:
        row = columns.get(spreadsheet_safe(attribute.name))
        if row is None:
            continue  # of a name that the table had to write in another way
        if row["unit"] != spreadsheet_safe(attribute.unit or ""):
            yield f"the unit of {displayed(attribute.name)} is not that of the certificate"
        if spreadsheet_safe(attribute.meaning or "") not in row["meaning"]:
            yield f"the meaning of {displayed(attribute.name)} is not that of the certificate"


def _of_recoding(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare the attributes and their public domains with the ranges that were published."""
    schema = Recoding.from_json(path.read_text(encoding="utf-8"), where=path.name).schema
    told = tuple(_plain(each) for each in certificate.data.attributes)
    if told != described(schema, None):
        yield "its attributes are not those that the certificate describes"
    public = [each for each in certificate.assumed_public if each.sha256 is not None]
    domains = [describe(each.domain).digest() for each in schema.used()]
    if [each.sha256 for each in public[: len(domains)]] != domains:
        yield "its domains are not those that the certificate takes as public, one by one"
    if len(public) > len(domains) + (certificate.covers is not None):
        yield "the certificate takes domains as public that no attribute has"


def _plain(attribute: DescribedAttribute) -> DescribedAttribute:
    return attribute.model_copy(update={"unit": None, "meaning": None, "source": None})


def _of_universe(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare what is said of the items with the universe that was published."""
    stored = facts_in(path.read_text(encoding="utf-8"))["taxonomy"]
    domain = CategoricalDescription.model_validate(stored).domain()
    items = certificate.data.items
    height = int(domain.taxonomy.height[0])
    if items is None or (items.size, items.height) != (domain.taxonomy.n_leaves, height):
        yield "its items are not those that the certificate describes"
    public = [each.sha256 for each in certificate.assumed_public if each.sha256 is not None]
    if public != [describe(domain).digest()]:
        yield "its taxonomy is not the one that the certificate takes as public"


def _of_disclosed(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare what is said of single records with the table of them."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        repeats = Counter(map(tuple, rows))
    if [displayed(each.name) for each in certificate.data.attributes] != [
        displayed(name) for name in names
    ]:
        yield "its columns are not the attributes that the certificate describes"
    unique = sum(1 for n in repeats.values() if n == 1)
    if certificate.disclosure is not None and certificate.disclosure.unique_rows != unique:
        yield "it has another number of rows that no other row equals"


def _of_package(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare what the data package repeats of the certificate."""
    stored, promised = facts_in(path.read_text(encoding="utf-8")), certificate.guarantee
    own = stored["hedgerow"]
    if (stored["title"], stored["description"]) != (certificate.data.name, promised.statement):
        yield "its title or its description is not that of the certificate"
    said = (own["method"], own["epsilon"], own["delta"], own["private"])
    exact = [None if each is None else str(each) for each in (promised.epsilon, promised.delta)]
    if said != (certificate.method.name, *exact, promised.private):
        yield "its method or its guarantee is not that of the certificate"
    if "certified" in own:
        now = certified_facts(certificate)
        for part in sorted({*now, *own["certified"]}):
            if now.get(part) != own["certified"].get(part):
                yield f"it repeats another {part!r} than the certificate has"


def _fraction(value: Any) -> Fraction | None:
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None
