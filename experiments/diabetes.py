"""Diabetes-130 as a plan and a table: 28 predictors, readmitted yes or no.

Domains are those of the published code book; the taxonomies are our own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

CHAPTERS = {
    "Metabolic and organs": {
        "Endocrine": ["diabetes", "other endocrine"],
        "Organs": ["digestive", "genitourinary", "respiratory", "blood"],
    },
    "Circulatory": ["ischaemic", "heart failure", "other circulatory"],
    "Other": {
        "Acute": ["infectious", "injury", "symptoms", "skin"],
        "Long": ["neoplasm", "mental", "nervous", "musculoskeletal", "congenital and birth"],
        "Codes": ["external", "none"],
    },
}
_LIMITS = [
    (139, "infectious"),
    (239, "neoplasm"),
    (249, "other endocrine"),
    (250, "diabetes"),
    (279, "other endocrine"),
    (289, "blood"),
    (319, "mental"),
    (389, "nervous"),
    (409, "other circulatory"),
    (414, "ischaemic"),
    (427, "other circulatory"),
    (428, "heart failure"),
    (459, "other circulatory"),
    (519, "respiratory"),
    (579, "digestive"),
    (629, "genitourinary"),
    (679, "congenital and birth"),
    (709, "skin"),
    (739, "musculoskeletal"),
    (779, "congenital and birth"),
    (799, "symptoms"),
    (999, "injury"),
]
AGES = [f"[{low}-{low + 10})" for low in range(0, 100, 10)]
DRUG = ["No", "Steady", "Up", "Down"]
DRUGS = [
    "metformin",
    "glimepiride",
    "glipizide",
    "glyburide",
    "pioglitazone",
    "rosiglitazone",
    "insulin",
]


PLAN: dict[str, Any] = {
    "missing": "value",
    "attributes": {
        "race": {"values": ["Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other"]},
        "gender": {"values": ["Female", "Male"], "other": "unknown"},
        "age": {
            "taxonomy": {
                "*": {"young": AGES[:3], "middle": AGES[3:6], "older": AGES[6:8], "old": AGES[8:]}
            }
        },
        "admission_type_id": {
            "taxonomy": {
                "*": {"acute": ["1", "2", "7"], "planned": ["3", "4"], "not said": ["5", "6", "8"]}
            }
        },
        "discharge_disposition_id": {
            "taxonomy": {
                "*": {
                    "home": {"alone": ["1"], "with care": ["6", "8"], "against advice": ["7"]},
                    "elsewhere": {
                        "institution": [
                            "2",
                            "3",
                            "4",
                            "5",
                            "9",
                            "10",
                            "12",
                            "15",
                            "16",
                            "17",
                            "22",
                            "23",
                            "24",
                            "27",
                            "28",
                            "29",
                            "30",
                        ],
                        "died or hospice": ["11", "13", "14", "19", "20", "21"],
                        "unknown": ["18", "25", "26"],
                    },
                }
            }
        },
        "admission_source_id": {
            "taxonomy": {
                "*": {
                    "referral": ["1", "2", "3"],
                    "emergency": ["7"],
                    "transfer": ["4", "5", "6", "10", "18", "19", "22", "25", "26"],
                    "rest": ["8", "9", "11", "12", "13", "14", "15", "17", "20", "21", "23", "24"],
                }
            }
        },
        "time_in_hospital": {"numeric": [1, 14]},
        "num_lab_procedures": {"numeric": [0, 140]},
        "num_procedures": {"numeric": [0, 6]},
        "num_medications": {"numeric": [0, 90]},
        "number_outpatient": {"numeric": [0, 50]},
        "number_emergency": {"numeric": [0, 80]},
        "number_inpatient": {"numeric": [0, 25]},
        **{f"diag_{i}": {"taxonomy": {"*": CHAPTERS}} for i in (1, 2, 3)},
        "number_diagnoses": {"numeric": [0, 16]},
        "max_glu_serum": {"values": ["None", "Norm", ">200", ">300"]},
        "A1Cresult": {"values": ["None", "Norm", ">7", ">8"]},
        **{drug: {"values": DRUG} for drug in DRUGS},
        "change": {"values": ["No", "Ch"]},
        "diabetesMed": {"values": ["No", "Yes"]},
        "readmitted": {"role": "class", "values": ["no", "yes"]},
    },
    "protects": "records",  # encounters: a patient has up to 40 of them
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 1},
    "ledger": {"dataset": "diabetes-130", "cap": 1},
}


def diabetes_table(path: Path) -> pl.DataFrame:
    """Return the table of a file, diagnoses as chapters of ICD-9 and the class as yes or no."""
    import polars as pl

    raw = pl.read_csv(path, infer_schema=False)
    readmitted = pl.when(pl.col("readmitted") == "NO").then(pl.lit("no")).otherwise(pl.lit("yes"))
    return raw.with_columns(
        *[_chapter(f"diag_{i}") for i in (1, 2, 3)], readmitted.alias("readmitted")
    )


def _chapter(column: str) -> pl.Expr:
    """Return the chapter of a diagnosis, by the number that its code begins with."""
    import polars as pl

    code = pl.col(column)
    number = code.cast(pl.Float64, strict=False).floor()
    chosen: Any = pl.when(code == "?").then(pl.lit("none"))
    for limit, name in _LIMITS:
        chosen = chosen.when(number <= limit).then(pl.lit(name))
    named: pl.Expr = chosen.otherwise(pl.lit("external"))
    return named.alias(column)
