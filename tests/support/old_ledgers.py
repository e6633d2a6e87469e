"""Ledgers as earlier versions of hedgerow made them: a write-ahead log and no table of sums."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

GENESIS = hashlib.sha256(b"hedgerow ledger").hexdigest()
SCHEMA = f"""
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, body TEXT NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1), events INTEGER NOT NULL, digest TEXT NOT NULL
);
INSERT INTO head VALUES (1, 0, '{GENESIS}');
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
PRAGMA application_id = {0x48656467};
"""
STAMP = "2026-01-01T00:00:00+00:00"

Events = Iterable[tuple[str, Mapping[str, Any]]]


def dataset(name: str, cap: str) -> tuple[str, dict[str, Any]]:
    return "dataset", {"dataset": name, "cap": cap, "delta_cap": "0", "reason": None}


def booked(name: str, epsilon: str) -> tuple[str, dict[str, Any]]:
    said = {"dataset": name, "epsilon": epsilon, "delta": "0", "method": "diffgen", "plan": "p1"}
    return "booked", said


def write_old(path: Path, events: Events, *, version: int = 2, checkpoint: bool = True) -> None:
    """Make a ledger of an earlier format with these events, one transaction each.

    Without ``checkpoint`` they stay in the write-ahead log, as after a kill: the process that
    writes them never closes the file.
    """
    child = os.fork() if not checkpoint else 0
    if child:
        os.waitpid(child, 0)
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {version}; COMMIT;")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        digest = GENESIS
        for seq, (kind, fields) in enumerate(events, start=1):
            body = json.dumps({"seq": seq, "kind": kind, "at": STAMP, **fields})
            digest = hashlib.sha256(f"{digest}\n{body}".encode()).hexdigest()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO events VALUES (?, ?, ?)", (seq, body, digest))
            connection.execute("UPDATE head SET events = ?, digest = ?", (seq, digest))
            connection.execute("COMMIT")
        if not checkpoint:
            os._exit(0)  # as a kill would: the log stays
    path.chmod(0o600)


def write_format_3(path: Path, events: Events) -> None:
    """Make a ledger of format 3: sums are kept beside the chain, and each event names theirs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(
            f"BEGIN; {SCHEMA}"
            "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
            "CREATE TABLE ends (entry INTEGER PRIMARY KEY, seq INTEGER NOT NULL);"
            "CREATE TABLE seen (tab INTEGER NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL,"
            " digest TEXT NOT NULL, PRIMARY KEY (tab, name)) WITHOUT ROWID;"
            "CREATE INDEX seen_digests ON seen (digest);"
            "CREATE INDEX seen_datasets ON seen (dataset);"
            "PRAGMA user_version = 3; COMMIT;"
        )
        digest, amounts, rows = GENESIS, {}, {}
        for seq, (kind, fields) in enumerate(events, start=1):
            said = {"seq": seq, "kind": kind, "at": STAMP, **fields}
            _add_up(amounts, rows, said)
            lines = "".join(f"{key}\n{rows[key]}\n" for key in sorted(rows))
            body = json.dumps({**said, "state": hashlib.sha256(lines.encode()).hexdigest()})
            digest = hashlib.sha256(f"{digest}\n{body}".encode()).hexdigest()
            connection.execute("INSERT INTO events VALUES (?, ?, ?)", (seq, body, digest))
            connection.execute("UPDATE head SET events = ?, digest = ?", (seq, digest))
            if "entry" in fields:
                connection.execute("INSERT INTO ends VALUES (?, ?)", (int(fields["entry"]), seq))
        connection.executemany("INSERT INTO state VALUES (?, ?)", list(rows.items()))
    path.chmod(0o600)


def _add_up(
    amounts: dict[str, list[Fraction]], rows: dict[str, str], said: Mapping[str, Any]
) -> None:
    """Keep the sums of an event as format 3 did."""
    name = said.get("dataset", "")
    if said["kind"] == "dataset":
        amounts[name] = [Fraction(said["cap"]), Fraction(said["delta_cap"]), Fraction(0)]
    elif said["kind"] == "booked":
        amounts[name][2] += Fraction(said["epsilon"])
    elif said["kind"] == "same-people":
        other = amounts.pop(said["other"])
        mine = amounts[name]
        amounts[name] = [min(mine[0], other[0]), min(mine[1], other[1]), mine[2] + other[2]]
        del rows[json.dumps(["account", said["other"]])]
        rows[json.dumps(["alias", said["other"]])] = name
    for account, (cap, delta_cap, spent) in amounts.items():
        told = {"cap": cap, "delta_cap": delta_cap, "spent": spent, "delta_spent": 0}
        rows[json.dumps(["account", account])] = json.dumps(
            {key: str(value) for key, value in told.items()}
        )
