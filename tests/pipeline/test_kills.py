"""Whole runs of publish, killed at any moment: no release without a booking, none forgotten.

One interpreter imports hedgerow and forks for every run, because what a kill leaves behind
shows only when a whole process dies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX forks and signals")

KILLER = """
import hashlib, json, os, random, signal, sys, time
from pathlib import Path
import hedgerow
from hedgerow.ledger.ledger import Ledger

folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
draw = random.Random(int(sys.argv[3]))
plan = {
    "attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]},
                   "sick": {"role": "class", "values": ["no", "yes"]}},
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "diffgen", "epsilon": "1/100", "h": 2},
    "ledger": {"dataset": "wards", "cap": 50, "file": str(folder / "ledger.sqlite")},
}
data = folder / "data.csv"
data.write_text("age,ward,sick\\n" + "34,A,no\\n61,B,yes\\n" * 200)

def publish(place):
    hedgerow.publish(plan, data=data, out=place)

began = time.monotonic()
publish(folder / "warm")
publish(folder / "warmer")
longest = 1.2 * (time.monotonic() - began) / 2
for number in range(rounds):
    child = os.fork()
    if not child:
        publish(folder / f"release-{number}")
        os._exit(0)
    time.sleep(draw.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    account = Ledger(folder / "ledger.sqlite").account("wards")
    out = [path.read_bytes() for path in folder.glob("[!.]*/certificate.json")]
    entries = {entry.id: entry for entry in account.entries}
    known = all(
        entries[said["ledger"]["entry"]].release_digest in (None, hashlib.sha256(text).hexdigest())
        for text, said in ((text, json.loads(text)) for text in out)
    )
    enough = len({json.loads(text)["ledger"]["entry"] for text in out}) == len(out)
    covered = account.spent * 100 == len(entries) >= len(out)
    print(json.dumps([known and enough and covered, killed, len(entries), len(out)]), flush=True)
"""


def kills(folder, rounds, *, patience):
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(folder), str(rounds), "7"],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=True,
        timeout=patience,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("rounds", "patience"), [(12, 120), pytest.param(300, 900, marks=pytest.mark.audit)]
)
def test_no_killed_run_leaves_a_release_without_a_booking(tmp_path, rounds, patience):
    told = kills(tmp_path, rounds, patience=patience)
    assert len(told) == rounds
    assert all(right for right, _, _, _ in told)
    entries = [n for _, _, n, _ in told]
    assert entries == sorted(entries)  # none was ever lost
    assert sum(killed for _, killed, _, _ in told) > rounds // 4  # or the kills came too late
    assert rounds < 100 or entries[-1] > 2  # a few kills may all come before the booking
