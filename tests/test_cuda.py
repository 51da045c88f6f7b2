"""The CUDA engine: what can be said of it anywhere, and, on a machine with a GPU, that it equals the CPU engine."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from itertools import combinations
from math import gcd
from pathlib import Path

import numpy as np
import pytest

import interplay
from gpu_mark import needs_gpu
from interplay.arrays import DecisionClasses, DiscreteCodes, MaxGains, TupleTiles
from interplay.engines import base
from interplay.engines.base import SearchInterrupted, SearchWork, get_engine
from interplay.engines.cpu import CpuEngine
from interplay.engines.cuda import CudaEngine, device_search, layout, shared_search, why_no_cuda, work_plan
from interplay.engines.cuda.candidates import best_of_each, merge_candidates
from interplay.engines.cuda.device_search import tuples_with_all
from interplay.engines.cuda.devices import NotForDevices, common_limits
from interplay.engines.cuda.kernels import SearchVariant, choose_variant, default_counting, source_of
from interplay.engines.cuda.layout import (
    covers_all_tuples,
    make_lane_layout,
    make_tile_records,
    parts_by_planes,
    strongest_first,
    words_of,
)
from interplay.engines.cuda.tables import make_information_tables
from interplay.engines.cuda.work_plan import WorkPlan, scattering_stride, sum_tolerance
from interplay.engines.tuple_tiles import make_tuple_tiles
from interplay.steps.bit_planes import make_bit_planes

KERNELS = Path(__file__).resolve().parents[1] / "core" / "cuda"

#: As CudaEngine.tile_shape has it; here without a device.
TILE_SHAPE = {"block_size": 32, "middle_size": 512, "n_lanes": 512, "even": False}


def problem(
    rng: np.random.Generator,
    *,
    n_samples: int,
    n_vars: int,
    n_contrast: int = 0,
    levels: tuple[int, ...] = (2,),
    n_classes: int = 2,
    rare: bool = False,
):  # type: ignore[no-untyped-def]
    """Planes of random codes with a signal, a constant column and a copy of another; and their levels."""
    n_levels = rng.choice(levels, size=n_vars + n_contrast).astype(np.int64)
    codes = np.stack([rng.integers(0, c, size=n_samples) for c in n_levels]).astype(np.uint8)
    if n_vars > 4:
        codes[1], codes[2] = codes[0] % n_levels[1], 0
    share = np.full(n_classes, 1 / n_classes)
    if rare:
        share = np.array([0.9] + [0.1 / (n_classes - 1)] * (n_classes - 1))
    y = rng.choice(n_classes, size=n_samples, p=share)
    y = np.where(rng.random(n_samples) < 0.3, (codes[0] ^ codes[n_vars - 1]) % n_classes, y)
    y[: 2 * n_classes] = np.repeat(np.arange(n_classes), 2)
    classes = DecisionClasses(y.astype(np.int64), list(range(n_classes)))
    parts = [DiscreteCodes(np.ascontiguousarray(codes[:n_vars]), n_levels[:n_vars])]
    if n_contrast:
        parts.append(DiscreteCodes(np.ascontiguousarray(codes[n_vars:]), n_levels[n_vars:]))
    return make_bit_planes(parts, classes), n_levels


def assert_same_bits(a: MaxGains, b: MaxGains) -> None:
    assert np.array_equal(a.gain_by_group, b.gain_by_group)
    assert np.array_equal(a.tuples_by_group, b.tuples_by_group)
    assert np.array_equal(a.discretization_by_group, b.discretization_by_group)


# --- without a GPU ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(why_no_cuda() is None, reason="there is a GPU: nothing to complain about")
def test_without_a_gpu_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for call in (lambda: get_engine("cuda"), CudaEngine):
        with pytest.raises(
            (ImportError, RuntimeError), match=r"engine='cuda' .*(pip install|use engine='cpu')"
        ) as error:
            call()
        assert "\n" not in str(error.value)
    monkeypatch.setenv("INTERPLAY_ENGINE", "cuda")
    with pytest.raises((ImportError, RuntimeError), match="engine='cuda'"):
        get_engine("auto")


def test_auto_takes_the_gpu_only_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "find_spec", lambda name: object())
    monkeypatch.setattr("interplay.engines.cuda.why_no_cuda", lambda: None)
    small = SearchWork(n_tuples=1e6, n_samples=2000, n_cells=4)
    large = SearchWork(n_tuples=1e12, n_samples=2000, n_cells=4)
    assert not base._gpu_is_worth_it(small, n_threads=1)
    assert base._gpu_is_worth_it(large, n_threads=64)
    # More threads make the CPU's case, more samples the GPU's.
    middling = SearchWork(n_tuples=2e9, n_samples=500, n_cells=8)
    assert base._gpu_is_worth_it(middling, n_threads=1)
    assert not base._gpu_is_worth_it(middling, n_threads=64)
    assert base._gpu_is_worth_it(SearchWork(n_tuples=2e9, n_samples=1_000_000, n_cells=8), n_threads=64)


def variants() -> list[SearchVariant]:
    """Kernels of every kind: levels, classes, prefix, careful or not, with tensor cores and without."""
    chosen = []
    for dimensions, levels, n_classes, counting, care, hold in [
        (2, 2, 2, "tensor", False, True),
        (3, 2, 2, "popc", True, True),
        (5, 2, 2, "tensor", False, True),
        (5, 2, 2, "tensor", True, False),
        (4, 3, 2, "tensor", True, True),
        (3, 2, 3, "tensor", True, False),
    ]:
        variant = choose_variant(
            dimensions=dimensions,
            row_levels=levels,
            column_levels=levels,
            n_classes=n_classes,
            prefix_levels=levels if dimensions < 5 else 2,
            rows_among_columns=dimensions != 4,
            n_cells=levels ** (dimensions - 2),
            class_steps=tuple(range(0, 4 * n_classes + 1, 4)),
            compile_for_steps=hold,
            small_cells_need_care=care,
            counting=counting,
            max_shared_bytes=102_400,
        )
        assert variant is not None
        chosen.append(variant)
    return chosen


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA device: no nvcc")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_kernels_compile(architecture: str, tmp_path: Path) -> None:
    compile_ = ["nvcc", "-std=c++17", "-cubin", f"-arch={architecture}", "-o", str(tmp_path / "kernel.cubin")]
    for name, options in [
        ("bit_planes.cu", ()),
        ("tuple_list.cu", ("-DDIMENSIONS=4",)),
        ("information_gain.cu", ("-DDIMENSIONS=5", "-DCLASSES=2")),
        ("information_gain.cu", ("-DDIMENSIONS=7", "-DCLASSES=4")),
        ("tuple_statistic.cu", ("-DDIMENSIONS=3", "-DCLASSES=1")),
        ("tuple_statistic.cu", ("-DDIMENSIONS=5", "-DCLASSES=2")),
        *(("tuple_search.cu", variant.defines()) for variant in variants()),
    ]:
        (tmp_path / name).write_text(source_of(name), encoding="utf-8")  # as it is compiled at run time
        done = subprocess.run([*compile_, *options, str(tmp_path / name)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_variants_stay_within_shared_memory() -> None:
    for max_shared_bytes in (65_536, 102_400, 233_472):
        for dimensions, levels in [(2, 2), (3, 2), (5, 2), (7, 2), (4, 3), (3, 4)]:
            n_cells = levels ** (dimensions - 2)
            variant = choose_variant(
                dimensions=dimensions,
                row_levels=levels,
                column_levels=levels,
                n_classes=2,
                prefix_levels=levels,
                rows_among_columns=False,
                n_cells=n_cells,
                class_steps=(0, 4, 8),
                compile_for_steps=True,
                small_cells_need_care=False,
                counting="tensor",
                max_shared_bytes=max_shared_bytes,
            )
            if variant is not None:
                blocks = variant.blocks_per_multiprocessor
                assert blocks * (variant.shared_bytes(n_cells, 8) + 1024) <= max_shared_bytes
                assert blocks * variant.threads <= 512


def test_too_many_levels_are_left_to_other_kernels() -> None:
    variant = choose_variant(
        dimensions=3,
        row_levels=9,
        column_levels=9,
        n_classes=4,
        prefix_levels=9,
        rows_among_columns=False,
        n_cells=9,
        class_steps=(0, 2, 4, 6, 8),
        compile_for_steps=True,
        small_cells_need_care=False,
        counting="tensor",
        max_shared_bytes=233_472,
    )
    assert variant is None


def test_counting_can_be_overridden(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [default_counting(c) for c in (70, 75, 80, 89, 90, 100, 120)] == ["popc"] * 2 + ["tensor"] * 3 + ["popc"] * 2
    monkeypatch.setenv("INTERPLAY_CUDA_COUNTING", "popc")
    assert default_counting(90) == "popc"
    monkeypatch.setenv("INTERPLAY_CUDA_COUNTING", "abacus")
    with pytest.raises(ValueError, match="INTERPLAY_CUDA_COUNTING must be one of tensor, popc, not 'abacus'"):
        default_counting(90)


def test_sources_are_whole() -> None:
    for name in ("bit_planes.cu", "tuple_list.cu", "information_gain.cu", "tuple_statistic.cu", "tuple_search.cu"):
        assert '#include "' not in source_of(name)
    # What is installed is what is in the repository.
    assert (KERNELS / "tuple_list.cu").read_text(encoding="utf-8").splitlines()[-1] in source_of("tuple_list.cu")


def test_layout_holds_every_level_of_every_variable_once() -> None:
    rng = np.random.default_rng(0)
    planes, n_levels = problem(rng, n_samples=200, n_vars=40, n_contrast=9, levels=(2, 3, 5))
    tiles = make_tuple_tiles(n_levels, n_vars=40, dimensions=3, **TILE_SHAPE)
    layout = make_lane_layout(planes, tiles)
    levels_seen = []
    for position, row in enumerate(tiles.order.tolist()):
        block = int(np.searchsorted(tiles.lane_start, position, side="right") - 1)
        assert layout.first_row[block] % 16 == 0
        for level in range(n_levels[row]):
            at = layout.first_row[block] + level * layout.rows_per_level[block] + position - tiles.lane_start[block]
            levels_seen.append(int(at))
            if level:
                assert layout.row_plane[at] == planes.plane_start[row] + level - 1
                assert layout.row_others[at] == 0
            else:
                assert layout.row_plane[at] == planes.plane_start[row]
                assert layout.row_others[at] == n_levels[row] - 1
    assert len(set(levels_seen)) == len(levels_seen)
    others = np.ones(len(layout.row_plane), dtype=bool)
    others[levels_seen] = False
    assert (layout.row_plane[others] == -1).all()


def tuples_of(records, tile: int) -> set[tuple[int, ...]]:  # type: ignore[no-untyped-def]
    ranges = [range(b, e) for b, e in zip(records.begin[tile], records.end[tile], strict=True)]
    positions = sorted(set().union(*ranges))
    return {t for t in combinations(positions, len(ranges)) if all(v in r for v, r in zip(t, ranges, strict=True))}


def test_parts_hold_every_tile_once_and_need_few_planes() -> None:
    rng = np.random.default_rng(1)
    planes, n_levels = problem(rng, n_samples=100, n_vars=60, n_contrast=20, levels=(2, 3))
    tiles = make_tuple_tiles(n_levels, n_vars=60, dimensions=3, block_size=2, middle_size=3, n_lanes=4, even=False)
    rows_of_all = len(make_lane_layout(planes, tiles).row_plane)
    for n_groups in (1, 6, 12):
        parts = parts_by_planes(tiles, n_groups)
        seen = np.concatenate([part.tiles for part in parts])
        assert {tuple(tile) for tile in seen.tolist()} == {tuple(tile) for tile in tiles.tiles.tolist()}
        assert len(seen) == len(tiles)
        rows = max(len(make_lane_layout(planes, part).row_plane) for part in parts) - 512  # the spare ones
        assert rows <= (rows_of_all - 512) * min(1, 3 * 1.5 / n_groups)


def test_words_are_copied_in_parts_that_hold_what_their_rows_name() -> None:
    rng = np.random.default_rng(1)
    planes, n_levels = problem(rng, n_samples=100, n_vars=60, levels=(2, 3, 5))
    for asked_for in (None, np.arange(60) % 7 == 0):
        tiles = make_tuple_tiles(n_levels, n_vars=60, dimensions=2, asked_for=asked_for, require="all", n_lanes=16)
        layout = make_lane_layout(planes, tiles)
        for begin in range(0, len(layout.row_plane), 48):
            plane, others = layout.row_plane[begin : begin + 48], layout.row_others[begin : begin + 48]
            words, place = words_of(planes, plane, others)
            assert ((place < 0) == (plane < 0)).all()
            for level in range(4):
                has = (plane >= 0) & (level < np.maximum(others, 1))
                assert np.array_equal(words[place[has] + level], planes.words.view(np.uint32)[plane[has] + level])


def test_tile_records_spell_out_all_tuples() -> None:
    rng = np.random.default_rng(1)
    planes, n_levels = problem(rng, n_samples=100, n_vars=9, n_contrast=3, levels=(2, 3))
    for shape in ({"block_size": 2, "middle_size": 3, "n_lanes": 4}, TILE_SHAPE):
        tiles = make_tuple_tiles(n_levels, n_vars=9, dimensions=3, **shape)
        records = make_tile_records(planes, tiles, make_lane_layout(planes, tiles))
        seen: list[tuple[int, ...]] = []
        for tile in range(len(tiles)):
            found = tuples_of(records, tile)
            assert len(found) == tiles.n_tuples[tile]
            seen.extend(found)
            assert records.records[tile, -1] == (tiles.order[records.begin[tile, -1]] >= 9)
        assert len(set(seen)) == len(seen)


def test_the_first_sample_has_every_variable_and_only_tuples_of_the_tiles() -> None:
    rng = np.random.default_rng(2)
    planes, n_levels = problem(rng, n_samples=100, n_vars=30, n_contrast=6)
    tiles = make_tuple_tiles(n_levels, n_vars=30, dimensions=3, block_size=4, middle_size=8, n_lanes=16)
    records = make_tile_records(planes, tiles, make_lane_layout(planes, tiles))
    sample = tuples_with_all(records, len(tiles.order))
    assert set(np.unique(sample[:, 1:])) == set(range(36))
    for tile, *positions in sample[:: max(1, len(sample) // 200)].tolist():
        assert tuple(positions) in tuples_of(records, tile)


def test_variables_are_sorted_only_where_all_tuples_are_there() -> None:
    rng = np.random.default_rng(3)
    planes, n_levels = problem(rng, n_samples=100, n_vars=12, n_contrast=4, levels=(2, 3))
    shape = {"block_size": 2, "middle_size": 3, "n_lanes": 4}
    tiles = make_tuple_tiles(n_levels, n_vars=12, dimensions=4, **shape)
    assert covers_all_tuples(tiles, 12)
    assert not covers_all_tuples(tiles[1:], 12)
    asked_for = np.arange(12) < 5
    for_some = make_tuple_tiles(n_levels, n_vars=12, dimensions=4, asked_for=asked_for, require="any", **shape)
    assert not covers_all_tuples(for_some, 12)
    among_some = make_tuple_tiles(n_levels, n_vars=12, dimensions=4, asked_for=asked_for, require="all", **shape)
    assert covers_all_tuples(among_some, 12)
    # However they are sorted, every tuple is in one tile, and blocks still hold variables of one kind.
    gain = rng.random(16)
    sorted_tiles = strongest_first(tiles, gain)
    layout = make_lane_layout(planes, sorted_tiles)
    for begin, end, levels in zip(tiles.lane_start[:-1], tiles.lane_start[1:], layout.n_levels, strict=True):
        block = sorted_tiles.order[begin:end]
        assert set(block) == set(tiles.order[begin:end])
        assert (np.diff(gain[block]) <= 0).all()
        assert (n_levels[block] == levels).all()
    records = make_tile_records(planes, sorted_tiles, layout)
    seen = {
        tuple(sorted(sorted_tiles.order[list(positions)].tolist()))
        for tile in range(len(tiles))
        for positions in tuples_of(records, tile)
    }
    assert len(seen) == tiles.n_tuples.sum()


def test_the_bound_is_one() -> None:
    """The formula of gain_bound.cuh, in float64: never below the divergence, and close to it by chance's deviations."""
    rng = np.random.default_rng(4)
    p = np.concatenate([rng.random(200_000), 10.0 ** -rng.uniform(1, 7, 100_000), np.full(100_000, 0.5)])
    q = np.where(rng.random(len(p)) < 0.5, rng.random(len(p)), np.clip(p + rng.normal(0, 0.05, len(p)), 0, 1))
    q[::50], q[1::50] = 0, 1
    n = 10.0 ** rng.uniform(0, 6, len(p))

    def x_log(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(x > 0, x * np.log2(np.where(x > 0, x, 1) / y), 0)

    divergence = x_log(q, p) + x_log(1 - q, 1 - p)
    r = np.minimum(p, 1 - p)
    at_0 = 1 / (2 * np.log(2) * r * (1 - r))
    slope = (1 - 2 * r) / 3 * at_0 / (r * (1 - r))
    curvature = (-np.log1p(-r) / np.log(2) / r**2 - at_0 - slope * r) / r**2
    by_chance = np.minimum(1 / np.sqrt(n), r)
    a, c = at_0 + slope * by_chance / 2, curvature + slope / (2 * by_chance)
    bound = (q - p) ** 2 * (a + c * (q - p) ** 2)
    assert (bound >= divergence * (1 - 1e-9) - 1e-15).all()
    usual = (np.abs(p - 0.5) < 0.1) & (np.abs(q - p) < 0.1) & (np.abs(q - p) > 0.02) & (n > 50) & (n < 500)
    assert np.median(bound[usual] / divergence[usual]) < 1.03


H200 = {
    "multiProcessorCount": 132,
    "sharedMemPerMultiprocessor": 233_472,
    "sharedMemPerBlockOptin": 232_448,
    "major": 9,
    "minor": 0,
}
SMALLER = H200 | {"multiProcessorCount": 60, "sharedMemPerMultiprocessor": 102_400, "sharedMemPerBlockOptin": 101_376}


def plan_of(planes, tiles, *devices: dict, pseudocount: float = 0.25) -> WorkPlan:  # type: ignore[no-untyped-def]
    lanes = make_lane_layout(planes, tiles)
    records = make_tile_records(planes, tiles, lanes)
    limits = common_limits(devices, None)
    return WorkPlan(planes, tiles, lanes, records, pseudocount=pseudocount, limits=limits)


def test_shares_of_unlike_devices_make_up_the_whole() -> None:
    """Work is cut by what all devices have, so each takes its part of the same runs."""
    rng = np.random.default_rng(5)
    planes, n_levels = problem(rng, n_samples=300, n_vars=90, n_contrast=10, levels=(2, 3))
    tiles = make_tuple_tiles(n_levels, n_vars=90, dimensions=3, **TILE_SHAPE)
    plan = plan_of(planes, tiles, H200, SMALLER)
    seen: list[int] = []
    for which, variant in plan.by_variant(np.arange(len(tiles))):
        seen.extend(which.tolist())
        if variant is None:
            continue
        assert variant.shared_bytes(3, planes.words.shape[1] // 4) < SMALLER["sharedMemPerMultiprocessor"]
        work = plan.work(which, variant)
        shares = [work.share(number, 3) for number in range(3)]
        assert [run for begin, end in shares for run in range(begin, end)] == list(range(work.n_runs))
        stride = scattering_stride(work.n_runs)
        assert len({run * stride % work.n_runs for run in range(work.n_runs)}) == work.n_runs
    assert sorted(seen) == list(range(len(tiles)))


def test_runs_are_scattered_without_overflow() -> None:
    for n in (1, 2, 3, 10, 1000, 2**31, 2**32 + 1, 8_700_000_000, 10**12):
        stride = scattering_stride(n)
        assert stride >= 1
        assert gcd(stride, n) == 1
        assert (n - 1) * stride < 2**63


def test_what_devices_cannot_do_well_is_refused_before_any_work() -> None:
    rng = np.random.default_rng(5)
    # 14 of 23 variables: 817 190 tuples, but 23^14 ways to take one for each place.
    planes, n_levels = problem(rng, n_samples=100, n_vars=23)
    tiles = make_tuple_tiles(n_levels, n_vars=23, dimensions=14, **TILE_SHAPE)
    plan = plan_of(planes, tiles, H200)
    ((which, variant),) = plan.by_variant(np.arange(len(tiles)))
    assert variant is None
    with pytest.raises(NotForDevices, match="slow where tuples have so many cells"):
        plan.check_choices(which)
    few = make_tuple_tiles(n_levels, n_vars=23, dimensions=3, **TILE_SHAPE)
    few_plan = plan_of(planes, few, H200)
    few_plan.check_choices(np.arange(len(few)))
    assert few_plan.choices_before(np.arange(len(few)))[-1] >= few.n_tuples.sum()
    # Counters of a tuple must fit into the shared memory of the smallest device.
    planes, n_levels = problem(rng, n_samples=300, n_vars=4, levels=(28,))
    tiles = make_tuple_tiles(n_levels, n_vars=4, dimensions=3, **TILE_SHAPE)
    plan_of(planes, tiles, H200)
    with pytest.raises(NotForDevices, match="this many cells"):
        plan_of(planes, tiles, H200, SMALLER)


@pytest.mark.parametrize("n_classes", [2, 3, 18])
@pytest.mark.parametrize("n_samples", [2000, 100_000, 8_000_000])
def test_tolerance_covers_sums_of_logarithms(n_classes: int, n_samples: int) -> None:
    """Informations are sums of x·log2(x) in float32, with logarithms that are off by two units in the last place."""
    rng = np.random.default_rng(n_classes)
    n_prime = n_samples + 16 * 0.25 * n_classes
    tolerance = sum_tolerance(n_prime, n_classes)
    f32 = np.float32

    def x_log_x(x: np.ndarray) -> np.ndarray:
        off = 1 + rng.uniform(-1, 1, x.shape) * 2.0**-22
        return (x * (np.log2(x) * off).astype(f32)).astype(f32)

    worst = 0.0
    for _ in range(200):
        shares = rng.dirichlet(np.full(n_classes * 16, rng.choice([0.1, 1.0, 10.0])), 50)
        counts = np.floor(shares * n_samples).reshape(50, 16, n_classes) + 0.25
        exact = (counts * np.log2(counts)).sum((1, 2))
        exact -= (counts.sum(2) * np.log2(counts.sum(2))).sum(1)
        found = np.zeros(50, dtype=f32)
        for cell in range(16):
            for q in range(n_classes):
                found += x_log_x(counts[:, cell, q].astype(f32))
            found -= x_log_x(counts[:, cell].sum(1).astype(f32))
        worst = max(worst, float(np.abs(found - exact).max()))
    # A comparison has two such sums, of a tuple without one or the other of two members; more where the bound is one.
    assert 2 * worst < tolerance


def test_candidates_merge_like_offers() -> None:
    rng = np.random.default_rng(3)
    planes, n_levels = problem(rng, n_samples=100, n_vars=8, levels=(2, 3))
    tiles = make_tuple_tiles(n_levels, n_vars=8, dimensions=2)
    known = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
    n_groups = known.gain_by_group.shape[1]
    # Many ties, in any order; some beat what is known, some tie with it, some do not.
    n = 400
    row, group = rng.integers(0, 8, n), rng.integers(0, n_groups, n)
    gain = known.gain_by_group[row, group] + rng.choice([-1.0, 0.0, 1.0], n)
    gain[~np.isfinite(gain)] = 5.0
    tuples = np.sort(rng.integers(0, 8, (n, 2)), axis=1)
    chosen = best_of_each(row * n_groups + group, gain, tuples)
    merged = merge_candidates(known, row[chosen], group[chosen], gain[chosen], tuples[chosen], discretization=3)
    expected = known
    for i in range(n):
        one = MaxGains(
            np.full_like(known.gain_by_group, -np.inf),
            np.full_like(known.discretization_by_group, -1),
            np.full_like(known.tuples_by_group, -1),
            known.df_by_group,
            known.n_vars,
        )
        one.gain_by_group[row[i], group[i]] = gain[i]
        one.discretization_by_group[row[i], group[i]] = 3
        one.tuples_by_group[row[i], group[i]] = tuples[i]
        expected = expected.merge(one)
    assert_same_bits(merged, expected)


def test_tables_give_the_gains_of_the_cpu_engine() -> None:
    rng = np.random.default_rng(4)
    planes, n_levels = problem(rng, n_samples=300, n_vars=5, levels=(2, 3), n_classes=3, rare=True)
    tiles = make_tuple_tiles(n_levels, n_vars=5, dimensions=1)
    tables = make_information_tables(planes, tiles, 0.25)
    found = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
    for v in range(5):
        ones = [
            [int(np.bitwise_count(planes.words[p, a:b]).sum()) for a, b in zip(*class_words(planes), strict=True)]
            for p in range(planes.plane_start[v], planes.plane_start[v + 1])
        ]
        cells = np.array([planes.class_sizes - np.sum(ones, axis=0), *ones])

        def information(counts: np.ndarray, multiplicity: int) -> int:
            start = tables.start[multiplicity]
            parts = [tables.values[start[q] + counts[q]] for q in range(3)]
            return int(sum(parts) - tables.values[start[3] + counts.sum()])

        whole = sum(information(cell, 0) for cell in cells)
        merged = information(cells.sum(axis=0), int(tables.multiplicity_of_levels[n_levels[v]]))
        assert (whole - merged) * tables.unit == found.gain[v]


def class_words(planes) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[no-untyped-def]
    return planes.class_word_start[:-1], planes.class_word_start[1:]


def test_importing_the_engine_does_not_import_cupy() -> None:
    code = "import sys, interplay.engines.cuda; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- on a GPU -----------------------------------------------------------------------------------------------------

KINDS = [((2,), 2), ((3,), 2), ((2,), 3), ((2, 3, 4), 2), ((2, 5), 4)]


def tiles_for(n_levels: np.ndarray, n_vars: int, dimensions: int, **how: object) -> TupleTiles:
    return make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
class TestEqualsTheCpuEngine:
    pytestmark = needs_gpu

    def test_bits(self, dimensions: int, kind: tuple[tuple[int, ...], int], monkeypatch: pytest.MonkeyPatch) -> None:
        levels, n_classes = kind
        rng = np.random.default_rng([dimensions, n_classes, *levels])
        for case in range(3):
            monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0 if case == 0 or dimensions < 4 else 1e8)
            n_vars = int({1: 300, 2: 300, 3: 80, 4: 40, 5: 24}[dimensions] * rng.uniform(0.5, 1.2))
            planes, n_levels = problem(
                rng,
                n_samples=int(rng.integers(30, 3000)),
                n_vars=n_vars,
                n_contrast=int(rng.integers(0, 40)) * int(case > 0),
                levels=levels,
                n_classes=n_classes,
                rare=case == 1,
            )
            how: dict[str, object] = {}
            if case == 2:
                asked_for = np.isin(np.arange(n_vars), rng.choice(n_vars, max(dimensions, n_vars // 4), replace=False))
                how = {"asked_for": asked_for, "require": "any" if dimensions % 2 else "all"}
            engine = CudaEngine()
            for_cpu = tiles_for(n_levels, n_vars, dimensions, **how)
            for_gpu = for_cpu
            if case < 2:
                for_gpu = tiles_for(n_levels, n_vars, dimensions, **how, **engine.tile_shape(dimensions))
            pseudocount = (0.25, 0.0, 1.0)[case]
            a = b = None
            for d in range(2):
                a = CpuEngine().max_gains(planes, for_cpu, pseudocount=pseudocount, discretization=d, known=a)
                b = engine.max_gains(planes, for_gpu, pseudocount=pseudocount, discretization=d, known=b)
                assert_same_bits(a, b)


class TestOnADevice:
    pytestmark = needs_gpu

    @pytest.fixture
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(5)

    @pytest.mark.parametrize(
        "how", [{"counting": "popc"}, {"devices": (0, 0)}, {"counting": "tensor", "devices": (0,)}], ids=str
    )
    def test_however_it_is_run(self, rng: np.random.Generator, how: dict) -> None:
        planes, n_levels = problem(rng, n_samples=1500, n_vars=70, n_contrast=20)
        tiles = tiles_for(n_levels, 70, 3, **TILE_SHAPE)
        expected = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(CudaEngine(**how).max_gains(planes, tiles, pseudocount=0.25), expected)

    def test_with_little_room_for_survivors(self, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is lost where more survive than fit: many constant columns, and small buffers."""
        monkeypatch.setattr(shared_search, "CAPACITY", work_plan.MIN_CAPACITY)
        monkeypatch.setattr(device_search, "_MAX_KEPT", 10)
        codes = rng.integers(0, 2, (400, 500), dtype=np.uint8)
        codes[::2] = 0
        classes = DecisionClasses(rng.permutation(np.arange(500) % 2), [0, 1])
        n_levels = np.full(400, 2, dtype=np.int64)
        planes = make_bit_planes([DiscreteCodes(codes, n_levels)], classes)
        tiles = tiles_for(n_levels, 400, 3, **TILE_SHAPE)
        expected = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(CudaEngine().max_gains(planes, tiles, pseudocount=0.25), expected)

    @pytest.mark.parametrize("n_samples", [20_000, 300_000])
    def test_many_samples(self, rng: np.random.Generator, n_samples: int) -> None:
        planes, n_levels = problem(rng, n_samples=n_samples, n_vars=20, rare=True)
        tiles = tiles_for(n_levels, 20, 3, **TILE_SHAPE)
        expected = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(CudaEngine().max_gains(planes, tiles, pseudocount=0.25), expected)

    def test_many_dimensions(self, rng: np.random.Generator) -> None:
        planes, n_levels = problem(rng, n_samples=400, n_vars=14)
        tiles = tiles_for(n_levels, 14, 7, **TILE_SHAPE)
        expected = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(CudaEngine().max_gains(planes, tiles, pseudocount=0.25), expected)

    def test_very_many_dimensions_go_to_the_cpu_with_a_message(self, rng: np.random.Generator) -> None:
        planes, n_levels = problem(rng, n_samples=200, n_vars=20)
        tiles = tiles_for(n_levels, 20, 9, **TILE_SHAPE)
        expected = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
        with pytest.warns(UserWarning, match="is slow where tuples have so many cells .* searched on the CPU instead"):
            found = CudaEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(found, expected)

    def test_bad_arguments_are_named(self) -> None:
        for how, message in [
            ({"devices": ()}, r"devices must be numbers of GPUs, of \(0"),
            ({"devices": (0, 99)}, r"devices must be numbers of GPUs, .* not \(0, 99\)"),
            ({"counting": "abacus"}, "counting must be one of tensor, popc, not 'abacus'"),
        ]:
            with pytest.raises(ValueError, match=message):
                CudaEngine(**how)

    def test_too_many_cells_go_to_the_cpu_with_a_message(self, rng: np.random.Generator) -> None:
        planes, n_levels = problem(rng, n_samples=300, n_vars=4, levels=(60,))
        tiles = tiles_for(n_levels, 4, 3, **TILE_SHAPE)
        with pytest.warns(UserWarning, match="searched on the CPU instead"):
            found = CudaEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(found, CpuEngine().max_gains(planes, tiles, pseudocount=0.25))

    def test_with_little_memory_planes_come_in_parts(
        self, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import cupy

        monkeypatch.setattr(layout, "_ROWS_BYTES", 1 << 20)
        monkeypatch.setattr(shared_search, "CAPACITY", work_plan.MIN_CAPACITY)
        n_vars, n_samples = 4000, 60_000
        planes, n_levels = problem(rng, n_samples=n_samples, n_vars=n_vars)
        tiles = tiles_for(n_levels, n_vars, 2, block_size=128, middle_size=256, n_lanes=256, even=False)
        expected = CpuEngine(n_threads=4).max_gains(planes, tiles, pseudocount=0.25)
        pool = cupy.get_default_memory_pool()
        before = pool.get_limit()
        try:
            pool.free_all_blocks()
            # Two planes for each variable are 60 MB, and the buffers 46.
            pool.set_limit(size=90 << 20)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = CudaEngine().max_gains(planes, tiles, pseudocount=0.25)
            assert_same_bits(found, expected)
            pool.free_all_blocks()
            pool.set_limit(size=2 << 20)
            with pytest.warns(UserWarning, match="too little memory .* they are searched on the CPU instead"):
                found = CudaEngine(n_threads=4).max_gains(planes, tiles, pseudocount=0.25)
            assert_same_bits(found, expected)
            with pytest.raises(MemoryError, match="too little memory"):
                CudaEngine(leave_memory_errors=True).max_gains(planes, tiles, pseudocount=0.25)
            few = tiles[:2]
            with pytest.warns(UserWarning, match="too little memory .* they are listed on the CPU instead"):
                rows = CudaEngine().interesting_tuples(planes, few, pseudocount=0.25, min_value=np.full(n_vars, 9.0))
        finally:
            pool.set_limit(size=before)
        on_cpu = CpuEngine().interesting_tuples(planes, few, pseudocount=0.25, min_value=np.full(n_vars, 9.0))
        assert np.array_equal(rows.value, on_cpu.value)

    def test_ctrl_c_hands_over_what_was_found(self, rng: np.random.Generator) -> None:
        planes, n_levels = problem(rng, n_samples=2000, n_vars=300)
        tiles = tiles_for(n_levels, 300, 4, **TILE_SHAPE)

        def interrupt(done: int, found: MaxGains | None = None) -> None:
            raise KeyboardInterrupt

        with pytest.raises(SearchInterrupted) as caught:
            CudaEngine().max_gains(planes, tiles, pseudocount=0.25, on_progress=interrupt)
        assert 0 < caught.value.done < 1
        assert np.isfinite(caught.value.partial.gain).all()

    def test_select_is_the_same(self) -> None:
        X, y, _ = interplay.datasets.make_madelon(n_samples=500, n_vars=60, random_state=0)
        on_cpu = interplay.select(X, y, dimensions=3, discretizations=3, random_state=1, engine="cpu")
        on_gpu = interplay.select(X, y, dimensions=3, discretizations=3, random_state=1, engine="cuda")
        assert on_cpu.table.equals(on_gpu.table)

    def test_strata_are_the_same(self) -> None:
        X, y, _ = interplay.datasets.make_madelon(n_samples=500, n_vars=60, random_state=0)
        strata = np.arange(500) % 3
        tables = [
            interplay.select(X, y, dimensions=2, strata=strata, random_state=1, engine=engine).table
            for engine in ("cpu", "cuda")
        ]
        assert tables[0].equals(tables[1])

    def test_orders_of_the_paper(self, madelon: tuple[np.ndarray, np.ndarray]) -> None:
        """5D over Madelon: by gain, the clusters of the five base variables come first."""
        X, y = madelon
        clusters = [{154, 282, 434}, {29, 319, 452}, {49, 379}, {242, 476}, {456}, {454, 494}, {339}]
        found = interplay.max_information_gain(X, y, dimensions=5, engine="cuda")
        seen: list[int] = []
        for v in (np.argsort(-found.gain) + 1).tolist():
            number = next((i for i, cluster in enumerate(clusters) if v in cluster), None)
            if number is not None and number not in seen:
                seen.append(number)
        assert seen[:5] == [0, 1, 2, 3, 4]
