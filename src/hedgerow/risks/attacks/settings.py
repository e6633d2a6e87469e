"""Settings of an attack run."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.errors import SettingError

MOST_RECORDS = 1_000
SHADOWS = 4


@dataclass(frozen=True, kw_only=True)
class AttackSettings:
    """Settings of a run; the same settings and seed give the same figures.

    ``sensitive`` are the columns whose values are inferred (by default the class),
    ``most_records`` the maximum number of members to attack, ``shadows`` that of shadow releases.
    """

    sensitive: tuple[str, ...] = ()
    most_records: int = MOST_RECORDS
    shadows: int = SHADOWS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.most_records < 1:
            raise SettingError.out_of_range("most-records", self.most_records, "at least 1")
        if not 0 <= self.shadows <= 100:
            raise SettingError.out_of_range("shadows", self.shadows, "from 0 to 100")
        if self.seed < 0:
            raise SettingError.out_of_range("seed", self.seed, "at least 0")
