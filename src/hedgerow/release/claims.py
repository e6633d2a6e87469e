"""Facts of a certificate that follow from other facts, derived again and compared.

An unsigned certificate can be edited and its digests computed anew. Whoever edits a fact that is
derived here must also edit the guarantee's sentence, the settings, the public domains of
`recoding.json` or `universe.json`, the disclosed table and `datapackage.json`.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

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
"""Neighbouring tables of records in certificates that state no privacy unit."""

_ONE_EACH = "each person has at most one record, as the plan states"
"""Assumption about people in a certificate if, and only if, it states its privacy unit."""

_PROVED_DELTA = "sample"
"""The only method whose delta is proved from public numbers and is not a setting."""


def unfounded(folder: Path, certificate: Certificate) -> list[Fault]:
    """Return the facts of a certificate that do not follow from its other facts or its files."""
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


def _read(
    path: Path, read: Callable[[Path, Certificate], Iterator[str]], certificate: Certificate
) -> list[str]:
    try:
        return list(read(path, certificate))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, SealError, HedgerowError):
        return ["it does not have the content of such a release file"]


def _of_guarantee(certificate: Certificate) -> Iterator[str]:
    promised, seeded = certificate.guarantee, certificate.randomness.reproducible
    if certificate.randomness != randomness(seeded=seeded):
        yield "its statements about the source of its random numbers contradict each other"
    if promised.private != (promised.epsilon is not None and not seeded):
        yield "its claim to be private does not follow from its guarantee and its random numbers"
    if promised.epsilon is None:
        numbers = (promised.epsilon_decimal, promised.delta, promised.neighbours, promised.person)
        if any(each is not None for each in numbers):
            yield "it states numbers of a guarantee that it does not give"
        if certificate.budget.spends or certificate.budget.total or certificate.counts is not None:
            yield "it has a budget without a guarantee"
        if not promised.statement.startswith("Not differentially private"):
            yield "its statement does not say that it is not differentially private"
        return
    if promised.neighbours != _neighbours(promised):
        yield "its neighbouring tables do not match whom it protects"
    assumes_one = any(each.what == _ONE_EACH for each in certificate.assumed_public)
    if promised.unit is not None and assumes_one != (promised.unit == "one record per person"):
        yield "its assumption about people does not match its privacy unit"
    if promised.person is not None:
        words = " ".join(each.what for each in certificate.assumed_public)
        counted = re.findall(r"at most (\d+) of them count", words)
        if counted and counted[-1] != str(promised.person.records):
            yield "it states two limits for the number of records of a person"
    if promised.delta is None:
        yield "it has an epsilon without a delta"
    elif not _is_derived(certificate, promised.epsilon, promised.delta):
        yield "its statement does not follow from its epsilon, its delta and whom it protects"
    if promised.private and certificate.ledger is None:
        yield "it is private, and names no booking"
    if certificate.ledger is not None and (promised.delta or 0) > certificate.ledger.delta_cap:
        yield "delta exceeds the cap of the ledger"


def _neighbours(promised: Guarantee) -> str:
    """Return the neighbouring tables of the people or records that a guarantee protects."""
    if promised.unit is not None:
        return NEIGHBOURS[promised.unit]
    return _EARLIER_NEIGHBOURS if promised.person is None else NEIGHBOURS["person"]


def _is_derived(certificate: Certificate, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether the statement is the one that these facts imply.

    A certificate without a privacy unit has the statement of an earlier version. If delta is not
    0, a text of its method follows.
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
    """Return the statement of versions before 0.2.0: one direction, rounded to the nearest."""
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
        columns = displayed(", ".join(person.columns))
        records = _called(certificate)
        whose = (
            f"any one {person.noun} (told by {columns}), with all their {records}, as without them"
        )
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
        yield "its settings belong to another method"
    if settings.get("faithful", method.faithful) != method.faithful:
        yield "it contradicts itself about being faithful to a paper"
    if "epsilon" in settings and _fraction(settings["epsilon"]) != promised.epsilon:
        yield "its settings have another epsilon than its guarantee"
    known = METHODS.get(method.name)
    if known is None:
        return
    if issubclass(known, PrivateSettings) != (promised.epsilon is not None):
        yield "its method gives another guarantee"
    set_delta = promised.delta is not None and method.name != _PROVED_DELTA
    if set_delta and _fraction(settings.get("delta") or 0) != promised.delta:
        yield "its delta does not match its settings"


def _of_kind(certificate: Certificate) -> Iterator[str]:
    if certificate.tool != "hedgerow":
        yield "it was written by another tool"
    if certificate.format_version > 1 and not {PACKAGE, _REPORT} <= certificate.files.keys():
        yield "it lacks the report or the data package that every release has"
    if certificate.engine not in _ENGINES:
        yield "its engine does not exist"
    data, known = certificate.data, METHODS.get(certificate.method.name)
    kinds = {"records": "table", "baskets": "baskets", "sequences": "sequences"}
    if known is not None and known.publishes != kinds[_called(certificate)]:
        yield "its method publishes another kind of data"
    if (data.items is None) != bool(data.attributes):
        yield "it has both attributes and items, or neither"
    if (data.noisy_total is None) != (_DISCLOSED in certificate.files):
        yield "it must have a total unless it is a disclosure of single records"
    risk = certificate.disclosure
    if risk is not None and _DISCLOSED not in certificate.files:
        yield "it describes a disclosure of single records, and the release has none"
    if risk is not None and _risk_number(risk) not in certificate.guarantee.statement:
        yield "its statement does not say how far the risk fell"
    if risk is not None and not (risk.lowered or risk.accepted):
        yield "the risk did not fall, and nobody accepted that"
    if certificate.format_version > 1 and any(line.note for line in certificate.budget.spends):
        yield "a line of its budget has a note, which budgets never have"
    if certificate.counts is not None and certificate.counts.noise != "discrete Laplace":
        yield "its kind of noise does not exist"


def _risk_number(risk: DisclosedRisk) -> str:
    """Return the number that the statement of a disclosure names, or an empty text."""
    if not risk.lowered:
        return f" {risk.threshold} "
    is_named = risk.mean_left is not None and risk.mean_left <= risk.threshold
    return f" {risk.mean_left} " if is_named else ""


def _of_signatures(certificate: Certificate) -> Iterator[str]:
    """Compare the parts about who confirmed and approved the plan."""
    confirmed, approved = certificate.confirmed, certificate.approved
    if confirmed is None:
        return
    parts = (confirmed.by, confirmed.on, confirmed.plan_sha256)
    if any(each is None for each in parts) and any(each is not None for each in parts):
        yield "a confirmation must have a name, a date and a fingerprint, or none of them"
    signed = (confirmed.plan_sha256, approved.plan_sha256 if approved is not None else None)
    if None not in signed and len(set(signed)) > 1:
        yield "two different plans were confirmed and approved"


def _of_domain_words(certificate: Certificate) -> Iterator[str]:
    """Compare the sizes of attributes with the descriptions of their public domains."""
    public = [each.what for each in certificate.assumed_public if each.sha256 is not None]
    for attribute, what in zip(certificate.data.attributes, public, strict=False):
        sizes = re.findall(r"\b(?:with|in) (\d+) (?:values|cells)\b", what)
        if sizes and sizes[-1] != str(attribute.size):
            yield f"the size of {displayed(attribute.name)} does not match its public domain"


def _of_dictionary(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare units and meanings of attributes with the data dictionary."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {row["column"]: row for row in reversed(rows) if not row["label"] and row["type"]}
    for attribute in certificate.data.attributes:
        row = columns.get(spreadsheet_safe(attribute.name))
        if row is None:
            continue  # the table had to write the name in another way
        if row["unit"] != spreadsheet_safe(attribute.unit or ""):
            yield f"the unit of {displayed(attribute.name)} differs from the certificate"
        if spreadsheet_safe(attribute.meaning or "") not in row["meaning"]:
            yield f"the meaning of {displayed(attribute.name)} differs from the certificate"


def _of_recoding(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare the attributes and their public domains with the published ranges."""
    schema = Recoding.from_json(path.read_text(encoding="utf-8"), where=path.name).schema
    certified = tuple(_plain(each) for each in certificate.data.attributes)
    if certified != described(schema, None):
        yield "its attributes differ from those that the certificate describes"
    public = [each for each in certificate.assumed_public if each.sha256 is not None]
    domains = [describe(each.domain).digest() for each in schema.used()]
    if [each.sha256 for each in public[: len(domains)]] != domains:
        yield "its domains differ from those that the certificate assumes to be public"
    if len(public) > len(domains) + (certificate.covers is not None):
        yield "the certificate assumes domains to be public that no attribute has"


def _plain(attribute: DescribedAttribute) -> DescribedAttribute:
    return attribute.model_copy(update={"unit": None, "meaning": None, "source": None})


def _of_universe(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare the description of the items with the published universe."""
    stored = facts_in(path.read_text(encoding="utf-8"))["taxonomy"]
    domain = CategoricalDescription.model_validate(stored).domain()
    items = certificate.data.items
    height = int(domain.taxonomy.height[0])
    if items is None or (items.size, items.height) != (domain.taxonomy.n_leaves, height):
        yield "its items differ from those that the certificate describes"
    public = [each.sha256 for each in certificate.assumed_public if each.sha256 is not None]
    if public != [describe(domain).digest()]:
        yield "its taxonomy differs from the one that the certificate assumes to be public"


def _of_disclosed(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare the description of single records with the table of them."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        repeats = Counter(map(tuple, rows))
    if [displayed(each.name) for each in certificate.data.attributes] != [
        displayed(name) for name in names
    ]:
        yield "its columns differ from the attributes that the certificate describes"
    unique = sum(1 for n in repeats.values() if n == 1)
    if certificate.disclosure is not None and certificate.disclosure.unique_rows != unique:
        yield "its number of unique rows differs from the certificate"


def _of_package(path: Path, certificate: Certificate) -> Iterator[str]:
    """Compare the facts that the data package repeats with the certificate."""
    stored, promised = facts_in(path.read_text(encoding="utf-8")), certificate.guarantee
    own = stored["hedgerow"]
    if (stored["title"], stored["description"]) != (certificate.data.name, promised.statement):
        yield "its title or its description differs from the certificate"
    said = (own["method"], own["epsilon"], own["delta"], own["private"])
    exact = [None if each is None else str(each) for each in (promised.epsilon, promised.delta)]
    if said != (certificate.method.name, *exact, promised.private):
        yield "its method or its guarantee differs from the certificate"
    if "certified" in own:
        now = certified_facts(certificate)
        for part in sorted({*now, *own["certified"]}):
            if now.get(part) != own["certified"].get(part):
                yield f"its {part!r} differs from the certificate"


def _fraction(value: object) -> Fraction | None:
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None
