"""Links from labels to parents, with the line of their first occurrence."""

from __future__ import annotations

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.formats.text import at
from hedgerow.taxonomy.labels import ROOT, displayed
from hedgerow.taxonomy.tree import Taxonomy


class Links:
    """Links from labels to their parents, as found in a file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._parent: dict[str, tuple[str, int]] = {}
        self._mentioned: dict[str, int] = {}

    def add(self, child: str, parent: str, line: int) -> bool:
        """Add a link; return ``False`` if it was known, and raise for a second parent."""
        self._mentioned.setdefault(child, line)
        self._mentioned.setdefault(parent, line)
        known = self._parent.setdefault(child, (parent, line))
        if known[0] != parent:
            raise self.fault(
                f"{displayed(child)} has two parents, {displayed(known[0])} (line {known[1]})"
                f" and {displayed(parent)} (line {line}).",
                line=line,
                value=child,
                do="Keep one of them, or give the two values different labels.",
            )
        return known[1] == line

    def line_of(self, label: str) -> int:
        """Return the first line with the label."""
        return self._mentioned[label]

    def groups(self) -> set[str]:
        """Labels that are parents."""
        return {parent for parent, _ in self._parent.values()}

    def taxonomy(self) -> Taxonomy:
        """Return the tree of all links; several roots get a common root ``*``.

        Siblings keep the order in which their links were added.
        """
        self._refuse_cycle()
        roots = [label for label in self._mentioned if label not in self._parent]
        above: dict[str, str | None] = dict.fromkeys(roots)
        if len(roots) > 1:
            if ROOT in self._mentioned:
                raise self.fault(
                    f"Several labels have no parent ({displayed(roots[0])},"
                    f" {displayed(roots[1])}, ...), and {displayed(ROOT)}, the root above"
                    " them, is taken.",
                    line=self.line_of(ROOT),
                    value=ROOT,
                    do=f"Give all but one of them a parent, such as {displayed(ROOT)}.",
                )
            above = {ROOT: None, **dict.fromkeys(roots, ROOT)}
        above |= {child: parent for child, (parent, _) in self._parent.items()}
        number = {label: node for node, label in enumerate(above)}
        parents = [-1 if parent is None else number[parent] for parent in above.values()]
        try:
            return Taxonomy.from_parents(list(above), parents)
        except TaxonomyError as error:
            line = self._mentioned.get(error.value or "", 1)
            raise self.fault(
                error.what, line=line, value=error.value or "", do=error.do or ""
            ) from error

    def _refuse_cycle(self) -> None:
        settled: set[str] = set()
        for start in self._parent:
            way: dict[str, None] = {}
            label = start
            while label in self._parent and label not in settled:
                if label in way:
                    raise self._cycle(list(way), label)
                way[label] = None
                label = self._parent[label][0]
            settled.update(way)

    def _cycle(self, way: list[str], label: str) -> TaxonomyError:
        circle = [*way[way.index(label) :], label]
        named = " > ".join(displayed(each) for each in circle[:5])
        line = max(self._parent[each][1] for each in circle)
        return self.fault(
            f"The parents form a circle: {named}{' > ...' if len(circle) > 5 else ''}.",
            line=line,
            value=label,
            do="Remove one of these links, so that every path ends at a root.",
        )

    def fault(self, what: str, *, line: int, value: str, do: str) -> TaxonomyError:
        """Return an error about a label on a line of the file."""
        return TaxonomyError(what, where=at(self.name, line), line=line, value=value, do=do)
