"""What the CUDA engine does on the host: the layout of planes and tiles, the plan of work, tables and candidates."""

from itertools import combinations
from math import gcd

import numpy as np
import pytest

from cuda_problems import TILE_SHAPE, assert_same_bits, problem
from interplay.base.tuples import MaxGains
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda.device_search import merge_candidates, tile_of_each
from interplay.search.engines.cuda.devices import NotForDevices, common_limits
from interplay.search.engines.cuda.layout import (
    covers_all_tuples,
    make_lane_layout,
    make_tile_records,
    rows_in_parts,
    strongest_first,
    words_of,
)
from interplay.search.engines.cuda.survivor_search import LAUNCH_SECONDS, LaunchSize
from interplay.search.engines.cuda.tables import make_information_tables
from interplay.search.engines.cuda.work_plan import (
    WorkPlan,
    ratio_tolerance,
    rounding_tolerance,
    scattering_stride,
    sum_tolerance,
)
from interplay.search.tiles import make_tuple_tiles


def test_layout_holds_every_level_of_every_variable_once():
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


def tuples_of(records, tile):
    ranges = [range(b, e) for b, e in zip(records.begin[tile], records.end[tile], strict=True)]
    positions = sorted(set().union(*ranges))
    return {t for t in combinations(positions, len(ranges)) if all(v in r for v, r in zip(t, ranges, strict=True))}


def test_words_are_copied_in_parts_that_hold_what_their_rows_name():
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


def test_planes_are_copied_once():
    """Rows of all levels come in parts that name different planes, but for those of a variable between two parts."""
    rng = np.random.default_rng(1)
    planes, n_levels = problem(rng, n_samples=100, n_vars=200, n_contrast=30, levels=(2, 3, 5))
    tiles = make_tuple_tiles(n_levels, n_vars=200, dimensions=2, **TILE_SHAPE)
    layout = make_lane_layout(planes, tiles)
    n_planes = len(planes.words)
    for most in (1, 7, 50, n_planes + 1):
        parts = rows_in_parts(layout.row_plane, most)
        assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(layout.row_plane)))
        n_copied = [len(words_of(planes, layout.row_plane[rows], layout.row_others[rows])[0]) for rows in parts]
        assert max(n_copied) <= most + 3  # three more planes of the last variable
        assert sum(n_copied) <= n_planes + 3 * (len(parts) - 1)
        assert len(parts) <= n_planes // most + 2


def test_rows_of_one_part_may_be_sorted():
    """Where their planes lie far apart: a copy that takes rows as they are would mix them."""
    row_plane = np.array([90, 0, 91, 1])
    (rows,) = rows_in_parts(row_plane, 10)
    assert rows.tolist() == [1, 3, 0, 2]


def test_tile_records_spell_out_all_tuples():
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


def test_the_first_sample_has_every_variable_and_only_tuples_of_the_tiles():
    rng = np.random.default_rng(2)
    planes, n_levels = problem(rng, n_samples=100, n_vars=30, n_contrast=6)
    tiles = make_tuple_tiles(n_levels, n_vars=30, dimensions=3, block_size=4, middle_size=8, n_lanes=16)
    records = make_tile_records(planes, tiles, make_lane_layout(planes, tiles))
    tile_of = tile_of_each(records, len(tiles.order), np.arange(len(tiles)))
    assert (tile_of >= 0).any(axis=0).all()
    in_tiles = {tile: tuples_of(records, tile) for tile in range(len(tiles))}
    for place, position in np.argwhere(tile_of >= 0).tolist():
        tile = tile_of[place, position]
        assert records.begin[tile, place] <= position < records.end[tile, place]
    # Some tuple of the tiles that were chosen has the variable, whatever the place.
    for position in range(36):
        chosen = tile_of[:, position]
        assert any(position in members for tile in chosen[chosen >= 0].tolist() for members in in_tiles[tile])


def test_variables_are_sorted_only_where_all_tuples_are_there():
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


H200 = {
    "multiProcessorCount": 132,
    "sharedMemPerMultiprocessor": 233_472,
    "sharedMemPerBlockOptin": 232_448,
    "major": 9,
    "minor": 0,
}
SMALLER = H200 | {"multiProcessorCount": 60, "sharedMemPerMultiprocessor": 102_400, "sharedMemPerBlockOptin": 101_376}


def plan_of(planes, tiles, *devices, pseudocount=0.25):
    lanes = make_lane_layout(planes, tiles)
    records = make_tile_records(planes, tiles, lanes)
    limits = common_limits(devices, None)
    return WorkPlan(planes, tiles, lanes, records, pseudocount=pseudocount, limits=limits)


@pytest.mark.parametrize(
    ("levels", "dimensions", "n_classes", "expected"),
    [
        ((2,), 5, 2, (2, 8)),
        ((3,), 3, 2, (3, 8)),
        ((5,), 3, 4, (5, 8)),
        ((5,), 4, 2, (5, 32)),  # 625 cells
        ((6,), 2, 2, (0, 32)),
        ((2, 3), 3, 2, (0, 32)),
    ],
)
def test_tuples_of_few_cells_share_a_warp(levels, dimensions, n_classes, expected):
    planes, n_levels = problem(np.random.default_rng(0), n_samples=64, n_vars=30, levels=levels, n_classes=n_classes)
    plan = plan_of(planes, make_tuple_tiles(n_levels, n_vars=30, dimensions=dimensions, **TILE_SHAPE), H200)
    assert (plan.scored_levels, plan.threads_of_tuple) == expected


def test_shares_of_unlike_devices_make_up_the_whole():
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


def test_runs_are_scattered_without_overflow():
    for n in (1, 2, 3, 10, 1000, 2**31, 2**32 + 1, 8_700_000_000, 10**12):
        stride = scattering_stride(n)
        assert stride >= 1
        assert gcd(stride, n) == 1
        assert (n - 1) * stride < 2**63


@pytest.mark.parametrize(
    ("seconds", "n_found", "expected"),
    [
        (0.01, 0, 400),  # short, and few survive
        (0.01, 200, 200),  # short, but more than an eighth of the room is taken
        (0.09, 0, 200),
        (0.09, 300, 100),  # more than a fourth: as it is
        (0.2, 0, 100),
        (0.2, 501, 50),  # more than a half
        (1.0, 0, 20),  # five times as long as planned
        (50.0, 0, 1),
    ],
)
def test_launches_grow_and_shrink_with_their_time_and_survivors(seconds, n_found, expected):
    size = LaunchSize(100)
    size.finished(seconds, n_found=n_found, capacity=1000)
    assert size.value == expected


def test_a_launch_whose_survivors_do_not_fit_is_divided_until_it_is_one_item():
    size = LaunchSize(0)
    assert size.value == 1
    size.finished(LAUNCH_SECONDS / 10, n_found=0, capacity=8)
    size.overflowed(3)  # the last launch of a work may be smaller than planned
    assert size.value == 1
    size.overflowed(1)
    assert size.value == 1


def test_what_devices_cannot_do_well_is_refused_before_any_work():
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
def test_tolerance_covers_sums_of_logarithms(n_classes, n_samples):
    """Informations are sums of x·log2(x) in float32, with logarithms that are off by two units in the last place."""
    rng = np.random.default_rng(n_classes)
    n_prime = n_samples + 16 * 0.25 * n_classes
    tolerance = sum_tolerance(n_prime, n_classes)
    f32 = np.float32

    def x_log_x(x):
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


def test_candidates_merge_like_offers():
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
    slot = row * n_groups + group
    order = np.lexsort([tuples[:, 1], tuples[:, 0], -gain, slot])
    # Of each slot the largest gain, and of these the lowest tuple.
    chosen = order[np.r_[True, np.diff(slot[order]) > 0]]
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


def test_tables_give_the_gains_of_the_cpu_engine():
    rng = np.random.default_rng(4)
    planes, n_levels = problem(rng, n_samples=300, n_vars=5, levels=(2, 3), n_classes=3, rare=True)
    tiles = make_tuple_tiles(n_levels, n_vars=5, dimensions=1)
    tables = make_information_tables(planes, tiles, 0.25)
    found = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
    classes = list(zip(*class_words(planes), strict=True))
    for v in range(5):
        ones = [
            [int.from_bytes(planes.words[p, a:b].tobytes()).bit_count() for a, b in classes]
            for p in range(planes.plane_start[v], planes.plane_start[v + 1])
        ]
        cells = np.array([planes.class_sizes - np.sum(ones, axis=0), *ones])

        def information(counts, multiplicity):
            start = tables.start[multiplicity]
            parts = [tables.values[start[q] + counts[q]] for q in range(3)]
            return int(sum(parts) - tables.values[start[3] + counts.sum()])

        whole = sum(information(cell, 0) for cell in cells)
        merged = information(cells.sum(axis=0), int(tables.multiplicity_of_levels[n_levels[v]]))
        assert (whole - merged) * tables.unit == found.gain[v]


def class_words(planes):
    return planes.class_word_start[:-1], planes.class_word_start[1:]


@pytest.mark.parametrize(("n_cells", "row_levels", "column_levels"), [(3, 3, 3), (27, 3, 3), (25, 5, 5), (58, 4, 4)])
@pytest.mark.parametrize("pseudocount", [0.25, 0.001, 30.0])
def test_tolerance_covers_informations_of_many_cells(n_cells, row_levels, column_levels, pseudocount):
    """F(prefix, m) as prefix_counts.cuh sums it up, with logarithms and reciprocals as far off as they may be."""
    rng = np.random.default_rng([n_cells, row_levels])
    f32, n_samples = np.float32, 6000
    pseudo = row_levels * pseudocount
    worst = 0.0  # of what is allowed
    for spread, telling in [(0.05, 0.02), (1.0, 0.02), (0.05, 1.0), (1.0, 30.0)] * 50:
        sizes = rng.multinomial(n_samples, rng.dirichlet(np.full(n_cells * column_levels, spread)))
        # By the prefix alone the decision is nearly known, or hardly at all.
        of_0 = rng.binomial(sizes, np.repeat(rng.beta(telling, telling, n_cells), column_levels))
        counts = np.stack([of_0, sizes - of_0]).reshape(2, n_cells, column_levels)
        if counts.sum(axis=(1, 2)).min() == 0:
            continue
        shares = counts.sum(axis=(1, 2)) / n_samples
        x = counts + pseudo * shares[:, np.newaxis, np.newaxis] / shares.min()
        exact = (x * np.log2(x / (x.sum(axis=0) * shares[:, np.newaxis, np.newaxis]))).sum()
        for sign in (-1, 1):
            inverse = (1 / x.sum(axis=0)).astype(f32) * f32(1 + sign * 2.0**-23)
            ratio = (x.astype(f32) * inverse).astype(f32) * (1 / shares).astype(f32)[:, np.newaxis, np.newaxis]
            log = np.log2(ratio.astype(np.float64))
            log = (log + sign * 2.0**-22 * np.maximum(1, np.abs(log))).astype(f32)
            terms = (x[0].astype(f32) * log[0] + (x[1].astype(f32) * log[1]).astype(f32)).astype(f32)
            found = f32(0)
            for cell in terms:
                of_cell = f32(0)
                for term in cell:
                    of_cell = f32(of_cell + term)
                found = f32(found + of_cell)
            n_prime = float(x.sum())
            tolerance = ratio_tolerance(n_prime) + rounding_tolerance(n_prime, n_cells * row_levels * column_levels)
            worst = max(worst, abs(float(found) - exact) / tolerance)
    assert worst < 0.5  # that of the tuple itself comes to it
