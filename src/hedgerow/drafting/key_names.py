"""Kinds of columns by their names: keys, quantities or kinds of things.

Names are compared by their words in English, German, French, Spanish, Italian, Dutch and Polish.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from hedgerow.drafting.match import words_of
from hedgerow.plan.people import is_person_key

KeyName: TypeAlias = Literal["sure", "likely", "quantity", "kind", "open"]
"""Kind of a name: a key of a person or thing, a number or reference, a quantity, a kind, unknown.
"""

_ENTITIES = {
    *("case", "cases", "fall", "cas", "caso", "dossier", "akte", "sprawa", "sprawy", "pat", "pats"),
    *("device", "gerät", "geraet", "appareil", "dispositivo", "sensor", "capteur", "meter"),
    *("imei", "imsi", "msisdn", "mac", "iccid", "vin", "plate", "plates", "licence", "license"),
    *("matricule", "matricula", "matrícula", "immatriculation", "kfz", "nummernschild"),
    *("household", "haushalt", "menage", "ménage", "hogar", "hh", "hhid", "familie", "famille"),
    *("card", "karte", "carte", "tarjeta", "tessera", "session", "sitzung", "sesión", "sesion"),
    *("cookie", "login", "username", "handle", "nickname", "nick", "alias", "konto", "compte"),
    *("cuenta", "conto", "proband", "probanden", "panelist", "player", "spieler", "matrikel"),
    *("resource", "ressource", "recurso", "agent", "operator", "employee", "doctor", "physician"),
    *("arzt", "médecin", "medecin", "nurse", "teacher", "folio", "trace", "client", "owner"),
    *(
        "mail",
        "email",
        "ssn",
        "passport",
        "reisepass",
        "ausweis",
        "iban",
        "telefon",
        "mobil",
        "subj",
    ),
    *("ssid", "msid", "aadhaar", "cpf", "curp", "dni", "nif", "nie", "nir", "svnr", "ahv", "egk"),
}
"""Words for the owner of records, which also occur alone."""

_WITH_KEY = {
    *(
        "visit",
        "besuch",
        "visite",
        "visita",
        "encounter",
        "episode",
        "stay",
        "aufenthalt",
        "sejour",
    ),
    *("séjour", "admission", "aufnahme", "order", "bestellung", "auftrag", "commande", "pedido"),
    *("trip", "fahrt", "trajet", "viaje", "ride", "journey", "claim", "invoice", "rechnung"),
    *("facture", "factura", "ticket", "transaction", "contract", "vertrag", "contrat", "contrato"),
    *("policy", "police", "loan", "kredit", "vehicle", "fahrzeug", "véhicule", "vehicule", "car"),
    *(
        "fine",
        "multa",
        "amende",
        "permit",
        "application",
        "antrag",
        "record",
        "study",
        "row",
        "sample",
    ),
    *("thread", "request", "parcel", "shipment", "machine", "phone", "handy", "lead", "process"),
    *("instance", "vehiculo", "vehículo", "specimen"),
}
"""Words that form the name of a key together with a word such as ``id``."""

_KEY_WORDS = {
    *("id", "ids", "uid", "pid", "cid", "sid", "gid", "oid", "uuid", "guid", "rid", "mid", "did"),
    *(
        "key",
        "keys",
        "token",
        "hash",
        "pseudonym",
        "pseudo",
        "identifier",
        "identifikator",
        "ident",
    ),
    *("identifiant", "identificador", "identificativo", "kennung", "aktenzeichen", "mrn", "xid"),
    *("schlüssel", "schluessel", "clé", "clave", "eid", "hid", "tid", "vid", "nid", "psn"),
}
_NUMBER_WORDS = {
    *("n", "no", "nr", "nbr", "num", "number", "nummer", "numero", "número", "numéro", "numer"),
    *("nro", "código", "codigo", "ref", "reference", "referenz", "référence", "referencia"),
    *("index", "idx", "serial", "barcode", "account", "code", "name", "kennzeichen", "zeichen"),
    *("serie", "série", "subject", "lfd"),
}
_FILLERS = {
    *("the", "of", "de", "du", "des", "der", "del", "di", "la", "le", "el", "d", "l", "van"),
    *("concept", "org", "anon", "anonymous", "anonymised", "anonymized", "hashed", "masked"),
    *("encrypted", "pseudo", "new", "old", "my", "our", "internal", "external", "main", "unique"),
    *("global", "local", "a", "b", "x", "1", "2", "01", "02"),
}
_LIKELY_ENDS = (
    *("nummer", "nr", "nbr", "kennung", "kennzeichen", "schein", "uuid", "guid", "barcode"),
    *("schlüssel", "schluessel", "zeichen", "_id", "_no", "_num", "_ref", "_key"),
)
_QUANTITIES = {
    *("age", "ages", "alter", "edad", "âge", "eta", "età", "leeftijd", "wiek", "year", "years"),
    *("jahr", "jahre", "jahrgang", "année", "annee", "année", "año", "ano", "anno", "month"),
    *("months", "monat", "mois", "mes", "week", "weeks", "woche", "semaine", "semana", "day"),
    *("days", "tag", "tage", "jour", "jours", "dia", "día", "días", "hour", "hours", "stunde"),
    *("stunden", "heure", "heures", "hora", "horas", "minute", "minutes", "minuten", "second"),
    *("seconds", "sekunden", "time", "zeit", "temps", "tiempo", "date", "datum", "fecha"),
    *("timestamp", "duration", "dauer", "durée", "duracion", "verweildauer", "los", "length"),
    *("länge", "laenge", "income", "incomes", "einkommen", "revenu", "ingreso", "ingresos"),
    *("salary", "salaries", "wage", "wages", "lohn", "gehalt", "salaire", "salario", "revenue"),
    *("umsatz", "turnover", "price", "prices", "preis", "prix", "precio", "cost", "costs"),
    *("kosten", "coût", "cout", "costo", "coste", "amount", "amounts", "betrag", "montant"),
    *("importe", "sum", "summe", "total", "subtotal", "balance", "saldo", "solde", "fee", "fees"),
    *("charge", "charges", "tax", "taxes", "steuer", "premium", "prämie", "rent", "miete", "loyer"),
    *("value", "values", "wert", "valeur", "valor", "score", "scores", "points", "punkte"),
    *("rate", "ratio", "quote", "percent", "pct", "prozent", "share", "anteil", "temperature"),
    *("temp", "temperatur", "pressure", "blutdruck", "pulse", "puls", "heart", "bpm", "height"),
    *("größe", "groesse", "taille", "weight", "gewicht", "poids", "peso", "bmi", "size", "dose"),
    *("dosis", "count", "counts", "anzahl", "quantity", "menge", "qty", "cantidad", "frequency"),
    *("freq", "distance", "distanz", "km", "miles", "speed", "geschwindigkeit", "area", "fläche"),
    *("rooms", "zimmer", "children", "kinder", "enfants", "hijos", "visits", "bytes", "gain"),
    *("gains", "loss", "losses", "dividends", "population", "einwohner", "expenses", "ausgaben"),
    *("spend", "spent", "spending", "units", "volume", "volumen", "width", "breite", "depth"),
    *("voltage", "current", "power", "energy", "kwh", "watt", "humidity", "reading", "messwert"),
    *("procedures", "medications", "diagnoses", "grade", "mark", "gpa", "sentence", "steps"),
    *("lat", "lon", "lng", "latitude", "longitude", "elevation", "altitude", "minuten", "erlös"),
}
_COUNTED = re.compile(
    r"(?:n|nb|num|number|no|anzahl|count|nombre|número|numero|zahl)[\W_]*(?:of|de|der|d)?[\W_]+\w",
    re.IGNORECASE,
)
"""First words of names of counts: ``num_medications``."""

_KINDS = {
    *("type", "types", "typ", "art", "tipo", "kind", "category", "categories", "cat", "kategorie"),
    *("catégorie", "categorie", "categoria", "categoría", "class", "klasse", "classe", "clase"),
    *("group", "gruppe", "groupe", "grupo", "status", "state", "stand", "estado", "état", "etat"),
    *("zip", "zipcode", "zip5", "zcta", "postcode", "postal", "plz", "postleitzahl", "cp", "cap"),
    *("city", "town", "village", "stadt", "ort", "wohnort", "gemeinde", "ville", "commune"),
    *("ciudad", "municipio", "comune", "county", "region", "región", "région", "district"),
    *("kreis", "landkreis", "bundesland", "land", "country", "countries", "pays", "país", "pais"),
    *("province", "provincia", "canton", "kanton", "nuts", "ags", "gkz", "fips", "puma", "tract"),
    *("gemeindeschluessel", "gemeindeschlüssel", "neighbourhood", "neighborhood", "stadtteil"),
    *("place", "location", "lieu", "lugar", "birthplace", "origin", "destination", "airport"),
    *("icd", "icd9", "icd10", "icd11", "drg", "ops", "cpt", "hcpcs", "atc", "naics", "sic"),
    *("nace", "isco", "soc", "isic", "loinc", "snomed", "ndc", "pzn", "ean", "gtin", "sku"),
    *("diagnosis", "diagnose", "diagnostic", "diagnóstico", "diag", "dx", "procedure", "prozedur"),
    *("procédure", "cause", "reason", "grund", "motif", "motivo", "disposition", "medication"),
    *("drug", "medikament", "médicament", "substance", "symptom", "treatment", "behandlung"),
    *("product", "products", "produkt", "produit", "producto", "article", "artikel", "brand"),
    *("marke", "model", "modell", "make", "manufacturer", "hersteller", "item", "items"),
    *("industry", "branche", "occupation", "occupations", "profession", "beruf", "job", "trade"),
    *("recode", "employer", "title", "position", "department", "abteilung", "fachabteilung"),
    *("ward", "station", "unit", "clinic", "specialty", "speciality", "medical", "service"),
    *("hospital", "school", "course", "subject", "language", "sprache", "langue", "idioma"),
    *("religion", "konfession", "nationality", "nationalität", "staatsangehoerigkeit", "race"),
    *("ethnicity", "ancestry", "sex", "gender", "geschlecht", "sexe", "sexo", "marital"),
    *("education", "bildung", "degree", "level", "stage", "method", "mode", "source", "channel"),
    *("activity", "aktivität", "aktivitaet", "activité", "actividad", "event", "task", "action"),
    *("step", "lifecycle", "transition", "phase", "zone", "sector", "segment", "band", "range"),
    *("colour", "color", "farbe", "browser", "os", "version", "url", "page", "domain", "genre"),
    *("species", "breed", "payer", "plan", "tariff", "currency", "währung", "street", "strasse"),
    *("straße", "rue", "calle", "weekday", "season", "quarter", "quartal", "holiday", "shift"),
}


_ACTIVITY = ("concept", "name")
"""Name of the activity in event logs of XES."""


def key_name(column: str) -> KeyName:
    """Return the kind of a column, by its name.

    >>> [key_name(name) for name in ("pat_nr", "UID", "Fallnummer", "age", "type_id", "x")]
    ['sure', 'sure', 'sure', 'quantity', 'kind', 'open']
    """
    words = words_of(column)
    if words == _ACTIVITY:
        return "kind"
    distinct_words = set(words)
    if is_person_key(column):
        return "sure"
    if _COUNTED.match(column.strip()) and not distinct_words & _ENTITIES:
        return "quantity"
    if _is_key(words):
        return "sure"
    if distinct_words & _KINDS:
        return "kind"
    if distinct_words & _QUANTITIES:
        return "quantity"
    joined = "_".join(words)
    if words and (words[-1] in _NUMBER_WORDS | _KEY_WORDS or joined.endswith(_LIKELY_ENDS)):
        return "likely"
    return "likely" if distinct_words & (_ENTITIES | _KEY_WORDS) else "open"


def ends_in_key(column: str) -> bool:
    """Return whether the last word of a name is one for keys.

    >>> ends_in_key("school_id"), ends_in_key("school")
    (True, False)
    """
    return words_of(column)[-1:] != () and words_of(column)[-1] in _KEY_WORDS


def _is_key(words: tuple[str, ...]) -> bool:
    """Return whether a name consists of words for keys and for their owner."""
    parts = [part for word in words for part in _parts(word)]
    rest = [part for part in parts if part not in _FILLERS]
    if not rest:
        return False
    known = _ENTITIES | _WITH_KEY | _KEY_WORDS | _NUMBER_WORDS
    if any(part not in known for part in rest):
        return False
    return any(part in _ENTITIES or part in _KEY_WORDS for part in rest)


_JOINED = re.compile(
    rf"({'|'.join(sorted(_ENTITIES | _WITH_KEY, key=len, reverse=True))})"
    r"(s|en|n)?(id|ids|nr|no|num|number|nummer|uid|uuid|key|code|ref|kennung|hash)"
)


def _parts(word: str) -> tuple[str, ...]:
    """Return a word, or the two of which it is composed: ``caseid`` is ``case`` and ``id``."""
    found = _JOINED.fullmatch(word)
    return (found[1], found[3]) if found else (word,)
