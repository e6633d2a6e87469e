"""Event logs as process mining has them: cases, activities and times, one event to a row.

Seeded, made of nothing but dice. Each has the headers, the separator and the form of keys of one
kind of file; cases have few or hundreds of events.
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Keys = Callable[[int], str]


@dataclass(frozen=True, kw_only=True)
class EventLog:
    """What one log looks like; ``sizes`` are the fewest, usual and most events of a case."""

    case: str
    activity: str
    time: str
    key: Keys
    activities: Sequence[str]
    n_cases: int = 150
    sizes: tuple[int, int, int] = (3, 13, 60)
    delimiter: str = ","
    form: str = "%Y-%m-%d %H:%M:%S"
    others: tuple[tuple[str, Sequence[str]], ...] = ()

    def write(self, path: Path, seed: int) -> Path:
        """Write the log, sorted by time, so that the events of a case are apart."""
        rng = np.random.default_rng(seed)
        fewest, usual, most = self.sizes
        drawn = rng.lognormal(np.log(usual), 0.7, self.n_cases).astype(int)
        sizes = np.clip(drawn, fewest, most)
        sizes[0] = most
        owner = np.repeat(np.arange(self.n_cases), sizes)
        seconds = rng.integers(0, 200 * 86_400, len(owner))
        order = np.argsort(seconds)
        start = datetime.datetime(2014, 1, 1)
        columns = {
            self.case: [self.key(case) for case in owner[order].tolist()],
            self.activity: rng.choice(np.array(self.activities, dtype=object), len(owner)),
            self.time: [
                (start + datetime.timedelta(seconds=each)).strftime(self.form)
                for each in seconds[order].tolist()
            ],
        }
        columns |= {
            name: rng.choice(np.array(values, dtype=object), len(owner))
            for name, values in self.others
        }
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=self.delimiter)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return path


def letters(place: int) -> str:
    """Return A, B, ... Z, AA, AB and so on."""
    word = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        word = chr(ord("A") + letter) + word
    return word


def hexadecimal(place: int) -> str:
    """Return a hexadecimal key that says nothing."""
    return f"{(place + 1) * 0x9E3779B97F4A7C15 % 2**64:016x}"


SEPSIS = ["ER Registration", "ER Triage", "ER Sepsis Triage", "Leucocytes", "CRP", "LacticAcid"]
BILLING = ["NEW", "FIN", "RELEASE", "CODE OK", "BILLED", "DELETE", "STORNO", "CHANGE DIAGN"]
FINES = ["Create Fine", "Send Fine", "Insert Fine Notification", "Add penalty", "Payment"]
LOAN = ["A_SUBMITTED", "A_PARTLYSUBMITTED", "A_PREACCEPTED", "W_Completeren aanvraag", "O_SENT"]

LOGS: dict[str, EventLog] = {
    "sepsis": EventLog(
        case="Case ID",
        activity="Activity",
        time="Complete Timestamp",
        key=letters,
        activities=SEPSIS,
        form="%Y/%m/%d %H:%M:%S.000",
        sizes=(3, 14, 185),
        others=(("org:group", list("ABCEFGL")),),
    ),
    "hospital billing": EventLog(
        case="case",
        activity="event",
        time="completeTime",
        key=lambda place: f"{letters(place)}{letters(place * 7)}",
        activities=BILLING,
        sizes=(1, 5, 217),
        others=(("state", ["Closed", "In progress", "Invoiced"]),),
    ),
    "road fines": EventLog(
        case="case_id",
        activity="activity",
        time="timestamp",
        key=lambda place: f"A{place + 1}",
        activities=FINES,
        sizes=(2, 4, 20),
        n_cases=400,
    ),
    "loan applications": EventLog(
        case="case:concept:name",
        activity="concept:name",
        time="time:timestamp",
        key=lambda place: str(173_688 + 3 * place),
        activities=LOAN,
        form="%Y-%m-%dT%H:%M:%S.%f+02:00",
        sizes=(3, 20, 175),
        others=(("lifecycle:transition", ["START", "COMPLETE", "SCHEDULE"]),),
    ),
    "purchase orders": EventLog(
        case="case:concept:name",
        activity="concept:name",
        time="time:timestamp",
        key=lambda place: f"45{place + 7_000_112}_{place % 9 * 10:05d}",
        activities=["Create Purchase Order Item", "Vendor creates invoice", "Clear Invoice"],
    ),
    "german": EventLog(
        case="Fallnummer",
        activity="Tätigkeit",
        time="Zeitpunkt",
        key=lambda place: f"{place + 1:06d}",
        activities=["Aufnahme", "Labor", "Röntgen", "Operation", "Entlassung"],
        delimiter=";",
        form="%d.%m.%Y %H:%M",
    ),
    "french": EventLog(
        case="N° dossier",
        activity="Activité",
        time="Horodatage",
        key=lambda place: str(place + 1),
        activities=["Accueil", "Examen", "Décision", "Envoi"],
        delimiter=";",
        form="%d/%m/%Y %H:%M:%S",
        sizes=(20, 60, 217),
        n_cases=60,
    ),
    "spanish": EventLog(
        case="Expediente",
        activity="Actividad",
        time="Fecha",
        key=lambda place: f"EXP-2014/{place + 1:04d}",
        activities=["Recepción", "Revisión", "Resolución", "Archivo"],
        delimiter=";",
        form="%d/%m/%Y %H:%M",
    ),
    "tickets": EventLog(
        case="SR Number",
        activity="Status",
        time="Change Date+Time",
        key=lambda place: f"1-{364_285_768 + 1013 * place}",
        activities=["Accepted", "Queued", "Completed", "Unmatched"],
        delimiter="\t",
        sizes=(20, 80, 217),
        n_cases=40,
    ),
    "telemetry": EventLog(
        case="device",
        activity="signal",
        time="ts",
        key=hexadecimal,
        activities=["on", "off", "error", "idle"],
        sizes=(400, 400, 400),
        n_cases=24,
    ),
    "card taps": EventLog(
        case="karta",
        activity="stop",
        time="czas",
        key=lambda place: str(9_000_001 + 37 * place),
        activities=["Rynek", "Dworzec", "Plac", "Park"],
        sizes=(20, 45, 217),
        n_cases=60,
    ),
    "web sessions": EventLog(
        case="sid",
        activity="page",
        time="time",
        key=lambda place: (
            f"{hexadecimal(place)[:8]}-{hexadecimal(place + 9)[:4]}-4{place:03x}"
            f"-a{place:03x}-{hexadecimal(place + 99)[:12]}"
        ),
        activities=["/", "/search", "/basket", "/pay"],
        sizes=(3, 9, 90),
    ),
}
