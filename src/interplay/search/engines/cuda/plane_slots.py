"""Which lane blocks lie on a device while its tiles are searched, where not all of them fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import IntArray


@dataclass(frozen=True)
class Stretch:
    """Tiles in a row that need no other lane blocks than the device holds.

    Attributes
    ----------
    begin, end : int
        The first tile, and the end.
    now : tuple of (int, int)
        Lane blocks to be brought before, and their slots.
    ahead : (int, int) or None
        The lane block that is missing next, if a slot that these tiles do not need is there for it.
    """

    begin: int
    end: int
    now: tuple[tuple[int, int], ...]
    ahead: tuple[int, int] | None


class PlaneSlots:
    """Slots for lane blocks; a block leaves its slot if no other is needed again later (Belady's rule).

    Tiles lie in an order in which neighbours share blocks at every scale (`make_tuple_tiles`), so that blocks are
    brought seldom, however few the slots are.

    Parameters
    ----------
    n_slots : int
        At least the blocks of one tile.

    Examples
    --------
    >>> tiles = np.array([[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]])
    >>> for stretch in PlaneSlots(3).stretches(tiles):
    ...     print(stretch.begin, stretch.end, stretch.now, stretch.ahead)
    0 1 ((0, 0),) (1, 1)
    1 3 () (2, 2)
    3 6 () None
    """

    def __init__(self, n_slots: int) -> None:
        self._slot_of: dict[int, int] = {}
        self._unused = list(range(n_slots))[::-1]

    def stretches(self, blocks: IntArray) -> Iterator[Stretch]:
        """Cut tiles into stretches.

        Parameters
        ----------
        blocks : (n_tiles, k) int64
            The lane blocks of each tile.
        """
        at = 0
        while at < len(blocks):
            now = []
            while (block := self._missing(blocks[at])) is not None:
                slot = self._slot_for(block, blocks, at, at)
                assert slot is not None, "fewer slots than a tile has lane blocks"
                now.append((block, slot))
            is_held = np.isin(blocks[at:], list(self._slot_of)).all(axis=1)
            end = len(blocks) if is_held.all() else at + int(is_held.argmin())
            ahead = None
            if end < len(blocks) and (block := self._missing(blocks[end])) is not None:
                slot = self._slot_for(block, blocks, at, end)
                ahead = None if slot is None else (block, slot)
            yield Stretch(at, end, tuple(now), ahead)
            at = end

    def _missing(self, needed: IntArray) -> int | None:
        return next((block for block in needed.tolist() if block not in self._slot_of), None)

    def _slot_for(self, block: int, blocks: IntArray, at: int, end: int) -> int | None:
        """Give a slot to a block that tile `end` needs, if tiles from `at` to `end` can spare one."""
        if self._unused:
            slot = self._unused.pop()
        else:
            spared = set(self._slot_of).difference(np.unique(blocks[at : end + 1]).tolist())
            if not spared:
                return None
            later = blocks[end + 1 :]
            next_use = {other: int(np.append((later == other).any(axis=1), True).argmax()) for other in spared}
            slot = self._slot_of.pop(max(spared, key=lambda other: (next_use[other], other)))
        self._slot_of[block] = slot
        return slot
