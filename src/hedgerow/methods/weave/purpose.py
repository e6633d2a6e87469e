"""What a release of weave can be for."""

from __future__ import annotations

from typing import Literal

Purpose = Literal["general", "classification", "counting", "clustering"]
