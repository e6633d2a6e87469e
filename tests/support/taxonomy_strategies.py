"""Random taxonomies."""

from __future__ import annotations

from hypothesis import strategies as st

from hedgerow.taxonomy.labels import fault_of
from hedgerow.taxonomy.tree import Taxonomy

# Characters that mean something in one of the formats come up often.
_AWKWARD = st.text(alphabet=";,\"'|:#&*-?[]{}!%@`~ 01eE.xn\t=<>\\/", min_size=1, max_size=6)
_WORDS = st.sampled_from(
    ["no", "true", "null", "~", "007", "1.0", "1e3", "2020-01-01", "child", "parent", "=", "<<"]
)
_ANY = st.text(min_size=1, max_size=8)

labels = (_AWKWARD | _WORDS | _ANY).map(str.strip).filter(lambda label: fault_of(label) is None)


@st.composite
def taxonomies(draw: st.DrawFn, max_nodes: int = 25) -> Taxonomy:
    """A taxonomy of any shape: unary chains, leaves at all depths, awkward labels."""
    names = draw(st.lists(labels, min_size=2, max_size=max_nodes, unique=True))
    parents = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, len(names))]
    return Taxonomy.from_parents(names, parents)
