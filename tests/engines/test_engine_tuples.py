"""Lists of tuples from the engine, against plain loops; the same rows however they are searched."""

import threading
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_engines_agree import problem_of, problems, tiles_of

import reference
from cuda_problems import (
    classes_of,
    planes_of,
)
from interplay.search.engines.cpu import CpuEngine, simd_levels
from interplay.search.engines.sinks import tuple_formula

TOLERANCE = 1e-9


def prepared(problem, **block_sizes):
    """The first discretisation of the real variables; one class where there is no decision."""
    n_vars, levels = problem["n_vars"], problem["levels"][: problem["n_vars"]]
    decision = problem["decision"]
    classes = classes_of(np.zeros(problem["codes"].shape[2]), 1)
    if decision is not None:
        classes = classes_of(decision, problem["n_classes"])
    return planes_of(problem["codes"][0, :n_vars], levels, classes), tiles_of(problem, levels, **block_sizes)


def run(problem, engine, *, stat, min_value, **block_sizes):
    planes, tiles = prepared(problem, **block_sizes)
    return engine.interesting_tuples(
        planes,
        tiles,
        pseudocount=problem["pseudocount"],
        min_value=np.full(problem["n_vars"], min_value),
        formula=tuple_formula(stat, problem["dimensions"], with_decision=problem["decision"] is not None),
    )


def expected(problem, *, stat):
    n_vars = problem["n_vars"]
    return reference.interesting_tuples(
        problem["codes"][:1, :n_vars].tolist(),
        problem["levels"][:n_vars].tolist(),
        None if problem["decision"] is None else problem["decision"].tolist(),
        problem["n_classes"],
        problem["dimensions"],
        problem["pseudocount"],
        stat=stat,
        variables=problem["variables"],
        require=problem["require"],
    )


def as_rows(found):
    rows = zip(found.tuples.tolist(), found.variable.tolist(), found.value.tolist(), strict=True)
    return sorted((tuple(members), variable, value) for members, variable, value in rows)


def assert_rows_equal(found, wanted):
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    np.testing.assert_allclose([row[2] for row in found], [row[2] for row in wanted], rtol=TOLERANCE, atol=TOLERANCE)


@settings(max_examples=80, deadline=None)
@given(problems(), st.floats(0.01, 0.99))
def test_gains_equal_plain_loops(problem, share):
    wanted = expected(problem, stat="MI")
    assert_rows_equal(as_rows(run(problem, CpuEngine(), stat="MI", min_value=-np.inf)), wanted)
    # A threshold between two gains, so that rounding does not decide which rows there are.
    gains = np.unique(np.round([row[2] for row in wanted], 6))
    if len(gains) > 1:
        at = min(int(share * len(gains)), len(gains) - 2)
        threshold = (gains[at] + gains[at + 1]) / 2
        found = as_rows(run(problem, CpuEngine(), stat="MI", min_value=threshold))
        assert_rows_equal(found, [row for row in wanted if row[2] > threshold])


@settings(max_examples=60, deadline=None)
@given(problems(), st.booleans(), st.sampled_from(["MI", "H", "VI"]))
def test_entropies_equal_plain_loops(problem, with_decision, stat):
    if not with_decision:
        problem = {**problem, "decision": None}
    if stat == "VI" or (stat == "MI" and not with_decision):
        if problem["n_vars"] < 2:
            return
        problem = {**problem, "dimensions": 2, "require": "any"}
    found = as_rows(run(problem, CpuEngine(), stat=stat, min_value=-np.inf))
    assert_rows_equal(found, expected(problem, stat=stat))


@settings(max_examples=60, deadline=None)
@given(
    problems(),
    st.sampled_from(simd_levels()),
    st.sampled_from([2, 7]),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12)),
    st.sampled_from([-np.inf, 0.3, 2.0]),
)
def test_same_rows_however_they_are_searched(problem, simd_level, n_threads, sizes, min_value):
    plain = run(problem, CpuEngine(simd_level="serial", direct_only=True), stat="MI", min_value=min_value)
    engine = CpuEngine(n_threads=n_threads, simd_level=simd_level)
    blocks = dict(zip(("block_size", "middle_size", "n_lanes"), sizes, strict=True))
    other_tiles = run(problem, engine, stat="MI", min_value=min_value, **blocks)
    assert as_rows(other_tiles) == as_rows(plain)
    same_tiles = run(problem, engine, stat="MI", min_value=min_value)
    np.testing.assert_array_equal(same_tiles.tuples, plain.tuples)
    np.testing.assert_array_equal(same_tiles.variable, plain.variable)
    np.testing.assert_array_equal(same_tiles.value, plain.value)


def wide_problem(n_vars, dimensions):
    rng = np.random.default_rng(dimensions)
    codes, decision = rng.integers(0, 2, (n_vars, 300)), rng.random(300) < 0.4
    return problem_of(codes, decision, dimensions=dimensions)


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_thresholds_of_each_variable_through_the_lane_kernels(dimensions):
    problem = wide_problem({2: 300, 3: 60, 4: 24}[dimensions], dimensions)
    planes, tiles = prepared(problem)
    thresholds = np.random.default_rng(0).uniform(0.5, 8.0, problem["n_vars"])
    thresholds[3] = np.inf
    everything = run(problem, CpuEngine(direct_only=True), stat="MI", min_value=-np.inf)
    wanted = [row for row in as_rows(everything) if row[2] > thresholds[row[1]]]
    for engine in (CpuEngine(n_threads=2), CpuEngine(direct_only=True)):
        found = engine.interesting_tuples(planes, tiles, pseudocount=0.25, min_value=thresholds)
        assert as_rows(found) == wanted
    assert 0 < len(wanted) < len(everything)


def test_each_tile_is_sorted_and_tiles_come_in_order():
    rng = np.random.default_rng(1)
    problem = wide_problem(20, 3)
    problem["levels"] = rng.integers(2, 4, 20)  # the order of the search is then not that of the variables
    planes, tiles = prepared(problem, block_size=4, middle_size=5, n_lanes=7)
    rows = CpuEngine(n_threads=2).interesting_tuples(planes, tiles, pseudocount=0.25, min_value=np.full(20, -np.inf))
    np.testing.assert_array_equal(rows.rows_of_tile, 3 * tiles.n_tuples)
    assert len(rows) == 3 * comb(20, 3)
    begin = 0
    for n in rows.rows_of_tile.tolist():
        keys = np.column_stack([rows.tuples, rows.variable])[begin : begin + n]
        np.testing.assert_array_equal(np.lexsort(keys.T[::-1]), np.arange(n))
        begin += n


def test_tiles_are_taken_until_there_are_enough_rows():
    problem = wide_problem(40, 3)
    planes, tiles = prepared(problem, block_size=8, middle_size=8, n_lanes=16)
    everything = CpuEngine().interesting_tuples(planes, tiles, pseudocount=0.25, min_value=np.full(40, -np.inf))
    parts, done = [], 0
    while done < len(tiles):
        part = CpuEngine(n_threads=2).interesting_tuples(
            planes, tiles[done:], pseudocount=0.25, min_value=np.full(40, -np.inf), max_rows=1000
        )
        largest = 3 * tiles.n_tuples.max()
        assert len(part) < 1000 + 2 * largest
        assert len(part.rows_of_tile) >= 1
        assert part.rows_of_tile.sum() == len(part)
        parts.append(part)
        done += len(part.rows_of_tile)
    assert len(parts) > 3
    np.testing.assert_array_equal(np.concatenate([part.tuples for part in parts]), everything.tuples)
    np.testing.assert_array_equal(np.concatenate([part.value for part in parts]), everything.value)


def test_no_tiles_no_rows():
    planes, tiles = prepared(wide_problem(10, 2))
    none = replace(tiles, tiles=tiles.tiles[:0], n_tuples=tiles.n_tuples[:0])
    rows = CpuEngine().interesting_tuples(planes, none, pseudocount=0.25, min_value=np.ones(10))
    assert rows.tuples.shape == (0, 2)
    assert len(rows) == len(rows.rows_of_tile) == 0


def test_ctrl_c_stops_at_once():
    import _thread

    planes, tiles = prepared(wide_problem(600, 3))
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        CpuEngine(direct_only=True).interesting_tuples(planes, tiles, pseudocount=0.25, min_value=np.full(600, 1e9))
    timer.join()


def entropy(columns, levels, pseudocount_of_cell):
    counts = np.bincount(np.ravel_multi_index(tuple(columns), levels), minlength=int(np.prod(levels)))
    shares = (counts + pseudocount_of_cell) / (counts + pseudocount_of_cell).sum()
    return float(-(shares * np.log2(shares)).sum())


@pytest.mark.parametrize("stat", ["TC", "II"])
@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_dependence_of_variables_without_a_decision(stat, dimensions):
    """Both from their formulas, on entropies of sub-tables that gather the pseudocounts of the whole table."""
    rng = np.random.default_rng(4)
    problem = {**wide_problem(6, dimensions), "decision": None, "levels": np.array([2, 3, 2, 4, 2, 3])}
    problem["codes"] = np.stack([rng.integers(0, c, 300) for c in problem["levels"]])[np.newaxis].astype(np.uint8)
    problem["codes"][0, 2] = problem["codes"][0, 0] ^ problem["codes"][0, 4]
    found = run(problem, CpuEngine(n_threads=2), stat=stat, min_value=-np.inf)
    assert len(found) == dimensions * comb(6, dimensions)
    for members, value in zip(found.tuples.tolist(), found.value.tolist(), strict=True):
        wanted = 0.0
        for size in range(1, dimensions + 1):
            for subset in combinations(members, size):
                levels = [int(problem["levels"][v]) for v in subset]
                others = np.prod([problem["levels"][v] for v in members if v not in subset])
                h = entropy(problem["codes"][0, list(subset)], levels, 0.25 * others)
                if stat == "II":
                    wanted -= (-1) ** (dimensions - size) * h
                else:
                    wanted += h * ((size == 1) - (size == dimensions))
        assert value == pytest.approx(wanted, abs=1e-9)


def test_exclusive_or_is_one_bit_of_interaction():
    """The sign: positive where the whole tells more than its parts (synergy), negative for copies (redundancy)."""
    a, b = np.tile([0, 1], 2000), np.tile([0, 0, 1, 1], 1000)
    for third, expected_bits in ((a ^ b, 1.0), (a, 0.0)):
        problem = problem_of(np.stack([a, b, third]), a, dimensions=3, pseudocount=1e-6) | {"decision": None}
        found = run(problem, CpuEngine(), stat="II", min_value=-np.inf)
        assert found.value[0] == pytest.approx(expected_bits, abs=1e-4)
    problem["codes"] = np.stack([a, a, a])[np.newaxis].astype(np.uint8)
    assert run(problem, CpuEngine(), stat="II", min_value=-np.inf).value[0] == pytest.approx(-1, abs=1e-4)


@pytest.mark.parametrize(
    ("stat", "dimensions", "with_decision", "message"),
    [
        ("VI", 3, True, 'stat="VI" needs dimensions=2, not 3'),
        ("MI", 3, False, 'stat="MI" needs dimensions=2, not 3: for more, take stat="TC" or "II"'),
        ("II", 11, False, "dimensions of at most 10"),
    ],
)
def test_statistics_that_do_not_exist(stat, dimensions, with_decision, message):
    with pytest.raises(ValueError, match=message):
        tuple_formula(stat, dimensions, with_decision=with_decision)


def test_the_cpu_engine_lists_tuples():
    assert "list" in CpuEngine().kinds
