"""Every engine, instruction set, thread count and tile size against plain loops, over drawn shapes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from cuda_problems import (
    assert_same_bits,
    classes_of,
    planes_of,
    problem,
    tiles_for,
)
from gpu_mark import ENGINES, needs_gpu
from interplay.search.engines.choice import check_engine
from interplay.search.engines.cpu import CpuEngine, simd_levels
from interplay.search.engines.cuda import CudaEngine

TOLERANCE = 1e-9


@st.composite
def problems(draw):
    """A search: codes, decision, filter. Sample numbers gather around the widths of words and registers."""
    dimensions = draw(st.integers(1, 6))
    n_classes = draw(st.integers(2, 5))
    n_samples = draw(st.sampled_from([2 * n_classes, 11, 63, 64, 65, 127, 128, 200, 511, 512, 513, 1024]))
    n_samples = max(n_samples, 2 * n_classes)
    n_vars = draw(st.integers(dimensions, {1: 8, 2: 8, 3: 7, 4: 6, 5: 6, 6: 7}[dimensions]))
    n_contrast = draw(st.integers(0, 3)) if dimensions < 5 else draw(st.integers(0, 1))
    # More than 17 levels are too many for the lane kernels.
    most_levels = draw(st.sampled_from({1: [2, 5, 9], 2: [2, 3, 5, 19], 3: [2, 3, 5], 4: [2, 3]}.get(dimensions, [2])))
    mixed = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = n_vars + n_contrast
    levels = rng.integers(2, most_levels + 1, n_rows) if mixed else np.full(n_rows, most_levels)
    n_discretizations = draw(st.integers(1, 2))
    codes = np.stack(
        [np.stack([rng.integers(0, c, n_samples) for c in levels]) for _ in range(n_discretizations)]
    ).astype(np.uint8)
    if n_vars > 2 and draw(st.booleans()):  # constant columns, and copies of others: what they are in ties
        n_copies, n_constant = draw(st.integers(0, n_vars)), draw(st.integers(0, n_vars))
        for copy, copied in rng.integers(0, n_vars, (n_copies, 2)):
            levels[copy], codes[:, copy] = levels[copied], codes[:, copied]
        codes[:, rng.choice(n_vars, n_constant, replace=False)] = 0
    decision = np.concatenate([np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, n_samples)])[:n_samples]
    if draw(st.booleans()):  # something to find
        decision[2 * n_classes :] = codes[0, -1 - n_contrast, 2 * n_classes :] % n_classes
    chosen = None
    if draw(st.booleans()):
        chosen = sorted(rng.choice(n_vars, size=rng.integers(1, n_vars + 1), replace=False).tolist())
    require = draw(st.sampled_from(["any", "all"]))
    if chosen is not None and require == "all" and len(chosen) < dimensions:
        chosen = None
    return {
        "dimensions": dimensions,
        "n_classes": n_classes,
        "n_vars": n_vars,
        "levels": levels.astype(np.int64),
        "codes": codes,
        "decision": decision.astype(np.int64),
        "pseudocount": draw(st.sampled_from([0.25, 0.1, 1.0])),
        "variables": chosen,
        "require": require,
    }


def tiles_of(problem, levels, **block_sizes):
    """Tiles of all tuples that a problem asks for; contrast variables are among them if they have levels."""
    asked_for = None
    if problem["variables"] is not None:
        asked_for = np.isin(np.arange(problem["n_vars"]), problem["variables"])
    how = {"asked_for": asked_for, "require": problem["require"], **block_sizes}
    return tiles_for(levels, problem["n_vars"], problem["dimensions"], **how)


def problem_of(codes, decision, **given):
    """A problem of these codes (variables, samples): pairs of two levels and two classes, but for what is given."""
    n_rows = len(codes)
    return {
        "dimensions": 2, "n_classes": 2, "n_vars": n_rows, "levels": np.full(n_rows, 2), "pseudocount": 0.25,
        "codes": codes[np.newaxis].astype(np.uint8), "decision": np.asarray(decision, dtype=np.int64),
        "variables": None, "require": "any",
    } | given  # fmt: skip


def run(problem, engine, **block_sizes):
    n_vars, levels = problem["n_vars"], problem["levels"]
    classes = classes_of(problem["decision"], problem["n_classes"])
    tiles = tiles_of(problem, levels, **block_sizes)
    found = None
    for d, codes in enumerate(problem["codes"]):
        planes = planes_of(codes, levels, classes, n_vars=n_vars)
        found = engine.max_gains(planes, tiles, pseudocount=problem["pseudocount"], discretization=d, known=found)
    assert found is not None
    return found


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_equals_plain_loops(problem, engine):
    n_vars = problem["n_vars"]
    searcher = check_engine(engine).engine
    found = run(problem, searcher, **vars(searcher.tile_shape(problem["dimensions"])))
    gains = list(
        reference.all_gains(
            problem["codes"][:, :n_vars].tolist(),
            problem["levels"][:n_vars].tolist(),
            problem["decision"].tolist(),
            problem["n_classes"],
            problem["dimensions"],
            problem["pseudocount"],
            problem["codes"][:, n_vars:].tolist(),
            problem["levels"][n_vars:].tolist(),
            problem["variables"],
            problem["require"],
        )
    )
    near = reference.near_maxima(gains, tolerance=TOLERANCE)
    n_found = 0
    for row in range(len(problem["levels"])):
        for group, df in enumerate(found.df_by_group[row]):
            gain = found.gain_by_group[row, group]
            if (row, df) not in near:
                assert gain == -np.inf
                assert found.discretization_by_group[row, group] == -1
                continue
            n_found += 1
            candidates = near[row, df]
            best = max(candidate.gain for candidate in candidates)
            assert gain == pytest.approx(best, rel=TOLERANCE, abs=TOLERANCE)
            where = (int(found.discretization_by_group[row, group]), tuple(found.tuples_by_group[row, group].tolist()))
            order = [(candidate.discretization, candidate.tuple) for candidate in candidates]
            assert where in order
            # Of those that are equal whatever way they are summed, it is the lowest.
            alike = counts_alike(problem, row, *where)
            assert all(counts_alike(problem, row, *lower) != alike for lower in order[: order.index(where)])
    assert n_found == len(near)


def counts_alike(problem, variable, discretization, members):
    return reference.counts_alike(
        [problem["codes"][discretization, v].tolist() for v in members],
        [int(problem["levels"][v]) for v in members],
        problem["decision"].tolist(),
        problem["n_classes"],
        members.index(variable),
    )


@settings(max_examples=60, deadline=None)
@given(
    problems(),
    st.sampled_from(simd_levels()),
    st.sampled_from([1, 2, 7]),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12)),
)
def test_same_bits_however_it_is_run(problem, simd_level, n_threads, sizes):
    plain = run(problem, CpuEngine(n_threads=1, simd_level="serial"))
    engine = CpuEngine(n_threads=n_threads, simd_level=simd_level)
    blocks = dict(zip(("block_size", "middle_size", "n_lanes"), sizes, strict=True))
    assert_same_bits(run(problem, engine, **blocks), plain)
    assert_same_bits(run(problem, CpuEngine(direct_only=True), **blocks), plain)


class TestOnAGpu:
    pytestmark = needs_gpu

    @settings(max_examples=60, deadline=None)
    @given(
        problems(),
        st.sampled_from(["tensor", "popc"]),
        st.sampled_from([(0,), (0, 0)]),
        st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12)),
    )
    def test_same_bits_however_it_is_run(self, problem, counting, devices, sizes):
        plain = run(problem, CpuEngine(n_threads=1, simd_level="serial"))
        blocks = dict(zip(("block_size", "middle_size", "n_lanes"), sizes, strict=True))
        assert_same_bits(run(problem, CudaEngine(counting=counting, devices=devices), **blocks), plain)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_same_bits_on_a_wider_table(dimensions):
    rng = np.random.default_rng(dimensions)
    n_vars, n_contrast, n_samples = (60, 20, 700) if dimensions < 4 else (24, 5, 700)
    codes = rng.integers(0, 2, (n_vars + n_contrast, n_samples))
    problem = problem_of(codes, rng.random(n_samples) < 0.3, dimensions=dimensions, n_vars=n_vars)
    plain = run(problem, CpuEngine(n_threads=1, simd_level="serial"))
    sizes = ((None, None, None), (5, 8, 16), (64, 64, 300), (7, 60, 60))
    for simd_level, (n_threads, blocks) in product(simd_levels(), zip((1, 2, 7, 2), sizes, strict=True)):
        block_size, middle_size, n_lanes = blocks
        engine = CpuEngine(n_threads=n_threads, simd_level=simd_level)
        found = run(problem, engine, block_size=block_size, middle_size=middle_size, n_lanes=n_lanes)
        assert_same_bits(found, plain)


@pytest.mark.parametrize(
    ("dimensions", "n_vars", "levels", "n_classes"),
    [
        (2, 300, [3], 2),
        (2, 90, [2, 3, 5, 17, 18], 3),
        (3, 140, [3], 2),
        (3, 50, [2, 3, 4, 5], 4),
        (3, 60, [2], 3),
        (4, 22, [3], 2),
        (4, 20, [2, 4], 3),
        (5, 12, [2, 3], 2),
        (5, 13, [2], 5),
    ],
)
def test_any_levels_and_classes_equal_the_direct_search(dimensions, n_vars, levels, n_classes):
    rng = np.random.default_rng(n_vars)
    n_contrast, n_samples = 7, 650
    drawn = rng.choice(levels, n_vars + n_contrast)
    codes = np.stack([rng.integers(0, c, n_samples) for c in drawn]).astype(np.uint8)
    codes[0] = 0  # constant
    drawn[1], codes[1] = drawn[2], codes[2]  # a tie
    decision = np.where(
        rng.random(n_samples) < 0.5, codes[-1 - n_contrast] % n_classes, rng.integers(0, n_classes, n_samples)
    )
    decision[:n_classes] = np.arange(n_classes)
    given = {"dimensions": dimensions, "n_classes": n_classes, "n_vars": n_vars, "levels": drawn}
    problem = problem_of(codes, decision, **given)
    for problem["variables"] in (None, [0, 3, n_vars - 1]):
        plain = run(problem, CpuEngine(direct_only=True))
        for simd_level in simd_levels():
            for n_threads, sizes in ((1, {}), (3, {"block_size": 5, "middle_size": 9, "n_lanes": 20})):
                assert_same_bits(run(problem, CpuEngine(n_threads=n_threads, simd_level=simd_level), **sizes), plain)


def test_tiles_too_large_for_tables_are_searched_directly():
    rng = np.random.default_rng(3)
    codes, decision = rng.integers(0, 2, (36, 90)), rng.integers(0, 2, 90)
    problem = problem_of(codes, decision, dimensions=5, variables=[3, 4])
    # 34³ entries, more than a table may have.
    assert_same_bits(run(problem, CpuEngine(n_threads=2), block_size=36, middle_size=36), run(problem, CpuEngine()))


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(0, 2**32 - 1))
def test_order_of_samples_variables_and_classes_changes_nothing(problem, seed):
    """Gains are sums of integers, so even the last bit stays."""
    rng = np.random.default_rng(seed)
    plain = run(problem, CpuEngine())
    n_vars, n_rows = problem["n_vars"], len(problem["levels"])

    samples = rng.permutation(len(problem["decision"]))
    moved = problem | {"codes": problem["codes"][:, :, samples], "decision": problem["decision"][samples]}
    assert_same_bits(run(moved, CpuEngine()), plain)

    relabelled = problem | {"decision": problem["n_classes"] - 1 - problem["decision"]}
    assert_same_bits(run(relabelled, CpuEngine()), plain)

    rows = np.concatenate([rng.permutation(n_vars), np.arange(n_vars, n_rows)])
    inverse = np.argsort(rows)
    chosen = problem["variables"]
    moved = problem | {
        "codes": problem["codes"][:, rows],
        "levels": problem["levels"][rows],
        "variables": None if chosen is None else inverse[chosen].tolist(),
    }
    assert np.array_equal(run(moved, CpuEngine()).gain_by_group, plain.gain_by_group[rows])


def test_duplicates_tie_and_the_lowest_tuple_wins():
    rng = np.random.default_rng(5)
    column = rng.integers(0, 2, 300).astype(np.uint8)
    other = rng.integers(0, 2, 300).astype(np.uint8)
    codes = np.stack([column, other, column, column, other])
    problem = problem_of(codes, column ^ other)
    for engine in (CpuEngine(), CpuEngine(n_threads=7)):
        for block_size in (None, 1, 2):
            found = run(problem, engine, block_size=block_size)
            assert found.tuples.tolist() == [[0, 1], [0, 1], [1, 2], [1, 3], [0, 4]]


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("dimensions", [2, 3, 4, 5])
def test_constant_columns_tie_and_the_lowest_tuple_wins(dimensions, n_classes):
    """What a tuple of them says is 0 but for rounding, whatever comes first: variables asked for do."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n_vars, n_samples = 8, int(rng.integers(4 * n_classes, 60))
        levels = np.full(n_vars, rng.integers(2, 4))
        codes = rng.integers(0, levels[0], (1, n_vars, n_samples)).astype(np.uint8)
        constant = rng.choice(n_vars, int(rng.integers(dimensions, n_vars + 1)), replace=False)
        codes[:, constant] = 0
        problem = problem_of(
            codes[0],
            rng.permutation(np.arange(n_samples) % n_classes),
            dimensions=dimensions,
            n_classes=n_classes,
            levels=levels,
            pseudocount=float(rng.choice([0.1, 0.25, 1.0])),
            variables=sorted(rng.choice(n_vars, int(rng.integers(1, n_vars)), replace=False).tolist()),
        )
        plain = run(problem, CpuEngine(simd_level="serial", direct_only=True))
        for n_threads, sizes in ((1, {}), (5, {"block_size": 2, "middle_size": 2, "n_lanes": 3})):
            assert_same_bits(run(problem, CpuEngine(n_threads=n_threads), **sizes), plain)


def test_many_samples_do_not_overflow():
    """All samples of a class in one cell: more than 16 bits hold, and more than the table of logarithms."""
    n = 3_000_000
    decision = np.arange(n) % 2
    codes = np.stack([decision, np.zeros(n, dtype=np.int64), np.arange(n) // (n // 2) % 2])
    found = run(problem_of(codes, decision), CpuEngine(n_threads=2))
    assert found.gain[0] == pytest.approx(n, rel=1e-4)
    assert abs(found.gain[2]) < 20


@pytest.mark.parametrize(("dimensions", "levels", "n_classes", "n_vars"), [(4, (2, 5), 4, 44), (5, (3,), 2, 24)])
def test_a_last_place_that_is_searched_in_parts(dimensions, levels, n_classes, n_vars):
    """Tables over a tile's blocks may be too large: the variables of the prefix's last place are then taken in parts.

    The first part may begin and end like the block before it, which is no reason to share tables with that.
    """
    rng = np.random.default_rng(dimensions)
    for _ in range(3):
        planes, n_levels = problem(rng, n_samples=235, n_vars=n_vars, levels=levels, n_classes=n_classes)
        tiles = tiles_for(n_levels, n_vars, dimensions)
        expected = CpuEngine(direct_only=True).max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(CpuEngine().max_gains(planes, tiles, pseudocount=0.25), expected)
