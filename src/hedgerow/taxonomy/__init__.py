"""Trees as ranges of codes; their files, builders and checks."""

from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain, code_dtype
from hedgerow.taxonomy.files import FORMATS, Format, read_taxonomy, write_taxonomy
from hedgerow.taxonomy.load import taxonomy_of
from hedgerow.taxonomy.tree import Taxonomy

__all__ = [
    "FORMATS",
    "CategoricalDomain",
    "Domain",
    "Format",
    "NumericDomain",
    "Taxonomy",
    "code_dtype",
    "read_taxonomy",
    "taxonomy_of",
    "write_taxonomy",
]
