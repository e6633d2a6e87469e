"""What is bought together; a customer is protected with all receipts, joined to one basket."""

from __future__ import annotations

import numpy as np
import pandas as pd
from place import working_folder

import hedgerow

PRODUCTS = ["bread", "butter", "milk", "tea", "biscuits", "apples", "pears", "soap", "candles"]
TOGETHER = ({"bread", "butter"}, {"tea", "biscuits"}, {"apples", "pears"}, {"milk"}, {"soap"})


def receipts(customers: int = 5_000, *, seed: int = 7) -> pd.DataFrame:
    """Return made-up receipts, three of each customer, a row for every product on one."""
    rng = np.random.default_rng(seed)
    rows = []
    for customer in range(customers):
        for _ in range(3):
            bought = set(TOGETHER[int(rng.integers(len(TOGETHER)))])
            if rng.random() < 0.2:
                bought.add(PRODUCTS[int(rng.integers(len(PRODUCTS)))])
            rows += [(customer, product) for product in sorted(bought)]
    return pd.DataFrame(rows, columns=["customer", "product"])


folder = working_folder()
release = hedgerow.publish(
    {
        "items": {"universe": PRODUCTS, "column": "product"},
        "person": "customer",
        "join": "union",
        "records": 5_000,
        "confirmed": True,
        "publish": {"epsilon": 1},  # coterie, the default for baskets
        "ledger": {"dataset": "shop-2026", "cap": 1},
    },
    data=receipts(),
    out=folder / "release",
)

print(release.certificate.guarantee.statement)
for items in (["bread", "butter"], ["tea", "biscuits"], ["bread", "candles"]):
    answer = release.count(items)
    print(
        f"{' and '.join(items)}: {answer.estimate:,} customers, ± {2 * answer.standard_error:,.0f}"
    )
