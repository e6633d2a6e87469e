"""What is set in the workers of Spark, and where Java and Python meet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow.count.spark import session

SETTLES = """
import gc, signal
from hedgerow.count.spark.settled import settle
settle()
frozen = gc.get_freeze_count()
assert frozen > 1000, frozen
settle()
assert gc.get_freeze_count() == frozen
print(signal.getsignal(signal.SIGPIPE) == signal.SIG_DFL)
"""


@pytest.mark.parametrize(("sockets", "quiet"), [("true", "True"), ("false", "False")])
def test_a_worker_settles_once_and_ends_quietly_only_at_a_socket(sockets, quiet):
    done = subprocess.run(
        [sys.executable, "-c", SETTLES],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHON_UNIX_DOMAIN_ENABLED": sockets, "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == quiet


def test_a_folder_with_too_long_a_path_has_no_socket(tmp_path):
    told = session._sockets(Path("/tmp/short"))
    assert told["spark.python.unix.domain.socket.dir"] == "/tmp/short"
    assert session._sockets(Path("/tmp") / ("x" * 80)) == {}
