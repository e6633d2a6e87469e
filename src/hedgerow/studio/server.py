"""The studio as a server on the loopback address, and the start of the browser."""

from __future__ import annotations

import html
import os
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread

import uvicorn

from hedgerow.errors import InputError
from hedgerow.studio.app import studio_app
from hedgerow.studio.folder import Folder
from hedgerow.studio.security import StartKeys
from hedgerow.studio.shell import environment
from hedgerow.studio.texts import texts

LOOPBACK = "127.0.0.1"


def serve(
    folder: Path, *, port: int, open_browser: bool, tell: Callable[[str, str | None], None]
) -> None:
    """Run the studio for a folder until it is stopped; ``tell`` is called with its addresses.

    The second address is for browsers that cannot resolve names below ``.localhost``; it is
    ``None`` if the first one is of that kind.
    """
    place = Folder.at(folder)
    with bound(port) as listening:
        keys = StartKeys(port=listening.getsockname()[1])
        server = uvicorn.Server(
            uvicorn.Config(
                studio_app(place, keys),
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        host = entered_by(keys)
        address = keys.address(host)
        other = keys.address(keys.hosts[1])
        tell(address, None if other == address else other)
        Thread(target=make_ready, daemon=True).start()
        with way_in(address) as file:
            if open_browser:
                webbrowser.open(file.as_uri())
            server.run(sockets=[listening])


def make_ready() -> None:
    """Compile templates and import what the first pages need, while the browser starts."""
    templates = environment()
    for name in templates.list_templates():
        templates.get_template(name)
    with suppress(ImportError):
        import_module("pandas")  # pyarrow imports it when it first reads a release


@contextmanager
def bound(port: int) -> Iterator[socket.socket]:
    """Yield a socket on the loopback address; port 0 selects any free port."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        reason = (getattr(error, "strerror", None) or "there is no such port").lower()
        raise InputError(
            f"The port cannot be used: {reason}.",
            where=f"port {port}",
            do="Give another --port, or omit the option.",
        ) from None
    try:
        yield listening
    finally:
        listening.close()


def entered_by(keys: StartKeys) -> str:
    """Return the host of the entry address: the random name, if the browser can resolve it.

    Chromium, Edge and Firefox resolve names below ``.localhost`` themselves; Safari asks the
    system.
    """
    if sys.platform == "darwin":
        try:
            found = {each[4][0] for each in socket.getaddrinfo(keys.name, keys.port)}
        except OSError:
            found = set()
        if not found & {LOOPBACK, "::1"}:
            return keys.hosts[1]
    return keys.hosts[0]


@contextmanager
def way_in(address: str) -> Iterator[Path]:
    """Yield a file, readable only by this user, that leads a browser to ``address``.

    The address contains the token. The command line of a browser is visible to all users of the
    computer, so it gets only the name of the file.
    """
    words = texts("common").entered
    descriptor, name = tempfile.mkstemp(prefix="hedgerow-studio-", suffix=".html")  # 0600
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            quoted = html.escape(address, quote=True)
            file.write(
                '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
                '<meta name="referrer" content="no-referrer">'
                f'<meta http-equiv="refresh" content="0; url={quoted}">'
                f"<title>{words.title}</title></head>"
                f'<body><p><a href="{quoted}">{words.title}</a></p></body></html>'
            )
        yield path
    finally:
        path.unlink(missing_ok=True)
