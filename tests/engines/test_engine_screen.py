"""Tuples of which every member gains, from the engines: against plain loops, and the same however they are searched."""

import threading
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
from cuda_problems import (
    classes_of,
    planes_of,
    tiles_for,
)
from interplay.base.tuples import TupleRows
from interplay.infer.interaction.null_model import fewest_degrees_of_freedom
from interplay.search.engines import sinks
from interplay.search.engines.cpu import CpuEngine, simd_levels
from interplay.search.engines.tables import count_tables

#: The least that lanes take, and what only counts take.
PSEUDOCOUNTS = (1e-6, 0.0, 0.25)


@dataclass(frozen=True)
class Screen:
    """Codes (n_vars, n_samples) of some levels, a decision, perhaps strata: what is screened."""

    codes: np.ndarray
    levels: np.ndarray
    decision: np.ndarray
    dimensions: int
    strata: np.ndarray | None = None
    variables: list[int] | None = None
    require: str = "any"
    pseudocount: float = 1e-6

    @property
    def n_classes(self):
        return int(self.decision.max()) + 1

    def prepared(self, **block_sizes):
        n_vars = len(self.codes)
        asked_for = None if self.variables is None else np.isin(np.arange(n_vars), self.variables)
        n_strata = None if self.strata is None else int(self.strata.max()) + 1
        how = {"asked_for": asked_for, "require": self.require, "stratum_levels": n_strata, **block_sizes}
        classes = classes_of(self.decision, self.n_classes)
        planes = planes_of(self.codes, self.levels, classes, strata=self.strata, n_strata=n_strata or 0)
        return planes, tiles_for(self.levels, n_vars, self.dimensions, **how)

    def run(self, min_gain, engine=None, searched=None, **block_sizes):
        planes, tiles = self.prepared(**block_sizes)
        rows = (engine or CpuEngine()).screen_tiles(
            planes, tiles, pseudocount=self.pseudocount, min_gain=min_gain, searched=searched
        )
        return self.as_rows(rows)

    def as_rows(self, rows):
        tuples, variable = rows.tuples, rows.variable
        if self.strata is not None:
            assert (tuples[:, 0] == 0).all()
            tuples, variable = tuples[:, 1:] - 1, variable - 1
        found = zip(tuples.tolist(), variable.tolist(), rows.value.tolist(), strict=True)
        return sorted((tuple(members), v, value) for members, v, value in found)

    def expected(self, min_gain):
        return reference.screened_tuples(
            self.codes.tolist(),
            self.levels.tolist(),
            self.decision.tolist(),
            self.n_classes,
            self.dimensions,
            self.pseudocount,
            min_gain.tolist(),
            strata=None if self.strata is None else self.strata.tolist(),
            variables=self.variables,
            require=self.require,
        )


def thresholds(least, step):
    """What members must gain, by degrees of freedom: growing up to 20 of them."""
    return np.concatenate([[np.inf], least + step * np.arange(20)])


def random_screen(rng, *, dimensions, levels, n_samples, n_classes=2, n_strata=0, pseudocount=1e-6, even=True):
    """Some variables that matter, alone and together, and many that do not."""
    n_vars = len(levels)
    power = 1.0 if even else 2.5
    codes = np.array([(c * rng.random(n_samples) ** power).astype(np.uint8) for c in levels])
    score = codes[0].astype(float) + (codes[1] > 0) * (codes[n_vars - 1] > 0) + 0.8 * rng.normal(size=n_samples)
    ranks = np.argsort(np.argsort(score, kind="stable"))
    decision = ranks * n_classes // n_samples if even else np.minimum(ranks * 4 // (3 * n_samples), n_classes - 1)
    decision[:n_classes] = np.arange(n_classes)
    strata = None
    if n_strata:
        strata = rng.integers(0, n_strata, n_samples)
        strata[:n_strata] = np.arange(n_strata)
    return Screen(codes, levels, decision, dimensions, strata=strata, pseudocount=pseudocount)


@st.composite
def screens(draw):
    dimensions = draw(st.integers(2, 5))
    n_vars = draw(st.integers(dimensions, 8 if dimensions < 4 else 7))
    n_classes = draw(st.integers(2, 4))
    n_samples = draw(st.integers(max(8, n_classes), 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = draw(st.integers(2, 5 if dimensions < 4 else 3))
    screen = random_screen(
        rng,
        dimensions=dimensions,
        levels=rng.integers(2, most + 1, n_vars),
        n_samples=n_samples,
        n_classes=n_classes,
        n_strata=draw(st.sampled_from([0, 0, 2, 3])),
        pseudocount=draw(st.sampled_from(PSEUDOCOUNTS)),
        even=draw(st.booleans()),
    )
    kind = draw(st.sampled_from(["plain", "constant column", "equal columns"]))
    if kind == "constant column":
        screen.codes[draw(st.integers(0, n_vars - 1))] = 0
    elif kind == "equal columns":
        screen.codes[-1] = np.minimum(screen.codes[0], screen.levels[-1] - 1)
    if draw(st.booleans()):
        require = draw(st.sampled_from(["any", "all"]))
        n_asked = draw(st.integers(dimensions if require == "all" else 1, n_vars))
        screen = replace(screen, variables=rng.choice(n_vars, n_asked, replace=False).tolist(), require=require)
    return screen


def check_against_plain_loops(screen, min_gain, engine):
    wanted = screen.expected(min_gain)
    assume(all(abs(gain - needed) > 1e-7 for _, _, gain, needed in wanted))
    found = screen.run(min_gain, engine)
    listed = [row[:3] for row in wanted if row[2] >= row[3]]
    assert [row[0] for row in found] == [row[0] for row in listed]
    np.testing.assert_allclose([row[2] for row in found], [row[2] for row in listed], rtol=1e-9, atol=1e-9)


@settings(max_examples=80, deadline=None)
@given(screens(), st.floats(0.0, 1.0), st.floats(0.0, 2.0), st.sampled_from(simd_levels()), st.booleans())
def test_tuples_equal_plain_loops(screen, share, step, simd, direct):
    everything = screen.expected(thresholds(-1.0, 0.0))
    least = float(np.quantile([gain for _, _, gain, _ in everything], share)) + 1e-4
    engine = CpuEngine(simd_level=simd, direct_only=direct)
    check_against_plain_loops(screen, thresholds(least, step), engine)


def test_the_member_named_gains_least():
    screen = random_screen(np.random.default_rng(0), dimensions=3, levels=np.repeat([2, 3], 4), n_samples=200)
    wanted = screen.expected(thresholds(0.5, 0.1))
    found = screen.run(thresholds(0.5, 0.1))
    assert [row[:2] for row in found] == [row[:2] for row in wanted if row[2] >= row[3]]
    assert len(found) > 5


def test_of_members_that_gain_alike_the_first_is_named():
    codes = np.array([[0, 0, 1, 1] * 10, [0, 1, 0, 1] * 10, [0] * 40])
    screen = Screen(codes, np.array([2, 2, 2]), codes[0] ^ codes[1], 2)
    assert [row[:2] for row in screen.run(thresholds(1.0, 0.0))] == [((0, 1), 0)]


#: Shapes by who searches them: (levels, dimensions, samples, classes, strata) and the searchers that take their tiles.
SHAPES = {
    "pairs of two levels": ((np.full(300, 2), 2, 300, 2, 0), {"singles"}),
    "triples of two levels": ((np.full(80, 2), 3, 300, 2, 0), {"pairs"}),
    "fours of two levels": ((np.full(34, 2), 4, 200, 2, 0), {"triples", "pairs"}),
    "fives of two levels": ((np.full(22, 2), 5, 200, 2, 0), {"triples", "pairs"}),
    "pairs of three levels": ((np.full(150, 3), 2, 400, 2, 0), {"levels"}),
    "triples of three levels": ((np.full(40, 3), 3, 400, 2, 0), {"levels"}),
    "fours of three levels": ((np.full(15, 3), 4, 300, 2, 0), {"levels"}),
    "mixed levels, three classes": ((np.repeat([2, 3, 4], 12), 3, 400, 3, 0), {"levels"}),
    "mixed levels": ((np.repeat([2, 3, 5], 12), 3, 400, 2, 0), {"levels", "pairs"}),
    "many classes": ((np.full(40, 2), 2, 600, 5, 0), {"levels"}),
    "many levels": ((np.repeat([2, 30], 10), 2, 400, 2, 0), {"singles", "direct"}),
    "six": ((np.full(9, 2), 6, 200, 2, 0), {"direct"}),
    "pairs of large classes": ((np.repeat([2, 3], 8), 2, 80_000, 2, 0), {"wide"}),
    "triples of large classes": ((np.repeat([2, 3], 5), 3, 110_000, 3, 0), {"wide"}),
    "pairs in two strata": ((np.full(120, 2), 2, 300, 2, 2), {"pairs"}),
    "pairs in three strata": ((np.full(80, 2), 2, 300, 2, 3), {"levels"}),
    "triples in three strata": ((np.full(24, 3), 3, 300, 2, 3), {"levels"}),
    "fours in two strata": ((np.full(18, 2), 4, 300, 2, 2), {"triples", "pairs"}),
    "fives in two strata": ((np.full(9, 2), 5, 300, 2, 2), {"direct"}),
}


def screen_of(name, *, even):
    (levels, dimensions, n_samples, n_classes, n_strata), _ = SHAPES[name]
    return random_screen(
        np.random.default_rng(1),
        dimensions=dimensions,
        levels=levels,
        n_samples=n_samples,
        n_classes=n_classes,
        n_strata=n_strata,
        even=even,
    )


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("even", [True, False])
def test_every_searcher_instruction_set_and_number_of_threads_lists_the_same(name, even):
    (levels, dimensions, *_), searchers = SHAPES[name]
    screen = screen_of(name, even=even)
    by_value = sorted(screen.run(thresholds(-1.0, 0.0), CpuEngine(direct_only=True)), key=lambda row: -row[2])
    n_tuples = comb(len(levels), dimensions)
    assert len(by_value) == n_tuples
    for share, step in [(0.001, 0.0), (0.05, 0.5), (0.5, 0.05)]:
        min_gain = thresholds(by_value[int(share * n_tuples)][2], step)  # one of the gains, which is listed
        wanted = screen.run(min_gain, CpuEngine(n_threads=2, direct_only=True))
        assert 0 < len(wanted) < n_tuples
        for simd in simd_levels():
            searched: dict = {}
            assert screen.run(min_gain, CpuEngine(n_threads=3, simd_level=simd), searched) == wanted
            assert searched.keys() == searchers
            assert sum(counts["tuples"] for counts in searched.values()) == n_tuples
        assert screen.run(min_gain, block_size=5, middle_size=5, n_lanes=7) == wanted


@pytest.mark.parametrize("simd", simd_levels())
def test_singles_and_pairs_share_the_triples_of_many_variables(simd):
    screen = random_screen(np.random.default_rng(2), dimensions=3, levels=np.full(270, 2), n_samples=150)
    searched: dict = {}
    min_gain = thresholds(12.0, 0.0)
    found = screen.run(min_gain, CpuEngine(n_threads=2, simd_level=simd), searched)
    assert searched.keys() == {"pairs", "singles"}
    assert found == screen.run(min_gain, CpuEngine(n_threads=2, direct_only=True))
    assert len(found) > 100


def test_empty_cells_lower_what_is_asked_for():
    screen = random_screen(np.random.default_rng(3), dimensions=2, levels=np.full(20, 3), n_samples=300)
    screen.codes[5][(screen.codes[5] == 2) & (screen.codes[6] == 2)] = 1  # one empty cell: 3 degrees of freedom
    assert [row[0] for row in screen.run(np.array([np.inf, 0.01, 0.01, 0.01, 1e6]))] == [(5, 6)]
    assert screen.run(np.array([np.inf, 0.01, 0.01, 1e6])) == []
    screen.decision[screen.codes[7] == 1] = 0  # no sample of class 1 has this level: 2, and all pairs with it
    found = {row[0] for row in screen.run(np.array([np.inf, 0.01, 0.01, 1e6]))}
    assert (7, 8) in found
    assert all(7 in members for members in found)


@settings(max_examples=60, deadline=None)
@given(screens())
def test_tables_of_tuples_are_counted(screen):
    planes, _ = screen.prepared()
    first = int(screen.strata is not None)
    tuples = np.array(list(combinations(range(first, first + len(screen.codes)), screen.dimensions)))
    if first:
        tuples = np.insert(tuples, 0, 0, axis=1)
    of_place = {}
    for places, tables in count_tables(planes, tuples):
        of_place.update(zip(places.tolist(), tables, strict=True))
        df = fewest_degrees_of_freedom(tables.reshape(-1, *tables.shape[1 + first :]))
        plain = [
            reference.fewest_interaction_df(
                {cell: table[cell].tolist() for cell in np.ndindex(*table.shape[:-1])}, table.shape[:-1]
            )
            for table in tables.reshape(-1, *tables.shape[1 + first :])
        ]
        assert df.tolist() == plain
    assert of_place.keys() == set(range(len(tuples)))
    for place, members in enumerate(tuples.tolist()):
        columns = [screen.strata if first and v == 0 else screen.codes[v - first] for v in members]
        counts = np.zeros(of_place[place].shape, dtype=np.int64)
        np.add.at(counts, (*columns, screen.decision), 1)
        assert np.array_equal(of_place[place], counts)


def test_a_stratum_is_asked_for_nothing():
    rng = np.random.default_rng(4)
    a, b, batch = (rng.integers(0, 2, 400) for _ in range(3))
    noise = rng.integers(0, 2, (6, 400))
    screen = Screen(np.array([a, b, *noise]), np.full(8, 2), a ^ b, 2, strata=batch)
    assert [row[0] for row in screen.run(thresholds(50.0, 0.0))] == [(0, 1)]


def test_a_strong_variable_alone_lists_nothing():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2, (60, 500))
    screen = Screen(codes, np.full(60, 2), codes[0], 2)
    assert screen.run(thresholds(10.0, 0.0)) == []


def test_rows_are_bounded_and_the_rest_follows():
    screen = random_screen(np.random.default_rng(6), dimensions=3, levels=np.full(30, 2), n_samples=100)
    planes, tiles = screen.prepared(block_size=5, middle_size=5, n_lanes=7)
    how = {"pseudocount": screen.pseudocount, "min_gain": thresholds(0.1, 0.0)}
    everything = CpuEngine().screen_tiles(planes, tiles, **how)
    few = CpuEngine().screen_tiles(planes, tiles, **how, max_rows=10)
    assert 0 < len(few.rows_of_tile) < len(tiles)
    assert np.array_equal(few.tuples, everything.tuples[: len(few)])
    for seconds in (1e3, 1e-4):
        sink = sinks.Screen(how["min_gain"], max_rows=50)
        stream = CpuEngine().stream(planes, tiles, sink, pseudocount=screen.pseudocount, seconds=seconds)
        chunks, rows = zip(*((chunk, sink.rows) for chunk in stream), strict=True)
        assert len(chunks) > 2
        assert [chunk.begin for chunk in chunks[1:]] == [chunk.end for chunk in chunks[:-1]]
        assert np.array_equal(TupleRows.joined(rows).tuples, everything.tuples)


def test_interrupts_stop_it():
    screen = random_screen(np.random.default_rng(7), dimensions=4, levels=np.full(200, 2), n_samples=400)
    planes, tiles = screen.prepared()

    def stop(done):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        CpuEngine(n_threads=2).screen_tiles(
            planes, tiles, pseudocount=1e-6, min_gain=thresholds(20.0, 0.0), on_progress=stop
        )
    assert threading.active_count() == before


@pytest.mark.parametrize("min_gain", [np.array([1.0]), np.array([0.0, 3.0, 2.0]), np.array([np.inf, np.nan, 1.0])])
def test_thresholds_that_do_not_ascend_are_refused(min_gain):
    screen = random_screen(np.random.default_rng(8), dimensions=2, levels=np.full(4, 2), n_samples=50)
    with pytest.raises(ValueError, match="min_gain needs an ascending entry"):
        screen.run(min_gain)
