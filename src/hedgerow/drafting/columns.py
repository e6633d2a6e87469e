"""Columns that are not attributes: identifiers, row numbers, weights, free text and codes.

Names are compared by their words in English, German, French and Spanish; if a name is not clear,
the values decide. If both are unclear, a column that could identify people is left out.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from hedgerow.drafting.match import words_of
from hedgerow.drafting.profile import RARE, Profile
from hedgerow.plan.people import is_person_key

_PERSONAL = {
    *("ssn", "email", "passport", "iban"),
    *("surname", "firstname", "lastname", "forename", "fullname", "givenname", "familyname"),
    *("vorname", "nachname", "geburtsname", "sozialversicherungsnummer"),
    *("versichertennummer", "krankenversichertennummer", "steuernummer", "ausweisnummer"),
    *("prenom", "prénom", "nom", "apellido", "apellidos", "nombre"),
}
_PERSONAL_IF_MANY = {
    *("mail", "phone", "telephone", "mobile", "fax", "url", "telefon", "handy", "adresse"),
    *("anschrift", "strasse", "straße", "hausnummer", "street", "address", "correo", "telefono"),
    *("latitude", "longitude", "lat", "lon", "lng", "ip", "kontonummer"),
}
"""Words that may also occur in the name of a flag or a kind."""

_IDENTIFYING = {
    *("id", "ids", "name", "nbr", "no", "nr", "num", "number", "uuid", "guid", "key", "address"),
    *("nummer", "kennung", "identifier", "identifikator", "aktenzeichen", "schluessel"),
    *("index", "idx", "pid", "uid", "serial", "token", "barcode", "mrn", "account", "konto"),
}
_IDENTIFYING_ENDS = ("nummer", "nr", "kennung", "_id", "uuid", "barcode")
_ROWS = {
    *("row", "rownum", "rowid", "rownumber", "rowno", "index", "idx", "zeile", "zeilennummer"),
    *("lfdnr", "lfd", "laufendenummer", "unnamed0", "unnamed", "recordnumber", "recno", "obs"),
    *("satznummer", "satznr", "x", "n", "line", "lineno"),
}
_WEIGHTS = {
    *("fnlwgt", "finalweight", "finalwt", "finlwgt", "surveyweight", "surveywt", "sampleweight"),
    *("samplingweight", "samplewt", "instanceweight", "personweight", "personwt", "perwt", "hhwt"),
    *("householdweight", "designweight", "designwt", "pweight", "pwgt", "pwgtp", "wgtp", "wgt"),
    *("wtfa", "weighting", "expansionfactor", "inflationfactor", "replicateweight", "repwt"),
    *("gewichtungsfaktor", "hochrechnungsfaktor", "hochrechnung", "gewichtung", "hrf"),
    *("dweight", "pspwght", "anweight", "pweights", "weightvar", "poststratweight", "marsupwt"),
    *("ponderation", "pondération", "factorexpansion", "ponderador"),
}
_MAYBE_WEIGHTS = {"weight", "weights", "wt", "gewicht", "poids", "peso"}
_CODE_WORDS = {
    *("id", "code", "codes", "recode", "type", "typ", "art", "zip", "zipcode", "postcode"),
    *("postal", "plz", "postleitzahl", "category", "cat", "kategorie", "class", "klasse", "group"),
    *("gruppe", "key", "kz", "kennzeichen", "schluessel", "schlüssel", "icd", "icd9", "icd10"),
    *("drg", "ops", "cpt", "hcpcs", "atc", "naics", "sic", "nace", "isco", "soc", "isic", "fips"),
    *("nuts", "ags", "gkz", "gemeindeschluessel", "county", "state", "region", "district", "kreis"),
    *("bundesland", "land", "country", "status", "industry", "occupation", "profession", "beruf"),
    *("branche", "station", "ward", "department", "abteilung", "fachabteilung", "diagnosis"),
    *("diagnose", "diag", "procedure", "prozedur", "cause", "reason", "grund", "method", "mode"),
    *("source", "disposition", "marital", "race", "ethnicity", "sex", "gender", "geschlecht"),
    *("religion", "konfession", "language", "sprache", "nationality", "staatsangehoerigkeit"),
}
_POSTAL = {"zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "zip5", "zcta"}
_CODE_ENDS = ("code", "schluessel", "schlüssel", "kennzeichen", "typ", "sart", "cd", "kz")
_BIRTHS = {"birth", "birthdate", "birthday", "dob", "born", "geburt", "geburtstag", "gebdat"}
_BIRTHS |= {"naissance", "nacimiento", "nascita", "geboortedatum", "geb"}
_BIRTH_BEGINS = ("geburtsdat", "birth", "dateofbirth")
ROW_NUMBER = "a row number"
"""Reason why a column of row numbers is left out."""

_MOST_CODES = 100
_LEAST_DIGITS = 4
_IDENTIFIER_DIGITS = 5
_NEARLY_ALL_DIFFER = 0.9
_YEARS = (1800, 2100)
_SHARED_BY = 5
_MOST_FEW = 12
_DENSE = 3
_TEXT_WORDS = 3
_TEXT_LENGTH = 25
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")


def name_words(profile: Profile) -> set[str]:
    """Return the words of a column's name, and its runs of two and three words."""
    words = words_of(profile.name)
    pairs = {left + right for left, right in pairwise(words)}
    return {*words, *pairs, "".join(words)}


def why_identifier(profile: Profile) -> str | None:
    """Return why a column seems to identify people, or ``None``."""
    words = name_words(profile)
    if words & _PERSONAL or (words & _PERSONAL_IF_MANY and len(profile.known) > RARE):
        return "an identifier, by its name"
    if is_row_number(profile):
        return ROW_NUMBER
    if _is_mostly(profile, _EMAIL):
        return "an identifier, mail addresses"
    if is_free_text(profile):
        return None
    if profile.is_unique and _may_identify(profile) and not words & _POSTAL:
        return "an identifier, a different value in every record"
    if _says_identifier(profile, words) and _has_many(profile) and _is_text_or_whole(profile):
        return "an identifier, by its name and many values"
    many = not profile.complete or len(profile.known) > RARE
    if is_person_key(profile.name) and many and _is_text_or_whole(profile):
        return "an identifier, by its distinct values"
    if words & _POSTAL:
        return None
    if (_is_nearly_unique(profile) and not profile.is_mostly_number) or _is_long_code(profile):
        return "an identifier, hardly any value in two records"
    return None


def is_row_number(profile: Profile) -> bool:
    """Return whether a column numbers the records: consecutive whole numbers, none twice."""
    seen = profile.quantity
    if not profile.is_number or not seen.is_whole or not profile.is_unique:
        return False
    width = seen.high - seen.low + 1
    is_named = bool(name_words(profile) & _ROWS)
    return width <= (_DENSE * profile.n_records if is_named else 1.01 * profile.n_records)


def is_weight(profile: Profile) -> bool:
    """Return whether a column holds the number of people for which a record of a survey stands."""
    words = name_words(profile)
    seen = profile.quantity
    if seen.n_records < profile.n_known or seen.low < 0:
        return False
    if words & _WEIGHTS:
        return True
    if not words & _MAYBE_WEIGHTS or seen.is_whole or len(profile.values) <= _MOST_CODES:
        return False
    counts = np.array(list(profile.values.values()))
    mean = float(np.average(np.array(list(profile.values)), weights=counts))
    return 0.9 <= mean <= 1.1  # weights that add up to the number of records


def is_birth(profile: Profile) -> bool:
    """Return whether a column's name is that of dates of birth."""
    joined = "".join(words_of(profile.name))
    return bool(name_words(profile) & _BIRTHS) or joined.startswith(_BIRTH_BEGINS)


def is_code(profile: Profile) -> bool:
    """Return whether a column of whole numbers holds codes, not quantities."""
    if profile.is_padded or profile.labels:
        return True
    if not (profile.is_number and profile.quantity.is_whole and profile.complete):
        return False
    if is_called_code(profile) and (len(profile.values) <= _MOST_CODES or _fixed_digits(profile)):
        return True
    return _is_sparse(profile)


def is_called_code(profile: Profile) -> bool:
    """Return whether a column's name is that of codes."""
    joined = "".join(words_of(profile.name))
    return bool(name_words(profile) & _CODE_WORDS) or joined.endswith(_CODE_ENDS)


def _is_sparse(profile: Profile) -> bool:
    """Return whether whole numbers have gaps unlike quantities: 1, 2, 3, 8, 9, or 4711, 8150."""
    numbers = np.array(list(profile.values))
    if len(numbers) <= _MOST_FEW:
        return bool(len(numbers) <= 2 or _has_gaps(numbers))
    if (
        _fixed_digits(profile) < _LEAST_DIGITS
        or _YEARS[0] <= numbers[0] <= numbers[-1] <= _YEARS[1]
    ):
        return False
    is_shared = profile.n_counted >= _SHARED_BY * len(numbers)
    is_thin = 20 * len(numbers) <= numbers[-1] - numbers[0]
    is_round = bool((numbers % 10 == 0).mean() > 0.5)
    return is_shared and is_thin and not is_round


def _has_gaps(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Return whether a few small whole numbers continue after a gap, as coded answers do."""
    if numbers[0] < 0 or numbers[-1] > 99:
        return False
    gaps = np.diff(numbers)
    return bool(gaps.min() == 1 and gaps.max() > 1 and numbers[-1] <= 9)


def _fixed_digits(profile: Profile) -> int:
    """Return the number of digits of all of a column's whole numbers, 0 if they differ."""
    lengths = {len(word) for word in profile.known if word.isdigit()}
    return lengths.pop() if len(lengths) == 1 else 0


def _may_identify(profile: Profile) -> bool:
    """Return whether values that all differ are likely to be identifiers, not just fine numbers."""
    if not profile.is_number:
        return True
    if not profile.quantity.is_whole:
        return False
    if _says_identifier(profile, name_words(profile)) or profile.is_padded:
        return True
    if _fixed_digits(profile) >= _IDENTIFIER_DIGITS:
        return True
    # Identifiers are spread evenly over their range; sums of money, people and things are not.
    seen = profile.quantity
    numbers = np.array(list(profile.values))
    quarters = np.histogram(numbers, bins=4, range=(seen.low, seen.high))[0] / len(numbers)
    return bool(quarters.min() > 0.1)


def _is_long_code(profile: Profile) -> bool:
    """Return whether a column holds whole numbers of one length, hardly two of them equal."""
    counts = profile.distinct.counts
    is_spread = len(counts) >= RARE and len(counts) > _NEARLY_ALL_DIFFER * counts.sum()
    is_whole = profile.is_number and profile.quantity.is_whole
    return bool(is_spread and is_whole and _fixed_digits(profile) >= _IDENTIFIER_DIGITS)


def _says_identifier(profile: Profile, words: set[str]) -> bool:
    joined = "_".join(words_of(profile.name))
    return bool(words & _IDENTIFYING) or joined.endswith(_IDENTIFYING_ENDS)


def _has_many(profile: Profile) -> bool:
    return not profile.complete or len(profile.known) > max(100, profile.n_records // 20)


def _is_text_or_whole(profile: Profile) -> bool:
    return profile.quantity.is_whole or not profile.is_number


def _is_nearly_unique(profile: Profile) -> bool:
    n_values = len(profile.known)
    return n_values >= RARE and 2 * n_values > profile.n_counted


def is_free_text(profile: Profile) -> bool:
    """Return whether a column holds individual sentences for many records."""
    words = profile.known
    is_varied = len(words) >= RARE and 20 * len(words) >= profile.n_counted
    if profile.is_mostly_number or not is_varied:
        return False
    n = profile.n_counted
    length = sum(len(word) * count for word, count in words.items()) / n
    spaces = sum(word.count(" ") * count for word, count in words.items()) / n
    return length > _TEXT_LENGTH and spaces + 1 >= _TEXT_WORDS


def _is_mostly(profile: Profile, pattern: re.Pattern[str]) -> bool:
    n = sum(count for word, count in profile.known.items() if pattern.fullmatch(word))
    return n > 0.9 * profile.n_counted
