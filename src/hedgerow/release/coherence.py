"""Check that a certificate is consistent with itself and with the files it lists.

Digests show that files were not modified. These checks show that their content is consistent: they
find certificates that were edited with care, and mistakes of the program that wrote them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.model.certificate import Budget, Certificate
from hedgerow.model.precision import within
from hedgerow.model.sealed import SealError, facts_in
from hedgerow.release.domains import domain_digest
from hedgerow.release.inventory import Fault
from hedgerow.release.leftovers import CERTIFICATE

_TABLE, _RECODING, _UNIVERSE = "release.csv", "recoding.json", "universe.json"


def contradictions(folder: Path, certificate: Certificate) -> list[Fault]:
    """Return contradictions in a folder whose files have the digests of the certificate."""
    faults = [Fault(file=CERTIFICATE, what=what) for what in _in_certificate(certificate)]
    total = certificate.data.noisy_total
    if total is not None and _TABLE in certificate.files and _total(folder / _TABLE) != total:
        what = "its counts do not add up to the certificate's total"
        faults.append(Fault(file=_TABLE, what=what))
    for name in (_RECODING, _UNIVERSE):
        if name in certificate.files:
            faults += _domain_faults(folder / name, certificate)
    return faults


def budget_adds_up(budget: Budget) -> bool:
    """Return whether every line states its cost correctly; reading has checked their sum."""
    return all(
        line.of_epsilon == line.share * (line.times if line.level == 0 else 1) / budget.total
        for line in budget.spends
    )


def _in_certificate(certificate: Certificate) -> Iterator[str]:
    promised, counts, line = certificate.guarantee, certificate.counts, certificate.ledger
    if not budget_adds_up(certificate.budget):
        yield "a line of its budget states a wrong part of the total"
    if promised.epsilon is not None:
        if promised.epsilon_decimal != float(promised.epsilon):
            yield "epsilon and its decimal form differ"
        if f"epsilon = {promised.epsilon}" not in promised.statement:
            yield "its statement does not name its epsilon"
        if certificate.budget.total == 0:
            yield "it gives a guarantee although its budget is 0"
    if line is not None and line.cap is not None and line.cap < (promised.epsilon or Fraction(0)):
        yield "epsilon exceeds the cap of the ledger"
    if counts is not None and abs(counts.within_95 - within(counts.share)) > 1:
        yield "the noise of a count does not follow from its share"


def _total(path: Path) -> int | None:
    """Return the sum of the last column of a table, or ``None`` if it has no such column."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    try:
        with path.open(encoding="utf-8", newline="") as file:
            names = next(csv.reader(file), [])
        table = arrow.read_csv(
            path,
            read_options=arrow.ReadOptions(column_names=[str(at) for at in range(len(names))]),
            parse_options=arrow.ParseOptions(newlines_in_values=True),
            convert_options=arrow.ConvertOptions(
                include_columns=[str(len(names) - 1)],
                column_types={str(len(names) - 1): pa.string()},
            ),
        )
        column = table.column(0)[1:].cast(pa.int64())
        return int(pa.compute.sum(column).as_py() or 0)
    except (pa.ArrowException, OSError, ValueError, csv.Error):
        return None


def _domain_faults(path: Path, certificate: Certificate) -> list[Fault]:
    """Return faults of the public domains in a file, by the certificate's digests."""
    public = {each.sha256 for each in certificate.assumed_public if each.sha256 is not None}
    try:
        stored = facts_in(path.read_text(encoding="utf-8"))
        found = {domain_digest(domain) for domain in _domains(stored)}
    except (OSError, UnicodeDecodeError, SealError, TypeError, KeyError, AttributeError):
        return [Fault(file=path.name, what="it does not hold public domains")]
    if found <= public:
        return []
    return [Fault(file=path.name, what="its domains differ from those of the certificate")]


def _domains(stored: dict[str, Any]) -> list[dict[str, Any]]:
    if "taxonomy" in stored:
        # Universes are stored with a key that descriptions have only if it is set.
        own = stored["taxonomy"].items()
        return [{key: value for key, value in own if (key, value) != ("reads", None)}]
    target = stored["class"]
    last = [] if target is None else [target["domain"]]
    return [*(attribute["domain"] for attribute in stored["attributes"]), *last]
