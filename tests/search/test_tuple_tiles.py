"""Tiles hold every tuple once, and nothing else."""

from itertools import combinations, pairwise, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.search.tiles import make_tuple_tiles


def listed(tiles):
    """Spell out the tuples of all tiles, by the definition of a tile."""
    place = {row: i for i, row in enumerate(tiles.order.tolist())}

    def members(start, block):
        return tiles.order[start[block] : start[block + 1]].tolist()

    found = []
    k = tiles.dimensions
    starts = [tiles.block_start] * (k - 2) + [tiles.middle_start] * (k > 1) + [tiles.lane_start]
    for tile, n_tuples in zip(tiles.tiles.tolist(), tiles.n_tuples, strict=True):
        choices = [members(start, block) for start, block in zip(starts, tile, strict=True)]
        ascending = [t for t in product(*choices) if all(place[a] < place[b] for a, b in pairwise(t))]
        assert len(ascending) == n_tuples > 0
        found += [tuple(sorted(t)) for t in ascending]
    return found


@given(
    n_vars=st.integers(1, 9),
    n_contrast=st.integers(0, 4),
    dimensions=st.integers(1, 4),
    block_size=st.integers(1, 5),
    middle_size=st.integers(1, 6),
    n_lanes=st.integers(1, 7),
    require=st.sampled_from(["any", "all", None]),
    seed=st.integers(0, 1000),
)
def test_every_tuple_once(n_vars, n_contrast, dimensions, block_size, middle_size, n_lanes, require, seed):
    rng = np.random.default_rng(seed)
    n_levels = rng.integers(2, 4, n_vars + n_contrast)
    asked_for = None if require is None else rng.random(n_vars) < 0.5
    tiles = make_tuple_tiles(
        n_levels,
        n_vars=n_vars,
        dimensions=dimensions,
        asked_for=asked_for,
        require=require or "any",
        block_size=block_size,
        middle_size=middle_size,
        n_lanes=n_lanes,
    )

    def admitted(real):
        inside = [asked_for is None or bool(asked_for[v]) for v in real]
        return not inside or (all(inside) if require == "all" else any(inside))

    expected = [real for real in combinations(range(n_vars), dimensions) if admitted(real)]
    expected += [
        (*real, n_vars + j)
        for real in combinations(range(n_vars), dimensions - 1)
        if admitted(real)
        for j in range(n_contrast)
    ]
    assert sorted(listed(tiles)) == sorted(expected)
    cells = {int(np.prod(n_levels[list(t)])) // int(n_levels[v]) for t in expected for v in t}
    assert tiles.partner_cells.tolist() == sorted(cells)


@pytest.mark.parametrize(("n_vars", "dimensions"), [(100_000, 2), (1_000_000, 2), (10_000, 3), (500, 5), (30, 12)])
def test_large_searches_have_a_list_of_tiles_that_fits(n_vars, dimensions):
    tiles = make_tuple_tiles(np.full(n_vars, 2), n_vars=n_vars, dimensions=dimensions)
    assert len(tiles) <= 1_000_000
    assert tiles.n_tuples.sum() == pytest.approx(comb(n_vars, dimensions), rel=1e-9)


def test_blocks_do_not_outgrow_the_tables_over_them():
    for size in (16, 26):  # no power of two
        tiles = make_tuple_tiles(np.full(1300, 2), n_vars=1300, dimensions=5, block_size=size)
        assert np.diff(tiles.block_start).max() ** 3 <= 2**15


def test_hopeless_searches_are_refused():
    with pytest.raises(ValueError, match="dimensions=4 over 200000 variables is"):
        make_tuple_tiles(np.full(200_000, 2), n_vars=200_000, dimensions=4)


def test_some_of_the_tiles():
    tiles = make_tuple_tiles(np.full(20, 2), n_vars=20, dimensions=2, block_size=3, n_lanes=7)
    parts = listed(tiles[: len(tiles) // 2]) + listed(tiles[len(tiles) // 2 :])
    assert sorted(parts) == sorted(listed(tiles))
