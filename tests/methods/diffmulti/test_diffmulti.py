from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import SettingError
from hedgerow.methods.diffmulti import budget as diffmulti_budget
from hedgerow.methods.diffmulti import growth as diffmulti_growth
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.scores import UNITS, multi_score
from hedgerow.methods.diffmulti.splits import Chosen
from hedgerow.model.locate import box_of
from hedgerow.model.run import Run
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.privacy import mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import flat
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy
from support.tables import categorical, encoded_tables, grid, schema_of, table_of, values

ONE = Fraction(1)
SCORES = ["discernibility", "ncp", "max", "infogain"]

CONTINENT = Taxonomy.from_nested(
    "Any_Continent",
    {"New_World": ["North_America", "South_America", "Australia"], "Old_World": ["Asia", "Europe"]},
)
YEAR = NumericDomain.even(low=1930, high=1998, step=1)  # [1930, 1999) of the paper


def table_i() -> EncodedTable:
    """The raw data of [DiffMulti, Table I]."""
    rows = [
        ("North_America", 1947, "Y"),
        ("Australia", 1953, "Y"),
        ("North_America", 1955, "N"),
        ("Europe", 1957, "N"),
        ("Asia", 1959, "N"),
        ("North_America", 1968, "Y"),
    ]
    schema = Schema(
        attributes=(
            Attribute(name="Continent", domain=categorical(CONTINENT)),
            Attribute(name="YoB", domain=YEAR),
        ),
        class_attribute=Attribute(name="Class", domain=categorical(flat(["Y", "N"]))),
    )
    places = [CONTINENT.leaf_code[place] for place, _, _ in rows]
    years = YEAR.encode(np.array([year for _, year, _ in rows]))
    return EncodedTable.from_codes(schema, [places, years], ["YN".index(row[2]) for row in rows])


def method(*, h=20, score="max", faithful=True, fair=True, depth=None):
    return DiffMulti(
        specialisations=h,
        score=multi_score(score, faithful=faithful),
        fair=fair,
        depth=depth,
        faithful=faithful,
    )


def run(table, *, seed=1, epsilon=ONE, engine=None, **settings):
    ledger = PathLedger(epsilon)
    groups = method(**settings).publish(
        Run(
            engine=engine or MemoryEngine(table=table),
            epsilon=epsilon,
            ledger=ledger,
            source=SeededSource(seed),
        )
    )
    return groups, ledger


def listed(groups, schema):
    """The release as {labels: count by class}."""
    n_classes = 1 if schema.class_attribute is None else schema.class_attribute.domain.size
    rows = {}
    for row in range(len(groups)):
        labels = tuple(
            attribute.domain.label(int(ranges.first[index[row]]), int(ranges.stop[index[row]]))
            for attribute, ranges, index in zip(
                schema.attributes, groups.ranges, groups.index, strict=True
            )
        )
        label = 0 if groups.classes is None else int(groups.classes[row])
        rows.setdefault(labels, [0] * n_classes)[label] += int(groups.counts[row])
    return rows


@pytest.fixture
def without_noise(monkeypatch):
    """The mechanisms without their noise, and left-over specialisations not dealt out."""
    monkeypatch.setattr(mechanisms, "discrete_laplace", lambda n, **_: np.zeros(n, dtype=np.int64))
    monkeypatch.setattr(
        diffmulti_budget, "_dealt", lambda lost, takes, starts, source: 0 * takes.astype(int)
    )


def force(monkeypatch, decide):
    """Let ``decide`` take one of [(attribute, position or None, score)] for every box."""

    def chosen(offers, choice, *, run, share, on):
        run.ledger.spend(share, on=on, nodes=run.at)
        options = {}
        for each in offers:
            for s, (box, border) in enumerate(zip(each.box, each.border, strict=True)):
                several = len(each.borders.values) and each.borders.values[border]
                entry = (each.attribute, int(several), int(each.scores[s]), int(border))
                options.setdefault(int(box), []).append(entry)
        taken = [decide(box, options[box]) for box in sorted(options)]
        return Chosen(
            box=np.array(sorted(options)),
            attribute=np.array([entry[0] for entry in taken]),
            border=np.array([entry[3] for entry in taken]),
        )

    monkeypatch.setattr(diffmulti_growth, "choose_splits", chosen)


def best(box, options):
    """The highest score; the first attribute, then the lowest position, where scores tie."""
    return max(options, key=lambda entry: (entry[2], -entry[0], -entry[1]))


def test_the_papers_table_i_is_generalised_as_in_example_3_1(without_noise, monkeypatch):
    """[Figs. 3 (c) and 4]: split YoB at 1960 and 1950, then Continent, on one path only."""
    table = table_i()
    years = iter([1960, 1950, 1955])  # the last one is drawn and not used
    wanted = iter([1, 1, 0])

    def decide(box, options):
        if len({entry[0] for entry in options}) == 1 and len(options) > 1:  # a split point
            year = next(years) - 1930
            return next(entry for entry in options if entry[1] == year)
        attribute = next(wanted)
        return next(entry for entry in options if entry[0] == attribute)

    force(monkeypatch, decide)
    monkeypatch.setattr(
        diffmulti_growth,
        "fair_shares",
        lambda left, noisy, starts, source: np.array([left[0] - 1 if n >= 4 else 0 for n in noisy]),
    )
    groups, ledger = run(table, h=3)
    assert listed(groups, table.schema) == {
        ("Any_Continent", "[1930, 1950)"): [1, 0],
        ("New_World", "[1950, 1960)"): [1, 1],
        ("Old_World", "[1950, 1960)"): [0, 2],
        ("Any_Continent", "[1960, 1998]"): [1, 0],
    }
    assert max(line.level for line in ledger.bookings) == 3  # "the longest path in Fig. 4 is 3"


def test_the_root_of_example_4_1_offers_both_attributes(monkeypatch):
    offered = []

    def decide(box, options):
        offered.append({entry[0] for entry in options})
        return options[0]

    force(monkeypatch, decide)
    run(table_i(), h=1)
    assert offered == [{1}, {0, 1}]  # the split point of YoB, then Continent or YoB


@pytest.mark.parametrize("score", ["discernibility", "max"])
def test_the_years_of_example_4_5_fall_into_intervals_of_equal_score(monkeypatch, score):
    seen = []

    def decide(box, options):
        if len(options) > 2:
            seen.extend(options)
        return options[0]

    force(monkeypatch, decide)
    run(table_i(), h=1, score=score)
    scores = {1930 + position: value for _, position, value, _ in seen}
    assert sorted(scores) == list(range(1931, 1999))
    edges = [1930, 1947, 1953, 1955, 1957, 1959, 1968, 1998]
    for low, high in pairwise(edges):
        # A year in (low, high] divides the records like any other.
        assert len({scores[year] for year in range(low + 1, high + 1)}) == 1
    if score == "discernibility":
        left = [0, 1, 2, 3, 4, 5, 6]
        squares = [n * n + (6 - n) ** 2 for n in left]
        assert [scores[edge] for edge in edges[1:]] == [-(s * UNITS // 13) for s in squares]


def children_of(domain, first, stop, position):
    """The ranges that a value becomes: by its taxonomy, or at a position."""
    if isinstance(domain, CategoricalDomain):
        tree = domain.taxonomy
        node = max(v for v in range(tree.n_nodes) if (tree.first[v], tree.stop[v]) == (first, stop))
        return [(int(tree.first[c]), int(tree.stop[c])) for c in tree.children(node)]
    return [(first, position), (position, stop)]


class Naive:
    """[DiffMulti, Alg. 1] on lists of records and a stack, always taking the best."""

    def __init__(self, table, score, h, depth):
        self.domains = [a.domain for a in table.schema.attributes]
        self.n_classes = table.schema.class_attribute.domain.size
        rows = np.stack([*table.codes, table.classes], axis=1).astype(int).tolist()
        whole = tuple((0, domain.size) for domain in self.domains)
        self.score, self.depth = score, depth
        self.leaves = {}
        stack = [(whole, rows, h, 0, {})]
        while stack:
            stack.extend(self.step(*stack.pop()))

    def step(self, box, rows, h, depth, points):
        valid = [a for a, (f, s) in enumerate(box) if s - f > 1]
        if not (h > 0 and depth < self.depth and valid):
            self.leaves[box] = [sum(r[-1] == y for r in rows) for y in range(self.n_classes)]
            return []
        points = dict(points)
        for a in valid:
            if self.domains[a].kind == "numeric" and a not in points:
                options = [
                    (self.rate(rows, box, a, p), -p) for p in range(box[a][0] + 1, box[a][1])
                ]
                points[a] = -max(options)[1]
        scored = [(self.rate(rows, box, a, points.get(a)), -a) for a in valid]
        taken = -max(scored)[1]
        parts = children_of(self.domains[taken], *box[taken], points.pop(taken, None))
        groups = [[r for r in rows if f <= r[taken] < s] for f, s in parts]
        return [
            (
                (*box[:taken], part, *box[taken + 1 :]),
                group,
                (h - 1) * len(group) // len(rows) if rows else 0,
                depth + 1,
                points,
            )
            for part, group in zip(parts, groups, strict=True)
        ]

    def rate(self, rows, box, a, position):
        parts = children_of(self.domains[a], *box[a], position)
        groups = [[r for r in rows if f <= r[a] < s] for f, s in parts]
        if self.score == "discernibility":
            return -Fraction(sum(len(g) ** 2 for g in groups), 2 * len(rows) + 1)
        if self.score == "ncp":
            size = self.domains[a].size
            penalty = [0 if s - f == 1 else (s - f) * UNITS // size for f, s in parts]
            return -sum(len(g) * p for g, p in zip(groups, penalty, strict=True))
        return sum(max(sum(r[-1] == y for r in g) for y in range(self.n_classes)) for g in groups)


@settings(max_examples=60)
@given(
    table=encoded_tables(max_records=30),
    score=st.sampled_from(["discernibility", "ncp", "max"]),
    h=st.integers(0, 40),
)
def test_the_level_loop_equals_the_papers_stack_of_boxes(table, score, h):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanisms, "discrete_laplace", lambda n, **_: np.zeros(n, dtype=np.int64))
        patch.setattr(
            diffmulti_budget, "_dealt", lambda lost, takes, starts, source: 0 * takes.astype(int)
        )
        force(patch, best)
        groups, _ = run(table, h=h, score=score)
    naive = Naive(table, score, h, diffmulti_budget.longest_path(table.schema))
    boxes = {
        tuple(
            (int(ranges.first[i]), int(ranges.stop[i]))
            for ranges, i in zip(groups.ranges, place, strict=True)
        )
        for place in zip(*groups.boxes, strict=True)
    }
    assert boxes == set(naive.leaves)
    labels = {
        tuple(domain.label(f, s) for domain, (f, s) in zip(naive.domains, box, strict=True)): counts
        for box, counts in naive.leaves.items()
        if sum(counts)
    }
    assert listed(groups, table.schema) == labels


VARIANTS = st.fixed_dictionaries(
    {
        "h": st.one_of(st.integers(0, 12), st.sampled_from([100, 5000])),
        "score": st.sampled_from(SCORES),
        "fair": st.booleans(),
        "faithful": st.booleans(),
        "seed": st.integers(0, 2**32),
    }
)


@settings(max_examples=200)
@given(
    table=encoded_tables(),
    chosen=VARIANTS,
    depth=st.one_of(st.none(), st.integers(1, 30)),
    epsilon=st.sampled_from([Fraction(1, 10), ONE, Fraction(7, 3)]),
)
def test_no_path_exceeds_epsilon_and_all_of_it_is_booked(table, chosen, depth, epsilon):
    depth = None if chosen["faithful"] else depth
    groups, ledger = run(table, epsilon=epsilon, depth=depth, **chosen)
    assert ledger.worst_path() == epsilon
    assert ledger.settled()
    assert (groups.counts > 0).all()
    n_specialised = len(np.unique(groups.tree.parent[1:]))
    assert n_specialised <= chosen["h"]
    deepest = max(line.level for line in ledger.bookings)
    longest = diffmulti_budget.longest_path(table.schema)
    assert deepest <= (
        longest if chosen["faithful"] else min(depth or diffmulti_budget.DEPTH, longest)
    )


@settings(max_examples=40)
@given(table=encoded_tables(min_records=2), chosen=VARIANTS, data=st.data())
def test_the_order_of_records_does_not_show(table, chosen, data):
    order = data.draw(st.permutations(range(len(table))))
    shuffled = EncodedTable(
        schema=table.schema,
        codes=tuple(codes[order] for codes in table.codes),
        classes=table.classes[order],
    )
    same(run(table, **chosen)[0], run(shuffled, **chosen)[0])


def same(first, second):
    assert first.counts.tolist() == second.counts.tolist()
    assert [each.tolist() for each in first.boxes] == [each.tolist() for each in second.boxes]
    assert [each.tolist() for each in first.index] == [each.tolist() for each in second.index]


@settings(max_examples=40)
@given(table=encoded_tables(), chosen=VARIANTS)
def test_boxes_tile_the_domain_and_rows_are_sorted(table, chosen):
    groups, _ = run(table, **chosen)
    rows = list(zip(*(each.tolist() for each in (*groups.index, groups.classes)), strict=True))
    assert rows == sorted(set(rows))
    volume = np.ones(len(groups.boxes[0]))
    for ranges, place in zip(groups.ranges, groups.boxes, strict=True):
        volume *= (ranges.stop - ranges.first)[place]
    assert volume.sum() == np.prod([a.domain.size for a in table.schema.attributes])
    box = box_of(groups.tree, table.codes)
    for ranges, place, codes in zip(groups.ranges, groups.boxes, table.codes, strict=True):
        assert (ranges.first[place[box]] <= codes).all()
        assert (codes < ranges.stop[place[box]]).all()


class Engine(MemoryEngine):
    compiled = False

    def place(self):
        return PlacedInMemory(self.table, compiled=type(self).compiled)


@pytest.mark.parametrize("faithful", [True, False])
@pytest.mark.parametrize("score", SCORES)
def test_the_same_seed_gives_the_same_release_compiled_or_not(monkeypatch, faithful, score):
    rng = np.random.default_rng(3)
    schema = schema_of(values(12, 3), grid(40), grid(2000), classes=3)
    table = table_of(schema, [tuple(rng.integers(0, (12, 40, 2000, 3))) for _ in range(4000)])
    releases = []
    for compiled, threads in ((False, 1), (True, 1), (True, 4)):
        monkeypatch.setattr(Engine, "compiled", compiled)
        monkeypatch.setattr("os.cpu_count", lambda n=threads: n)
        chosen = {"h": 500, "score": score, "faithful": faithful}
        releases.append(run(table, engine=Engine(table=table), **chosen)[0])
    for other in releases[1:]:
        same(releases[0], other)
    assert len(releases[0].boxes[0]) > 20
    another = run(table, seed=2, h=500, score=score, faithful=faithful)[0]
    assert another.counts.tolist() != releases[0].counts.tolist()


def test_split_points_are_inherited_and_drawn_once_per_new_range():
    rng = np.random.default_rng(5)
    table = table_of(
        schema_of(grid(30), grid(30), values(2)),
        [tuple(rng.integers(0, (30, 30, 2, 2))) for _ in range(2000)],
    )
    groups, ledger = run(table, h=30)
    lines = {line.on: 0 for line in ledger.bookings}
    for line in ledger.bookings:
        lines[line.on] += line.times
    tree = groups.tree
    inner = tree.box < 0
    new_numeric = (
        inner & (tree.attribute < 2) & (tree.attribute >= 0) & (tree.stop - tree.first > 1)
    )
    assert lines["first split points"] == 2
    assert lines["split points"] == new_numeric.sum()
    assert lines["choice"] == inner.sum()
    assert lines["child counts"] == len(tree) - 1


def test_even_shares_need_no_child_counts_and_leave_more_to_the_leaves():
    table = table_i()
    _, ledger = run(table, h=5, fair=False)
    assert "child counts" not in {line.on for line in ledger.bookings}


@pytest.mark.parametrize("faithful", [True, False])
def test_a_table_without_a_class_can_be_published(faithful):
    schema = schema_of(values(4, 2), grid(9), classes=None)
    table = table_of(schema, [(i % 4, i % 9) for i in range(500)])
    groups, ledger = run(table, score="ncp", faithful=faithful)
    assert groups.classes is None
    assert ledger.settled()
    with pytest.raises(SettingError, match="compares classes"):
        method(score="max", faithful=faithful).validate(schema, ONE)


def test_settings_that_cannot_work_are_refused_before_anything_is_spent():
    schema = schema_of(values(1000), *[grid(50)] * 3, classes=100)
    with pytest.raises(SettingError, match="too many to publish"):
        method(h=5_000_000).validate(schema, ONE)
    with pytest.raises(SettingError, match="too small to draw noise"):
        method().validate(schema, Fraction(1, 10**9))
    method(h=100).validate(schema, ONE)


def test_check_tells_the_largest_possible_h():
    schema = schema_of(values(4, 2), values(3))
    outline = method(h=5).outline(schema, ONE)
    assert sum(step.share * step.times for step in outline.steps) == 1
    assert "At most 7 specialisations are possible; h is 5." in outline.notes


def test_a_box_with_one_attribute_used_up_is_divided_by_the_others():
    schema = schema_of(values(1), grid(16))
    rows = [(0, i % 16, int(i % 16 > 7)) for i in range(3200)]
    groups, _ = run(table_of(schema, rows), epsilon=Fraction(50), h=6, faithful=False)
    assert len(groups.ranges[1]) > 1


@pytest.mark.parametrize("faithful", [True, False])
@pytest.mark.parametrize("fair", [True, False])
@given(table=encoded_tables(), h=st.integers(1, 30), seed=st.integers(0, 1000))
@settings(max_examples=30)
def test_no_run_has_more_groups_or_a_smaller_share_than_its_outline_says(
    faithful, fair, table, h, seed
):
    multi = method(h=h, faithful=faithful, fair=fair)
    groups = multi.publish(
        Run.start(MemoryEngine(table=table), epsilon=ONE, source=SeededSource(seed))
    )
    told = multi.outline(table.schema, ONE)
    assert len(groups.boxes[0]) * table.schema.n_classes <= told.most_groups
    assert groups.origin.share >= told.counts
