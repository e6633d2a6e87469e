"""Run our methods and other tools on public tables, one row of a CSV file for each run.

Run as ``python benchmarks/peers/run.py [--tools T ...] [--tables T ...] [--epsilon E ...]
[--seeds N] [--cpu SECONDS] [--memory MB] [--out FILE]``. Rows that the file has already are not
run again, so it can be stopped and resumed; ``--again`` names tools whose rows are replaced.
Other tools are installed once, each in an environment of its own in a temporary folder, by uv
or by venv and pip. A run above its processor seconds or memory is a row that says so.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for the experiments

from peer_measures import MEASURES, matrix, measured
from peer_tables import TABLES, peer_table

from experiments.tables import split

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.csv"
KEY = ("tool", "table", "epsilon", "seed")
FIELDS = (*KEY, "status", "seconds", "megabytes", *MEASURES, "worst_column")
OWN = ("weave", "hedge", "privbayes")
SAMPLE = "sample of 40 %"
"""Not a private tool: a part of the raw records, NIST's reference."""

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another tool: what to install, and the script and model to run."""

    requirements: tuple[str, ...]
    script: str
    model: str

    def python(self, folder: Path) -> Path:
        """Return the interpreter of the tool's environment, installed where it is missing."""
        environment = folder / self.script.partition("_")[0]
        python = environment / "bin" / "python"
        if not (environment / "installed").exists():
            _install(environment, python, self.requirements)
            (environment / "installed").touch()
        return python


def _install(environment: Path, python: Path, requirements: tuple[str, ...]) -> None:
    uv = shutil.which("uv")
    if uv is not None:
        subprocess.run([uv, "venv", "--clear", "-q", "-p", "3.11", environment], check=True)
        subprocess.run([uv, "pip", "install", "-q", "--python", python, *requirements], check=True)
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *requirements], check=True)


PEERS = {
    "dpmm MST": Peer(requirements=("dpmm==0.1.9",), script="dpmm_tool.py", model="mst"),
    "dpmm AIM": Peer(requirements=("dpmm==0.1.9",), script="dpmm_tool.py", model="aim"),
}
TOOLS = (*OWN, *PEERS, SAMPLE)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Processor seconds and megabytes of one run, and the folder of environments."""

    cpu: int
    memory: int
    folder: Path


def one_row(tool: str, name: str, epsilon: str, seed: int, limits: Limits) -> dict[str, object]:
    """Return the row of one run: its measures, or why there are none."""
    row: dict[str, object] = {"tool": tool, "table": name, "epsilon": epsilon, "seed": seed}
    train, test = split(peer_table(name), seed)
    if tool == SAMPLE:
        n = len(train) * 2 // 5
        chosen = np.random.default_rng(seed).permutation(len(train))[:n]
        return {**row, "status": "done", **measured(matrix(train)[chosen], train, test)}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        if tool in OWN:
            command = [sys.executable, HERE / "own_tool.py", name, target, tool]
        else:
            sizes = [attribute.domain.size for attribute in train.schema.used()]
            np.savez(source, codes=matrix(train), sizes=sizes)
            peer = PEERS[tool]
            python = peer.python(limits.folder)
            command = [python, HERE / peer.script, source, target, peer.model]
        usage = _limited([*map(str, command), epsilon, str(seed)], limits)
        if "status" in usage:
            return {**row, **usage}
        with np.load(target) as file:
            codes = file["codes"]
    return {**row, "status": "done", **usage, **measured(codes, train, test)}


def _limited(command: list[str], limits: Limits) -> dict[str, object]:
    """Run a tool; return its seconds and megabytes, or the limit that it reached."""
    process = subprocess.run(
        command,
        env={"PATH": "/usr/bin:/bin", **_kept_variables(), **THREADS},
        preexec_fn=partial(_set_limits, limits),
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode == -signal.SIGXCPU:
        return {"status": f"more than {limits.cpu} CPU s", "seconds": limits.cpu}
    if process.returncode:
        if "MemoryError" in process.stderr or "_ArrayMemoryError" in process.stderr:
            return {"status": f"more than {limits.memory} MB", "megabytes": limits.memory}
        last = (process.stderr.strip().splitlines() or ["no message"])[-1]
        return {"status": f"failed: {last[:120]}"}
    usage: dict[str, object] = json.loads(process.stdout.strip().splitlines()[-1])
    return usage


def _kept_variables() -> dict[str, str]:
    return {name: os.environ[name] for name in ("HEDGEROW_DATA", "HOME") if name in os.environ}


def _set_limits(limits: Limits) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu, limits.cpu + 30))
    size = limits.memory << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file of results, none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a file of results anew."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def append(path: Path, row: dict[str, object]) -> None:
    """Add one row to a file of results."""
    shown = {
        name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()
    }
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(shown)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", nargs="*", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--epsilon", nargs="*", default=["1", "0.1", "10"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cpu", type=int, default=900, help="processor seconds of a run")
    parser.add_argument("--memory", type=int, default=8000, help="megabytes of a run")
    parser.add_argument("--again", nargs="*", default=[], choices=list(TOOLS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument(
        "--environments", type=Path, default=Path(tempfile.gettempdir()) / "hedgerow-peers"
    )
    given = parser.parse_args()
    limits = Limits(cpu=given.cpu, memory=given.memory, folder=given.environments)
    write_rows(given.out, [row for row in read_rows(given.out) if row["tool"] not in given.again])
    known = {tuple(row[name] for name in KEY) for row in read_rows(given.out)}
    for epsilon in given.epsilon:
        for tool in given.tools:
            for name in given.tables:
                for seed in range(given.seeds):
                    if (tool, name, epsilon, str(seed)) in known:
                        continue
                    row = one_row(tool, name, epsilon, seed, limits)
                    append(given.out, row)
                    print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
