"""Purposes of a release of weave."""

from __future__ import annotations

from typing import Literal

Purpose = Literal["general", "classification", "counting", "clustering"]
