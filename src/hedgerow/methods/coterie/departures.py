"""Details of coterie in the certificate, beside its settings."""

from __future__ import annotations

DETAILS = {
    "kept": "noisy counts of items, pairs and chosen sets of the frequent items, and lengths;"
    " rarer items are placed by length alone",
    "records": "every basket is synthetic: none is somebody's",
}
