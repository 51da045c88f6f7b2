"""Gains about number outcomes: every searcher and instruction set against plain Python, and bit for bit alike."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interplay
import reference
from cuda_problems import (
    assert_same_bits,
    planes_of,
)
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.targets import search_scores
from interplay.search.engines.cpu import CpuEngine, simd_levels
from interplay.search.engines.routing import tile_searchers
from interplay.search.engines.tables import count_tables
from interplay.search.tiles import make_tuple_tiles

ENGINES = [CpuEngine(direct_only=True), *(CpuEngine(n_threads=2, simd_level=level) for level in simd_levels())]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = draw(st.integers(1, 4))
    n_vars, n_contrast = draw(st.integers(k, 7 if k < 4 else 6)), draw(st.integers(0, 2))
    n_samples = draw(st.integers(6, 70))
    n_levels = rng.integers(2, draw(st.integers(3, 6)), n_vars + n_contrast)
    codes = np.stack([rng.integers(0, levels, n_samples) for levels in n_levels]).astype(np.uint8)
    y = rng.normal(size=n_samples) + draw(st.sampled_from([0.0, 3.0])) * codes[0]
    y = y.round(draw(st.integers(0, 4)))
    if y.min() == y.max():
        y[0] += 1
    scale = draw(st.sampled_from(["ranks", "values"]))
    outcome = number_outcome(np.sinh(3 * y) if scale == "values" else y, scale=scale)
    return {
        "k": k, "n_vars": n_vars, "n_levels": n_levels.astype(np.int64), "codes": codes, "outcome": outcome,
        "pseudocount": draw(st.sampled_from([0.25, 1.0, 1e-6])),
    }  # fmt: skip


def planes_of_problem(problem, outcome=None, samples=None):
    codes = problem["codes"] if samples is None else problem["codes"][:, samples]
    outcome = problem["outcome"] if outcome is None else outcome
    return planes_of(codes, problem["n_levels"], outcome, n_vars=problem["n_vars"])


def searched(problem, engine, planes=None):
    tiles = make_tuple_tiles(problem["n_levels"], n_vars=problem["n_vars"], dimensions=problem["k"])
    planes = planes_of_problem(problem) if planes is None else planes
    return engine.max_gains(planes, tiles, pseudocount=problem["pseudocount"])


@settings(max_examples=120, deadline=None)
@given(problem=problems())
def test_equal_plain_python(problem):
    found = [searched(problem, engine) for engine in ENGINES]
    for other in found[1:]:
        assert_same_bits(found[0], other)
    k, n_vars, n_levels = problem["k"], problem["n_vars"], problem["n_levels"]
    columns = problem["codes"].tolist()
    scores = search_scores(problem["outcome"]).scores.tolist()
    gain = partial(reference.number_gain, scores=scores, pseudocount=problem["pseudocount"])
    best: dict[tuple[int, int], float] = {}
    tuples = list(combinations(range(n_vars), k))
    tuples += [(*m, c) for m in combinations(range(n_vars), k - 1) for c in range(n_vars, len(columns))]
    for members in tuples:
        cells = int(np.prod(n_levels[list(members)]))
        for place, row in enumerate(members):
            if members[-1] >= n_vars and place + 1 < k:
                continue  # a contrast variable neither helps nor hurts a real one
            key = row, cells // int(n_levels[row])
            best[key] = max(best.get(key, -np.inf), gain([columns[m] for m in members], place))
    n_found = 0
    for row, group in zip(*np.nonzero(found[0].discretization_by_group >= 0), strict=True):
        df = int(found[0].df_by_group[row, group])
        expected = best[row, df // (int(n_levels[row]) - 1)]
        assert found[0].gain_by_group[row, group] == pytest.approx(expected, abs=1e-8, rel=1e-9)
        n_found += 1
    assert n_found == len(best)


@settings(max_examples=40, deadline=None)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_the_order_of_samples_does_not_matter(problem, seed):
    outcome = problem["outcome"]
    samples = np.random.default_rng(seed).permutation(len(outcome.values))
    again = number_outcome(outcome.values[samples], scale=outcome.scale)
    shuffled = planes_of_problem(problem, again, samples)
    if outcome.scale == "ranks":  # means of values are rounded
        assert_same_bits(searched(problem, ENGINES[-1]), searched(problem, ENGINES[-1], shuffled))


@pytest.mark.parametrize(
    ("k", "levels", "scale"),
    [(2, 2, "ranks"), (2, 3, "values"), (3, 2, "values"), (3, 5, "ranks"), (4, 2, "ranks"), (5, 2, "values")],
)
def test_lanes_take_all_tuples_of_a_search(k, levels, scale):
    rng = np.random.default_rng(k)
    n_vars = {2: 150, 3: 40, 4: 16, 5: 12}[k]
    n_levels = np.full(n_vars, levels)
    codes = rng.integers(0, levels, (n_vars, 700))
    y = rng.normal(size=700) + (codes[0] == codes[1])
    outcome = number_outcome(y**3, scale=scale)
    planes = planes_of(codes, n_levels, outcome)
    tiles = make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=k)
    assert set(tile_searchers(planes, tiles, 0.25)) == {"sums"}
    found = [engine.max_gains(planes, tiles, pseudocount=0.25) for engine in ENGINES]
    for other in found[1:]:
        assert_same_bits(found[0], other)
    assert set(found[0].tuples[0].tolist()) >= {0, 1}


def test_tables_are_counts_and_sums():
    rng = np.random.default_rng(3)
    n_levels = np.array([2, 3, 2])
    codes = np.stack([rng.integers(0, levels, 150) for levels in n_levels]).astype(np.uint8)
    outcome = number_outcome(rng.normal(size=150))
    scores = search_scores(outcome).scores
    planes = planes_of(codes, n_levels, outcome)
    ((places, tables),) = count_tables(planes, np.array([[0, 1, 2]]))
    assert places.tolist() == [0]
    expected = np.zeros((2, 3, 2, 2), dtype=np.int64)
    np.add.at(expected, tuple(codes), np.stack([np.ones(150, dtype=np.int64), scores], axis=1))
    assert np.array_equal(tables[0], expected)


def test_gains_of_calls_follow_ranks():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(200, 12)), rng.normal(size=200)
    here = interplay.max_information_gain(X, y, dimensions=2)
    assert np.array_equal(here.gain, interplay.max_information_gain(X, np.exp(y), dimensions=2).gain)
    cut = interplay.max_information_gain(X, y, dimensions=2, decision_divisions=1)
    assert not np.array_equal(here.gain, cut.gain)
    listed = interplay.interesting_tuples(X, y, dimensions=2, min_gain=float(here.gain.max()) - 1e-9)
    assert len(listed.value) >= 1
    assert listed.value.max() == here.gain.max()
    with pytest.raises(ValueError, match="stat"):
        interplay.interesting_tuples(X, y, stat="H")
