"""A real PostgreSQL server, where the machine has the programs of one."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "SECRET-pass"


def _program(name: str) -> Path | None:
    found = shutil.which(name)
    if found:
        return Path(found)
    return next(iter(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None)


def _account() -> dict[str, Any]:
    """Whom the server runs as: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of an empty database on a server that lives as long as the tests."""
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("no PostgreSQL server on this machine (initdb and pg_ctl not found)")
    pytest.importorskip("adbc_driver_postgresql", reason="the extra 'sql' is not installed")
    account = _account()
    folder = Path(tempfile.mkdtemp(prefix="hedgerow-postgres-"))
    try:
        if account:
            os.chown(folder, account["user"], account["group"])
        yield from _serve(folder, initdb, pg_ctl, account)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(folder: Path, initdb: Path, pg_ctl: Path, account: dict[str, Any]) -> Iterator[str]:
    def run(*command: str | Path) -> None:
        subprocess.run(
            list(map(str, command)),
            check=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            **account,
        )

    data, port = folder / "data", _free_port()
    secret = folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    run(initdb, "-D", data, "-U", "keeper", "-A", "scram-sha-256", f"--pwfile={secret}", "-N",
        "--encoding=UTF8", "--locale=C")  # fmt: skip
    options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off -c shared_buffers=16MB"
    run(pg_ctl, "-D", data, "-w", "-o", options, "-l", folder / "log", "start")
    try:
        yield f"postgresql://keeper:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        run(pg_ctl, "-D", data, "-m", "immediate", "stop")
