"""A German hospital's export: 60 columns, semicolons, decimal commas, everything that goes wrong.

Seeded, made of nothing but dice. Heights are ``unbekannt`` here and 999 there, postcodes begin
with noughts, costs have points between thousands, and dates are written day first.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ICD = [
    *("I21.4", "I50.01", "I63.9", "I10.00", "J18.9", "J44.09", "E11.90", "E11.74", "K35.8"),
    *("K80.20", "C34.1", "C50.9", "S72.00", "S06.0", "N39.0", "N17.9", "F10.0", "A41.9", "M54.5"),
    *("G40.9", "R55", "O80", "Z38.0", "H25.1", "U07.1"),
]
WARDS = ["Innere Medizin", "Chirurgie", "Gynäkologie", "Neurologie", "Pädiatrie", "Urologie"]
TOWNS = ["Köln", "Bonn", "Düren", "Jülich", "Aachen", "Euskirchen", "Brühl"]
WORDS = [
    "Patient",
    "klagt",
    "über",
    "Schmerzen",
    "seit",
    "gestern",
    "Übelkeit",
    "stabil",
    "unauffällig",
]
LABS = [
    *("Natrium", "Kalium", "Kreatinin", "CRP", "Hb", "Leukozyten", "Glukose", "Laktat"),
    *("Bilirubin", "INR", "Albumin", "TSH"),
]
FLAGS = [
    *("Privatpatient", "Notfall", "Intensiv", "Beatmet", "Dialyse", "Sturz", "Raucher"),
    *("Diabetes", "Allergie"),
]
OUT = {
    *("lfd. Nr.", "Patientennummer", "Fallnummer", "Nachname", "Vorname", "Anamnese"),
    *("Versichertennummer", "Bemerkung"),
}
DATES = {"Geburtsdatum", "Aufnahmedatum", "Entlassungsdatum", "OP-Datum"}
NUMBERS = {
    *("Größe", "Gewicht", "BMI", "Temperatur", "Blutdruck sys", "Blutdruck dia", "Puls"),
    *("Kosten gesamt", "Erlös DRG", "Sachkosten", "Verweildauer", "Kinder", "Aufnahmejahr"),
    *LABS,
}
CLASS = "Verstorben"


def _german(numbers: np.ndarray, decimals: int, *, grouped: bool = False) -> list[str]:
    """Return numbers as German programs write them."""
    texts = [f"{number:,.{decimals}f}" for number in numbers]
    swap = str.maketrans(",.", ".,")
    return [
        text.translate(swap) if grouped else text.replace(",", "").replace(".", ",")
        for text in texts
    ]


def _days(first: str, days: np.ndarray) -> list[str]:
    dates = np.datetime64(first) + days.astype("timedelta64[D]")
    return [f"{d[8:10]}.{d[5:7]}.{d[:4]}" for d in dates.astype(str)]


def hospital_columns(n: int, seed: int) -> dict[str, list[str]]:
    """Return the columns by name, as texts."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(62, 19, n), 0, 99)
    height, stay = rng.normal(171, 9, n).round(), rng.geometric(0.14, n)
    weight = np.clip(rng.normal(78, 15, n), 30, 190)
    crp = rng.gamma(1.2, 30, n)
    emergency, ventilated = rng.random(n) < 0.4, rng.random(n) < 0.12
    strength = -10.5 + 0.07 * age + 2.2 * emergency + 5 * ventilated + 0.02 * crp
    died = rng.random(n) < 1 / (1 + np.exp(-strength))
    admitted = rng.integers(0, 5 * 365, n)
    costs = np.round(rng.lognormal(8.2, 0.8, n) + 400 * stay, 2)

    def pick(values: list[str], share: list[float] | None = None) -> list[str]:
        return [str(each) for each in rng.choice(np.array(values, dtype=object), n, p=share)]

    def some(values: list[str], word: str, share: float) -> list[str]:
        gone = rng.random(n) < share
        return [word if lost else value for value, lost in zip(values, gone, strict=True)]

    def sentences() -> list[str]:
        return [
            " ".join(rng.choice(WORDS, rng.integers(4, 12))) + f", Tag {rng.integers(1, 999)}"
            for _ in range(n)
        ]

    heights = some(some([f"{each:.0f}" for each in height], "unbekannt", 0.04), "999", 0.02)
    columns = {
        "lfd. Nr.": [str(i + 1) for i in range(n)],
        "Patientennummer": [str(each) for each in rng.integers(1_000_000, 9_999_999, n)],
        "Fallnummer": [f"F{each:08d}" for each in rng.permutation(10**6)[:n]],
        "Nachname": pick(["Müller", "Schmidt", "Weiß", "Schäfer", "Öztürk", "Nowak"]),
        "Vorname": pick(["Anna", "Jörg", "Ayşe".replace("ş", "s"), "Käthe", "Paul"]),
        "Versichertennummer": [f"A{each:09d}" for each in rng.integers(1, 10**9, n)],
        "Geburtsdatum": _days("2024-01-01", -(age * 365.25).astype(int) - rng.integers(0, 365, n)),
        "Geschlecht": pick(["m", "w", "d"], [0.48, 0.51, 0.01]),
        "PLZ": [f"{p:05d}" for p in rng.choice(rng.integers(1001, 99998, 800), n)],
        "Wohnort": pick(TOWNS),
        "Familienstand": pick(["ledig", "verheiratet", "verwitwet", "geschieden"]),
        "Kinder": [str(each) for each in rng.poisson(1.4, n)],
        "Aufnahmedatum": _days("2019-01-01", admitted),
        "Entlassungsdatum": _days("2019-01-01", admitted + stay),
        "Aufnahmejahr": [str(2019 + each // 365) for each in admitted],
        "Aufnahmeart": pick(["1", "2", "3", "5", "9"]),
        "Aufnahmegrund Schlüssel": pick(["01", "02", "03", "05", "06"]),
        "Fachabteilung": pick(WARDS),
        "Station": [f"{each:02d}" for each in rng.integers(1, 13, n)],
        "Hauptdiagnose": pick(ICD),
        "Nebendiagnose": some(pick(ICD), "", 0.3),
        "DRG": pick(["F62A", "F62B", "E77I", "G67A", "I47C", "O60D", "B70F"]),
        "OPS": some(pick(["5-511.11", "5-820.00", "8-980.0", "1-632.0"]), "", 0.5),
        "OP-Datum": some(_days("2019-01-01", admitted + 1), "", 0.5),
        "Verweildauer": [str(each) for each in stay],
        "Größe": heights,
        "Gewicht": some(_german(weight, 1), "k.A.", 0.03),
        "BMI": _german(weight / (height / 100) ** 2, 1),
        "Temperatur": _german(rng.normal(37.1, 0.7, n), 1),
        "Blutdruck sys": [f"{each:.0f}" for each in rng.normal(132, 20, n)],
        "Blutdruck dia": [f"{each:.0f}" for each in rng.normal(80, 12, n)],
        "Puls": some([f"{each:.0f}" for each in rng.normal(78, 14, n)], "-1", 0.02),
        "Kosten gesamt": _german(costs, 2, grouped=True),
        "Erlös DRG": _german(np.round(costs * rng.normal(1, 0.1, n)), 0, grouped=True),
        "Sachkosten": _german(costs * 0.2, 2, grouped=True),
    }
    for place, lab in enumerate(LABS):
        values = crp if lab == "CRP" else rng.gamma(8, 1 + place, n)
        columns[lab] = some(_german(values, 2), ["", "n/a", "nicht gemessen"][place % 3], 0.05)
    for place, flag in enumerate(FLAGS):
        truth = {"Notfall": emergency, "Beatmet": ventilated}.get(flag, rng.random(n) < 0.2)
        no, yes = [("nein", "ja"), ("N", "J"), ("0", "1"), ("falsch", "wahr")][place % 4]
        columns[flag] = [yes if each else no for each in truth]
    columns["Anamnese"], columns["Bemerkung"] = sentences(), sentences()
    columns["Versicherung"] = pick(["GKV", "PKV", "BG", "Selbstzahler"], [0.85, 0.1, 0.03, 0.02])
    columns[CLASS] = ["ja" if each else "nein" for each in died]
    return columns


def write_hospital(path: Path, n: int = 5000, seed: int = 60) -> dict[str, str]:
    """Write the export in Windows-1252; return what each column is."""
    columns = hospital_columns(n, seed)
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_bytes("\r\n".join([*lines, ""]).encode("windows-1252"))
    kinds = dict.fromkeys(columns, "listed") | dict.fromkeys(NUMBERS, "number")
    return kinds | dict.fromkeys(DATES, "date") | dict.fromkeys(OUT, "out")
