"""Which lane blocks a device holds: every tile finds its own, and blocks are brought seldom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.search.engines.cuda.device_planes import PlaneSlots
from interplay.search.tiles import make_tuple_tiles


def walk(blocks, n_slots, *, rounds=1):
    """Check that each stretch has its blocks, as a device would see it; return how many blocks were brought."""
    slots, content, n_brought = PlaneSlots(n_slots), {}, 0
    for _ in range(rounds):
        ended, coming = 0, None
        for stretch in slots.stretches(blocks):
            assert stretch.begin == ended < stretch.end
            if coming is not None:
                content[coming[1]] = coming[0]
            for block, slot in stretch.now:
                content[slot] = block
            assert set(np.unique(blocks[stretch.begin : stretch.end])) <= set(content.values())
            coming = stretch.ahead
            if coming is not None:
                # The slot is written while the stretch is searched.
                assert content.get(coming[1]) not in blocks[stretch.begin : stretch.end]
            assert all(0 <= slot < n_slots for slot in content)
            n_brought += len(stretch.now) + (coming is not None)
            ended = stretch.end
        assert ended == len(blocks)
        assert coming is None
    return n_brought


@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 7), min_size=k, max_size=k), min_size=1, max_size=40)
    ),
    st.integers(4, 9),
)
def test_every_stretch_has_its_blocks(tiles, n_slots):
    blocks = np.array(tiles, dtype=np.int64)
    walk(blocks, n_slots)
    walk(blocks, n_slots, rounds=3)


@pytest.mark.parametrize("n_slots", [3, 4, 8, 16])
def test_blocks_of_pairs_are_brought_seldom(n_slots):
    """The order of tiles suits any memory: a square of slots / 2 blocks a side costs as many blocks as it has sides."""
    n_levels = np.full(32 * 16, 3)
    tiles = make_tuple_tiles(
        n_levels, n_vars=len(n_levels), dimensions=2, block_size=4, middle_size=4, n_lanes=16, even=False
    )
    assert float(tiles.n_tuples.sum()) == len(n_levels) * (len(n_levels) - 1) / 2
    row_block = np.searchsorted(tiles.lane_start, tiles.middle_start[tiles.tiles[:, 0]], side="right") - 1
    blocks = np.column_stack([row_block, tiles.tiles[:, 1]]).astype(np.int64)
    n_pairs = 32 * 33 / 2
    assert walk(blocks, n_slots) <= 32 + 3 * n_pairs / n_slots
    # Row after row, as tiles are cut, nearly every tile of a row would bring a block.
    rows_first = blocks[np.lexsort((blocks[:, 1], blocks[:, 0]))]
    assert walk(rows_first, n_slots) > walk(blocks, n_slots)
