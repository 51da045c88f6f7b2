"""Batches of the CUDA engine, whose counts go through memory: they hold every tuple once, and give the CPU's bits."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from test_cuda_plan import H200, plan_of

from cuda_problems import (
    TILE_SHAPE,
    assert_gains_of_the_cpu,
    assert_rows_of_the_cpu,
    classes_of,
    planes_of,
    problem,
    tiles_for,
)
from gpu_mark import needs_gpu
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, device_search, survivor_search, work_plan
from interplay.search.engines.cuda.kernels import SearchVariant
from interplay.search.engines.cuda.layout import make_lane_layout, make_tile_records
from interplay.search.engines.cuda.product_plan import ProductVariant, buffer_shapes, choose_products, make_product_work
from interplay.search.engines.cuda.work_plan import ratio_tolerance
from interplay.search.tiles import make_tuple_tiles

# --- without a GPU ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_products", [1, 1 << 18, 1 << 28])
@pytest.mark.parametrize("dimensions", [2, 3, 4, 5])
def test_batches_hold_every_tuple_once(dimensions, max_products):
    rng = np.random.default_rng(dimensions)
    n_vars = {2: 60, 3: 40, 4: 24, 5: 14}[dimensions]
    levels = (2, 9) if dimensions == 2 else (2, 3)
    planes, n_levels = problem(rng, n_samples=100, n_vars=n_vars, n_contrast=5, levels=levels)
    shape = {"block_size": 7, "middle_size": 20, "n_lanes": 20, "even": False}
    tiles = make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **shape)
    layout = make_lane_layout(planes, tiles)
    records = make_tile_records(planes, tiles, layout)
    kinds = layout.n_levels[records.lane[:, -2:]]
    seen: Counter[tuple[int, ...]] = Counter()
    for row_levels, column_levels in np.unique(kinds, axis=0).tolist():
        which = np.flatnonzero((kinds == (row_levels, column_levels)).all(axis=1))
        variant = choose_products(
            dimensions=dimensions,
            row_levels=row_levels,
            column_levels=column_levels,
            class_sizes=np.array([50, 50]),
            prefix_levels=0,
            counting="tensor",
        )
        assert variant is not None
        work = make_product_work(
            records, layout, which, variant, n_tuples=tiles.n_tuples, n_steps=8, max_products=max_products
        )
        assert work.weight.sum() == pytest.approx(1)
        shapes = buffer_shapes(work, n_steps=1)
        if (work.n_prefixes > 1).any():
            assert shapes["products"][0] <= max_products
        for number, batch in enumerate(work.batches.tolist()):
            tile = which[batch[0]]
            n_prefix = dimensions - 2
            assert batch[1] == n_prefix
            ranges = [range(batch[2 + j], batch[2 + j] + batch[5 + j]) for j in range(n_prefix)]
            for first, size, place in ((batch[11], batch[12], -2), (batch[14], batch[15], -1)):
                lane = records.lane[tile, place]
                assert (first - layout.first_position[lane]) % 16 == 0
                assert size % 16 == 0
                assert first + size - layout.first_position[lane] <= layout.rows_per_level[lane]
                within = range(max(first, records.begin[tile, place]), min(first + size, records.end[tile, place]))
                ranges.append(within)
            levels = layout.n_levels[records.lane[tile, :-2]].tolist()
            n_masks = np.prod([1 + len(r) * (c - 1) for r, c in zip(ranges, levels, strict=False)])
            assert work.n_masks[number] == n_masks
            positions = sorted(set().union(*ranges))
            seen.update(
                t for t in combinations(positions, dimensions) if all(v in r for v, r in zip(t, ranges, strict=True))
            )
    assert len(seen) == tiles.n_tuples.sum()
    assert set(seen.values()) == {1}


def test_shared_memory_is_what_the_kernel_lays_out():
    """Three segments in flight: 64 + 64 planes, 8 masks, 4 steps of 32 bytes; in 2D 128 + 128 planes, 2 steps.

    Four of warp groups, of 8 steps where samples are many.
    """
    for dimensions, expected in [(3, 3 * 4 * (128 + 8) * 32), (2, 3 * 2 * (256 + 1) * 32)]:
        variant = choose_products(
            dimensions=dimensions,
            row_levels=3,
            column_levels=3,
            class_sizes=np.array([50, 50]),
            prefix_levels=0,
            counting="tensor",
        )
        assert variant is not None
        assert variant.count_shared_bytes == expected < 101_376  # of a block on the smallest devices from 8.0 on
        for class_sizes, n_steps in [([50, 50], 4), ([60_000, 70], 8), ([50_000, 10_000], 8), ([5000, 1025], 4)]:
            how = {"class_sizes": np.array(class_sizes), "prefix_levels": 0, "counting": "tensor", "warp_groups": True}
            variant = choose_products(dimensions=dimensions, row_levels=3, column_levels=3, **how)
            assert variant is not None
            assert variant.segment_steps == (n_steps if dimensions > 2 else 2)
            assert variant.count_shared_bytes == expected // 3 * (n_steps if dimensions > 2 else 4) < 232_448


def test_warp_groups_multiply_where_all_devices_have_them():
    planes, n_levels = problem(np.random.default_rng(0), n_samples=8000, n_vars=600, levels=(3,))
    tiles = make_tuple_tiles(n_levels, n_vars=600, dimensions=3, **TILE_SHAPE)
    older = H200 | {"major": 8, "minor": 0}
    for devices, expected in [
        ([H200], "products/warpgroup_products.cu"),
        ([older], "products/tuple_products.cu"),
        ([H200, older], "products/tuple_products.cu"),
        ([H200 | {"major": 12}], "products/tuple_products.cu"),
    ]:
        files = set()
        for _, variant in plan_of(planes, tiles, *devices).by_variant(np.arange(len(tiles))):
            assert isinstance(variant, ProductVariant)
            files |= {file for file, _, _ in variant.kernels()}
        assert files == {expected, "products/product_masks.cu", "products/product_bound.cu"}


def kernels_for(n_samples, n_vars, levels, dimensions, n_classes=2):
    """Which kernels take the tiles of a search, by the shapes of planes alone."""
    planes, _ = problem(np.random.default_rng(0), n_samples=64, n_vars=n_vars, levels=(levels,), n_classes=n_classes)
    sizes = np.full(n_classes, n_samples // n_classes)
    start = np.concatenate([[0], np.cumsum(-(-sizes // 512) * 8)])
    object.__setattr__(planes, "class_sizes", sizes)
    object.__setattr__(planes, "class_word_start", start)
    shape = TILE_SHAPE if dimensions > 2 else {"block_size": 128, "middle_size": 2048, "n_lanes": 8192, "even": False}
    tiles = make_tuple_tiles(planes.n_levels, n_vars=n_vars, dimensions=dimensions, **shape)
    plan = plan_of(planes, tiles, H200)
    return {type(variant) for _, variant in plan.by_variant(np.arange(len(tiles)))}


@pytest.mark.parametrize(
    ("n_samples", "n_vars", "levels", "dimensions", "n_classes", "expected"),
    [
        # Few samples: counts never leave the registers.
        (2000, 500, 2, 3, 2, SearchVariant),
        (2000, 500, 2, 4, 2, SearchVariant),
        (2000, 120, 2, 5, 2, SearchVariant),
        (2000, 300, 3, 4, 2, SearchVariant),
        (2000, 16_000, 5, 2, 2, SearchVariant),
        (2000, 1000, 5, 3, 2, SearchVariant),
        # Many samples, or levels that registers do not hold.
        (20_000, 1000, 2, 3, 2, ProductVariant),
        (500_000, 1000, 2, 3, 2, ProductVariant),
        (131_072, 256, 2, 4, 2, ProductVariant),
        (131_072, 256, 3, 4, 2, ProductVariant),
        (500_000, 500, 3, 3, 2, ProductVariant),
        (2000, 1000, 6, 3, 2, ProductVariant),
        (2000, 1000, 8, 3, 2, ProductVariant),
        (2000, 10_000, 8, 2, 2, ProductVariant),
        (2000, 5000, 20, 2, 3, ProductVariant),
        (100_000, 400, 4, 3, 3, ProductVariant),
        (1_000_000, 300, 5, 3, 4, ProductVariant),
        (500_000, 2000, 3, 2, 2, ProductVariant),
        # Done before a kernel is compiled.
        (2000, 50, 5, 3, 2, type(None)),
    ],
)
def test_no_likely_shape_is_searched_tuple_by_tuple(n_samples, n_vars, levels, dimensions, n_classes, expected):
    assert kernels_for(n_samples, n_vars, levels, dimensions, n_classes) == {expected}


def test_few_tiles_of_levels_that_are_many_are_not_searched_tuple_by_tuple():
    assert type(None) not in kernels_for(2000, 1000, 3, 3)


@pytest.mark.parametrize("n_samples", [2000, 500_000, 8_000_000])
def test_tolerance_covers_sums_of_ratios(n_samples):
    """What a cell tells, as product_bound.cu has it, with logarithms and reciprocals as far off as they may be."""
    rng = np.random.default_rng(0)
    f32 = np.float32
    worst = 0.0
    for _ in range(100):
        shares = rng.dirichlet(np.full(2 * 16, rng.choice([0.1, 1.0, 30.0])), 50)
        x = np.floor(shares * n_samples).reshape(50, 16, 2) + 0.25
        whole, s = x.sum(1, keepdims=True), x.sum(2, keepdims=True)
        exact = (x * np.log2(x * whole.sum(2, keepdims=True) / (s * whole))).sum((1, 2))
        inverse = (1 / s.astype(f32) * (1 + rng.choice([-1, 1], s.shape) * 2.0**-23)).astype(f32)
        factor = (whole.sum(2, keepdims=True).astype(f32) / whole.astype(f32)).astype(f32)
        ratio = (x.astype(f32) * inverse).astype(f32) * factor
        log = np.log2(ratio) + rng.choice([-1, 1], ratio.shape) * 2.0**-22 * np.maximum(1, np.abs(np.log2(ratio)))
        found = np.zeros(50, dtype=f32)
        for cell in range(16):
            for q in range(2):
                found += (x[:, cell, q].astype(f32) * log[:, cell, q].astype(f32)).astype(f32)
        worst = max(worst, float((np.abs(found - exact) - 1e-5 * np.abs(exact)).max()))
    assert 3 * worst < ratio_tolerance(n_samples + 16 * 0.5)


# --- on a GPU -----------------------------------------------------------------------------------------------------


@pytest.fixture
def by_products(monkeypatch):
    """Have batches take whatever they can."""
    monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0)
    monkeypatch.setattr(work_plan, "_MANY_SAMPLES", 0)
    monkeypatch.setattr(work_plan, "_MANY_SAMPLES_OF_TWO_LEVELS", 0)


@pytest.mark.usefixtures("by_products")
class TestEqualsTheCpuEngine:
    pytestmark = needs_gpu

    @pytest.mark.parametrize("kind", [((2,), 2), ((3,), 2), ((4,), 3), ((5,), 2), ((2,), 4), ((2, 3, 5), 2)], ids=str)
    @pytest.mark.parametrize("dimensions", [2, 3, 4, 5])
    def test_bits(self, dimensions, kind, monkeypatch):
        levels, n_classes = kind
        rng = np.random.default_rng([dimensions, n_classes, *levels])
        for case in range(3):
            most = {2: 300, 3: 80, 4: 36, 5: 20}[dimensions] // (2 if max(levels) > 3 and dimensions > 3 else 1)
            n_vars = int(most * rng.uniform(0.7, 1.0))
            # Sample numbers around a step of 256, a segment of 1024, and several segments.
            planes, n_levels = problem(
                rng,
                n_samples=(int(rng.integers(30, 600)), 2048, int(rng.integers(3000, 9000)))[case],
                n_vars=n_vars,
                n_contrast=20 * (case > 0),
                levels=levels,
                n_classes=n_classes,
                rare=case == 1,
            )
            if case == 1:  # many small batches
                monkeypatch.setattr(survivor_search, "_MAX_PRODUCTS", 1 << 20)
            engine = CudaEngine(devices=(0, 0) if case == 2 else None)
            tiles = tiles_for(n_levels, n_vars, dimensions, **vars(engine.tile_shape(dimensions)))
            assert_gains_of_the_cpu(engine, planes, tiles, (0.25, 0.0))

    @pytest.mark.parametrize(
        "kind",
        [(2, (8,), 2), (2, (9,), 3), (2, (20,), 2), (2, (3, 12, 40), 2), (3, (8,), 2), (3, (7,), 4), (3, (2, 11), 2)],
        ids=str,
    )
    def test_many_levels(self, kind, monkeypatch):
        """Products that registers do not hold; and rows and columns in parts, where batches are small."""
        dimensions, levels, n_classes = kind
        rng = np.random.default_rng([dimensions, n_classes, *levels])
        n_vars = {2: 130, 3: 40}[dimensions]
        for n_samples, max_products in [(700, 1 << 16), (2600, 1 << 30)]:
            monkeypatch.setattr(survivor_search, "_MAX_PRODUCTS", max_products)
            how = {"n_samples": n_samples, "n_vars": n_vars, "n_contrast": 20, "rare": max_products < 1 << 20}
            planes, n_levels = problem(rng, levels=levels, n_classes=n_classes, **how)
            engine = CudaEngine()
            tiles = tiles_for(n_levels, n_vars, dimensions, **vars(engine.tile_shape(dimensions)))
            assert_gains_of_the_cpu(engine, planes, tiles, (0.25, 0.0))

    @pytest.mark.parametrize("dimensions", [2, 3])
    def test_without_warp_groups(self, dimensions, monkeypatch):
        limits = CudaEngine()._limits()
        monkeypatch.setattr(CudaEngine, "_limits", lambda self: replace(limits, warp_groups=False))
        planes, n_levels = problem(np.random.default_rng(1), n_samples=3000, n_vars=150, levels=(3,))
        assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 150, dimensions, **TILE_SHAPE))

    @pytest.mark.parametrize("levels", [2, 3])
    @pytest.mark.parametrize("n_samples", [131_070, 140_001])
    def test_counts_of_more_than_16_bits(self, n_samples, levels):
        """Classes of 65 535 samples, whose counts share a word, and more."""
        rng = np.random.default_rng([n_samples, levels])
        codes = rng.integers(0, levels, (70, n_samples), dtype=np.uint8)
        codes[:3] = 0  # cells that hold a whole class
        n_levels = np.full(70, levels, dtype=np.int64)
        planes = planes_of(codes, n_levels, classes_of(np.arange(n_samples) % 2))
        assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 70, 3, **TILE_SHAPE))

    def test_without_tensor_cores(self):
        planes, n_levels = problem(np.random.default_rng(1), n_samples=3000, n_vars=50, levels=(3,))
        assert_gains_of_the_cpu(CudaEngine(counting="popc"), planes, tiles_for(n_levels, 50, 3, **TILE_SHAPE))

    def test_with_little_room_for_survivors(self, monkeypatch):
        monkeypatch.setattr(device_search, "CAPACITY", work_plan.MIN_CAPACITY)
        rng = np.random.default_rng(2)
        codes = rng.integers(0, 3, (300, 500), dtype=np.uint8)
        codes[::2] = 0
        n_levels = np.full(300, 3, dtype=np.int64)
        planes = planes_of(codes, n_levels, classes_of(rng.permutation(np.arange(500) % 2)))
        assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 300, 3, **TILE_SHAPE))

    @pytest.mark.parametrize("levels", [(2,), (2, 4)])
    def test_lists(self, levels):
        planes, n_levels = problem(np.random.default_rng(3), n_samples=2500, n_vars=60, levels=levels)
        tiles = tiles_for(n_levels, 60, 3, **TILE_SHAPE)
        found = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
        min_value = np.full(60, float(np.median(found.gain_by_group.max(axis=1))) / 2)
        rows = assert_rows_of_the_cpu(CudaEngine(), planes, tiles, pseudocount=0.25, min_value=min_value)
        assert len(rows) > 1000
