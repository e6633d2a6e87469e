"""Which engine counts the records, and what it may use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from hedgerow.errors import SettingError

EngineKind = Literal["memory", "stream", "spark"]
KINDS: tuple[EngineKind, ...] = ("memory", "stream", "spark")

DEFAULT_MEMORY = 2 << 30
LEAST_MEMORY = 600 << 20

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE | re.ASCII)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """Engine that counts the records, with the resources it may use.

    Build it with `of`, which takes sizes as text.

    Parameters
    ----------
    kind : {"memory", "stream", "spark"}, default="memory"
        Where records are counted: in memory, in a stream from disk, or on Spark.
    memory : int, optional
        For ``stream``: memory to work in, in bytes. By default 2 GiB.
    scratch : pathlib.Path, optional
        For ``stream``: folder of the scratch files. By default the system's temporary folder.
    master : str, optional
        For ``spark``: URL of the master, such as ``"local[4]"``.
    session : pyspark.sql.SparkSession, optional
        For ``spark``: session to use. By default that of the data frame, or a new one.

    Raises
    ------
    SettingError
        If the engine is unknown, or has no use for a setting.

    Notes
    -----
    Privacy: the engine does not change the release. The same seed gives the same release on
    every engine.

    Examples
    --------
    >>> EngineSettings.of("stream:2GB") == EngineSettings.of("stream", memory="2GB")
    True

    """

    kind: EngineKind = "memory"
    memory: int | None = None
    scratch: Path | None = None
    master: str | None = None
    session: Any = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingError(
                f"{self.kind!r} is not known.",
                where="engine",
                do=f"Give one of: {', '.join(KINDS)}.",
            )
        mine = {"memory": "stream", "scratch": "stream", "master": "spark", "session": "spark"}
        for name, kind in mine.items():
            if getattr(self, name) is not None and kind != self.kind:
                raise SettingError(
                    f"The engine {self.kind!r} has no such setting.",
                    where=name,
                    do=f"Remove it, or use the engine {kind}.",
                )
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise SettingError(
                "This is too little memory to work with.",
                where="memory",
                do=f"Give at least {LEAST_MEMORY >> 20}MB.",
            )

    @classmethod
    def of(
        cls,
        kind: str,
        *,
        memory: str | int | None = None,
        scratch: str | os.PathLike[str] | None = None,
        master: str | None = None,
        session: Any = None,
    ) -> EngineSettings:
        """Return the settings from text, such as ``"stream:2GB"`` or ``"spark:local[4]"``."""
        kind, _, resource = kind.partition(":")
        if resource and kind == "stream" and memory is None:
            memory = resource
        elif resource and kind == "spark" and master is None:
            master = resource
        elif resource:
            raise SettingError(
                f"The engine {kind!r} takes nothing after the colon here.",
                where="engine",
                do="Write it as memory, stream:2GB or spark:local[4].",
            )
        return cls(
            kind=kind,  # type: ignore[arg-type]  # checked when built
            memory=parse_bytes(memory) if isinstance(memory, str) else memory,
            scratch=None if scratch is None else Path(scratch),
            master=master,
            session=session,
        )


def parse_bytes(text: str) -> int:
    """Return a size in bytes; units are powers of 1,024.

    >>> parse_bytes("2GB") == 2 << 30, parse_bytes("1.5 GiB") == 3 << 29, parse_bytes("800m")
    (True, True, 838860800)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise SettingError("This is not a size.", where="memory", do="Write it as 2GB or 800MB.")
    return int(Fraction(found[1]) * (1 << _UNITS[found[2].lower()]))
