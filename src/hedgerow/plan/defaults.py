"""The default publishing methods; a module of its own, so that the command line loads little."""

from __future__ import annotations

DEFAULT_METHOD = "hedge"
DEFAULT_BASKET_METHOD = "coterie"
DEFAULT_SEQUENCE_METHOD = "chain"
