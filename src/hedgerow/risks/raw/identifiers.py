"""Columns that identify people directly: the 18 identifiers of HIPAA, by name and by form.

The list is that of 45 CFR 164.514(b)(2) ("safe harbour"). A column is found by its name, or because
most of its values have the form of such an identifier. Both miss some and find too many: the list
says which columns to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.read.source import Source
from hedgerow.read.text import as_text

SAMPLE = 20_000
"""Maximum number of records whose values are examined."""

MOSTLY = 0.8
"""Minimum share of the values that must have a form."""

LEAST_VALUES = 20
"""Minimum number of values for recognising a form."""

_NEARLY_UNIQUE = 0.95

KINDS: Mapping[int, str] = {
    1: "names",
    2: "places smaller than a state",
    3: "dates other than a year, and ages over 89",
    4: "telephone numbers",
    5: "fax numbers",
    6: "e-mail addresses",
    7: "social security numbers",
    8: "medical record numbers",
    9: "health plan numbers",
    10: "account numbers",
    11: "certificate and licence numbers",
    12: "vehicle identifiers and number plates",
    13: "device identifiers and serial numbers",
    14: "web addresses",
    15: "IP addresses",
    16: "biometric identifiers",
    17: "photographs of faces",
    18: "other unique numbers or codes",
}

_NAMED: tuple[tuple[int, str], ...] = (
    (7, "ssn social_?security nino pesel bsn codice_fiscale nir aadhaar steuer_?id"),
    (5, "fax telefax"),
    (4, "phone mobile telefon telephone téléphone tel handy"),
    (6, "e_?mail courriel correo"),
    (8, "mrn medical_record patient_?(?:id|nr|no|nbr|num|number) nhs kvnr expediente nuhsa"),
    (9, "health_?plan insurance_(?:id|no|nr|number) versicherten.* beneficiary member_(?:id|no)"),
    (10, "account iban konto.* card_(?:no|nr|number) credit_?card"),
    (11, "licen[cs]e certificate passport ausweis"),
    (12, "plate vin vehicle_id kennzeichen registration_(?:no|number)"),
    (13, "imei imsi mac_?address device serial"),
    (14, "url website web_?page homepage"),
    (15, "ip ip_?address"),
    (16, "fingerprint retina iris_scan voice_?print biometric genome dna"),
    (17, "photo picture image portrait face"),
    (
        1,
        "(?:first|last|sur|family|given|full|maiden)?_?name vorname nachname nombre apellidos? nom",
    ),
    (1, "pr[eé]nom"),
    (2, "zip zip_?code post_?code postal_?code plz address street city town county adresse stra.e"),
    (2, "strasse ort lat lon latitude longitude geocode c[oó]digo_postal"),
    (3, "dob birth_?date birth_?day geburtsdatum naissance nacimiento date datum fecha timestamp"),
    (18, "id uid uuid guid pid key hash token case_(?:id|no|nr) pseudonym"),
)
"""Kinds with regular expressions for the words in names of columns."""

_AGE = re.compile(r"(?:.*_)?(?:age|alter|edad|âge|leeftijd)(?:_.*)?")
_OLD = 90.0

_FORMS: tuple[tuple[int, str], ...] = (
    (6, r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"),
    (14, r"^(?:https?://|www\.)\S+$"),
    (15, r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$"),
    (13, r"^(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$"),
    (15, r"^(?:[0-9A-Fa-f]{1,4}:){4,7}[0-9A-Fa-f]{1,4}$"),
    (7, r"^\d{3}-\d{2}-\d{4}$"),
    (12, r"^[A-HJ-NPR-Z0-9]{17}$"),
    (3, r"^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[T ].*)?$"),
    (4, r"^(?:\+\d{1,3}[ ./-]?|\(\d{2,5}\)|0)[\d ()/.-]{6,}$"),
    (18, r"^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$"),
)

Evidence = Literal["name", "form"]


@dataclass(frozen=True, kw_only=True)
class IdentifierFound:
    """A column that may identify people directly."""

    column: str
    kind: int
    by: Evidence

    @property
    def what(self) -> str:
        """The kind in words."""
        return KINDS[self.kind]


def named_kind(column: str) -> int | None:
    """Return the kind of identifier that a column's name suggests.

    >>> [named_kind(name) for name in ("E-Mail", "PatientNr", "zip_code", "income", "age")]
    [6, 8, 2, None, None]
    """
    for kind, words in _NAMED:
        pattern = "|".join(words.split())
        if re.fullmatch(rf"(?:.*_)?(?:{pattern})(?:_.*)?", _plain(column)):
            return kind
    return None


def _plain(column: str) -> str:
    """Return a name in lower case, its words joined by underscores."""
    words = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", "_", column)
    return re.sub(r"[\W_]+", "_", words).strip("_").lower()


def identifiers_in(source: Source) -> tuple[IdentifierFound, ...]:
    """Return the columns that look like direct identifiers, in the order of the table."""
    samples = dict(_samples(source))
    found = []
    for column in source.columns:
        kind = named_kind(column)
        if kind is not None:
            found.append(IdentifierFound(column=column, kind=kind, by="name"))
            continue
        kind = form_kind(samples[column]) if column in samples else None
        if kind is None and column in samples and _holds_old_age(column, samples[column]):
            kind = 3
        if kind is not None:
            found.append(IdentifierFound(column=column, kind=kind, by="form"))
    return tuple(found)


def form_kind(values: pa.Array) -> int | None:
    """Return the kind of identifier whose form most values have."""
    values = values.drop_null()
    values = values.filter(pc.not_equal(values, ""))
    if len(values) < LEAST_VALUES:
        return None
    for kind, pattern in _FORMS:
        matching = pc.sum(pc.match_substring_regex(values, pattern)).as_py() or 0
        if matching >= MOSTLY * len(values):
            return kind
    coded = pc.sum(pc.match_substring_regex(values, r"^[A-Za-z]{0,4}[-_ ]?\d{3,}$")).as_py() or 0
    distinct = pc.count_distinct(values).as_py()
    nearly_unique = distinct >= _NEARLY_UNIQUE * len(values) and coded >= MOSTLY * len(values)
    return 18 if nearly_unique else None


def _holds_old_age(column: str, values: pa.Array) -> bool:
    """Return whether a column of ages has one above 89."""
    if _AGE.fullmatch(_plain(column)) is None:
        return False
    whole = values.filter(pc.match_substring_regex(values, r"^\d{1,3}(?:\.0*)?$"))
    return bool(len(whole)) and pc.max(whole.cast(pa.float64())).as_py() >= _OLD


def _samples(source: Source) -> Iterator[tuple[str, pa.Array]]:
    columns = list(source.columns)
    if not columns:
        return
    taken: list[list[pa.Array]] = [[] for _ in columns]
    n_taken = 0
    for batch in source.batches(columns, text=set(columns)):
        for at, column in enumerate(columns):
            texts = as_text(batch.column(at), where=f"{source.name}, column {column!r}")
            if pa.types.is_dictionary(texts.type):
                texts = texts.dictionary_decode()
            taken[at].append(texts.slice(0, SAMPLE - n_taken).cast(pa.string()))
        n_taken += batch.num_rows
        if n_taken >= SAMPLE:
            break
    for column, parts in zip(columns, taken, strict=True):
        if parts:
            yield column, pa.chunked_array(parts, pa.string()).combine_chunks()
