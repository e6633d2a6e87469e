"""Feed hostile bytes to every reader, led by coverage, until something breaks.

Needs atheris (``pip install atheris``, Linux and macOS), which is no part of the project's own
requirements. ``python tools/fuzz.py --minutes 60`` gives every target an equal part of an hour,
one after the other; ``python tools/fuzz.py plan taxonomy`` only those. What breaks a promise is
kept in the folder of findings: fix it, and add it to ``tests/fuzz/corpus``, which the tests run.

The targets and what they promise are in ``tests/support/fuzz_targets.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
CORPUS = TESTS / "fuzz" / "corpus"
SHARED = Path("/dev/shm")  # noqa: S108 - files in memory; a folder in it is private
TURN = 60
LARGEST = 16_384
SLOWEST = 20
MEMORY = 3000


def run_one(target: str, options: list[str]) -> None:
    """Fuzz one target in this process; atheris ends the process."""
    import atheris

    sys.path.insert(0, str(TESTS))
    with atheris.instrument_imports(include=["hedgerow", "yaml", "tomllib", "json", "csv"]):
        from support import fuzz_targets

    fuzz_targets.own_words()  # takes long, and is no part of any input
    atheris.Setup([sys.argv[0], *options], lambda data: fuzz_targets.try_bytes(target, data))
    atheris.Fuzz()


def turn(target: str, *, seconds: int, work: Path) -> bool:
    """Fuzz one target in a process of its own; whether nothing was found."""
    grown, found = work / "corpus" / target, work / "findings"
    for folder in (grown, found):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        str(Path(__file__)),
        "--one",
        target,
        f"-max_total_time={seconds}",
        f"-max_len={LARGEST}",
        f"-timeout={SLOWEST}",
        f"-rss_limit_mb={MEMORY}",
        f"-artifact_prefix={found}/{target}-",
        "-print_final_stats=1",
        str(grown),
    ]
    kept = CORPUS / target
    if kept.is_dir():
        command.append(str(kept))
    with (
        tempfile.TemporaryDirectory(dir=SHARED if SHARED.is_dir() else None) as place,
        (work / f"{target}.log").open("a", encoding="utf-8") as log,
    ):
        environment = {**os.environ, "TMPDIR": place}
        ended = subprocess.run(command, stdout=log, stderr=log, env=environment, check=False)
    return ended.returncode == 0


def main() -> int:
    """Take turns until the time is over; 1 when something was found."""
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2], sys.argv[3:])
        return 0
    if importlib.util.find_spec("atheris") is None:
        sys.stderr.write("error: atheris is not installed\nInstall it with: pip install atheris\n")
        return 2
    sys.path.insert(0, str(TESTS))
    from support.fuzz_targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help=", ".join(TARGETS))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--work", type=Path, default=ROOT / "bench-results" / "fuzz")
    given = parser.parse_args()
    end = time.monotonic() + 60 * given.minutes
    clean = True
    while (left := end - time.monotonic()) > 0:
        for target in given.targets:
            share = min(TURN, max(1, int(left / len(given.targets))))
            fine = turn(target, seconds=share, work=given.work)
            sys.stdout.write(f"{target}: {'nothing' if fine else 'a finding'}, {share} s\n")
            sys.stdout.flush()
            clean = clean and fine
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
