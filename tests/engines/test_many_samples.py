"""More samples than 16 bits count: the same bits from every engine and instruction set, and the reference's gains."""

import numpy as np
import pytest

import reference
from cuda_problems import (
    assert_gains_of_the_cpu,
    assert_same_bits,
    assert_same_rows,
    classes_of,
    planes_of,
    problem,
    tiles_for,
)
from gpu_mark import needs_gpu
from interplay.search.engines.cpu import CpuEngine, simd_levels
from interplay.search.engines.cuda import CudaEngine

PSEUDOCOUNT = 0.25


def uneven_problem(n_samples, *, levels, n_vars, n_classes, rare, n_contrast=0):
    """Columns of which most have nine samples in ten at one level: cells of all members alike are large."""
    rng = np.random.default_rng([n_samples, *levels, n_classes])
    n_levels = np.resize(levels, n_vars + n_contrast).astype(np.int64)
    common = np.arange(n_vars + n_contrast) % n_levels
    codes = np.stack(
        [
            np.where(rng.random(n_samples) < 0.9, level, rng.integers(0, c, n_samples))
            for level, c in zip(common, n_levels, strict=True)
        ]
    ).astype(np.uint8)
    codes[1] = rng.integers(0, n_levels[1], n_samples)
    y = rng.integers(0, n_classes, n_samples)
    if rare:  # one sample in a hundred is of the last class
        y = np.where(rng.random(n_samples) < 0.01, n_classes - 1, rng.integers(0, n_classes - 1, n_samples))
    y = np.where(rng.random(n_samples) < 0.01, (codes[0] ^ codes[1]) % n_classes, y)
    return planes_of(codes, n_levels, classes_of(y, n_classes), n_vars=n_vars)


#: Samples, levels, classes, whether the last is rare, dimensions, variables.
PROBLEMS = [
    (65_535, (2,), 2, False, 3, 12),
    (65_536, (2,), 2, True, 4, 9),
    (65_536, (3,), 2, False, 3, 9),
    (131_072, (3,), 2, True, 4, 6),
    (131_072, (2, 3, 4, 5), 3, False, 2, 12),
    (131_072, (5,), 4, True, 3, 5),
    (200_000, (2,), 2, False, 5, 7),
    pytest.param((1_000_003, (2,), 2, False, 3, 8), marks=pytest.mark.slow),
    pytest.param((1_000_003, (3,), 4, True, 3, 5), marks=pytest.mark.slow),
]


@pytest.fixture(params=PROBLEMS, ids=str)
def planes_and_tiles(request):
    n_samples, levels, n_classes, rare, dimensions, n_vars = request.param
    planes = uneven_problem(
        n_samples, levels=levels, n_vars=n_vars, n_classes=n_classes, rare=rare, n_contrast=2 if dimensions < 5 else 0
    )
    return planes, tiles_for(planes.n_levels, planes.n_vars, dimensions)


def test_wide_counts_give_the_bits_of_direct_counts(planes_and_tiles):
    planes, tiles = planes_and_tiles
    assert planes.class_sizes.max() > 32_767
    expected = CpuEngine(direct_only=True).max_gains(planes, tiles, pseudocount=PSEUDOCOUNT)
    for simd_level in simd_levels():
        searched: dict = {}
        found = CpuEngine(simd_level=simd_level).max_gains(planes, tiles, pseudocount=PSEUDOCOUNT, searched=searched)
        assert set(searched) == {"wide"}
        assert_same_bits(found, expected)


@pytest.mark.parametrize("levels", [(2,), (3,)])
def test_the_same_tuples_are_listed(levels):
    planes, n_levels = problem(np.random.default_rng(1), n_samples=70_000, n_vars=14, levels=levels)
    tiles = tiles_for(n_levels, planes.n_vars, 3)
    found = CpuEngine(direct_only=True).max_gains(planes, tiles, pseudocount=PSEUDOCOUNT)
    min_value = np.full(planes.n_vars, float(np.median(found.gain_by_group.max(axis=1))) / 2)
    arguments = {"pseudocount": PSEUDOCOUNT, "min_value": min_value}
    expected = CpuEngine(direct_only=True).interesting_tuples(planes, tiles, **arguments)
    assert len(expected) > 10
    for simd_level in simd_levels():
        rows = CpuEngine(simd_level=simd_level).interesting_tuples(planes, tiles, **arguments)
        assert_same_rows(rows, expected)


def test_a_cell_of_more_samples_than_16_bits_count():
    n = 150_000
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [75_000, 75_000])
    first = np.ones(n, dtype=np.uint8)
    first[:100] = 0
    first[-5000:] = 0
    second = (rng.random(n) < 0.97).astype(np.uint8)
    columns = [first, second]
    planes = planes_of(np.stack(columns), np.array([2, 2]), classes_of(y))
    tiles = tiles_for(planes.n_levels, 2, 2)
    table = reference.tuple_counts([c.tolist() for c in columns], y.tolist(), 2, [2, 2])
    assert max(max(counts) for counts in table.values()) > 65_535
    gains = reference.information_gain([c.tolist() for c in columns], [2, 2], y.tolist(), 2, PSEUDOCOUNT)
    for simd_level in simd_levels():
        found = CpuEngine(simd_level=simd_level).max_gains(planes, tiles, pseudocount=PSEUDOCOUNT)
        assert found.gain_by_group[:, 0] == pytest.approx(gains, abs=1e-9)


class TestOnAGpu:
    pytestmark = needs_gpu

    def test_same_bits(self, planes_and_tiles):
        assert_gains_of_the_cpu(CudaEngine(), *planes_and_tiles)
