"""Tiles in their order → chunks to be listed one by one, or by several devices; and their rows in order again."""

from __future__ import annotations

import threading

import numpy as np

from interplay.base.arrays import FloatArray, TupleRows, summed
from interplay.search.engines.tile_chunks import end_of_chunk

#: Rows of a chunk at most, even if more are asked for: they are sorted on the device.
_MAX_ROWS = 1 << 22

#: A chunk may have this many times the tuples of the largest before it: a first guess of the rows may be wrong.
_MAX_GROWTH = 8.0

#: Near the end a chunk is still sized for this share of the rows asked for; surplus rows are thrown away.
_LAST_SHARE = 1 / 16


class ListingChunks:
    """Hands out the tiles in order, as many at a time as should have a fitting number of rows.

    Where the rows become too many, no further tile is taken: after the tile with the row number `max_rows`, as one
    thread of the CPU engine has it.

    Parameters
    ----------
    n_tuples : (n_tiles,) float64
    dimensions : int
    max_rows : int, optional
    n_workers : int
        Threads that take chunks.
    """

    def __init__(self, n_tuples: FloatArray, dimensions: int, max_rows: int | None, n_workers: int = 1) -> None:
        self._before = summed(n_tuples)
        self._dimensions = dimensions
        self._max_rows = max_rows
        self._n_workers = n_workers
        self._wanted = _MAX_ROWS if max_rows is None else min(max_rows, _MAX_ROWS)
        self._next_tile = 0
        self._again: list[tuple[int, int]] = []
        self._parts: dict[int, TupleRows] = {}
        self._tuples_seen = self._largest = 0.0
        self._rows_seen = 0
        self._lock = threading.Lock()

    @property
    def most_rows(self) -> int:
        """A chunk of several tiles with more rows should be put back."""
        return 2 * self._wanted

    def take(self) -> tuple[int, int] | None:
        """Return the first tile and the end of the next chunk; None where no chunk is left."""
        with self._lock:
            if self._is_full():
                return None
            if self._again:
                return self._again.pop()
            begin = self._next_tile
            if begin == len(self._before) - 1:
                return None
            self._next_tile = end_of_chunk(self._before, begin, self._fitting_tuples())
            return begin, self._next_tile

    def put_back(self, begin: int, end: int) -> None:
        """Take back a chunk that has too many rows, to hand it out in two parts."""
        middle = (begin + end) // 2
        with self._lock:
            self._again += [(middle, end), (begin, middle)]  # the first part first
            self._largest = float(self._before[middle] - self._before[begin])

    def hand_in(self, begin: int, rows: TupleRows) -> None:
        """Take the rows of the chunk that starts at tile `begin`."""
        with self._lock:
            self._parts[begin] = rows
            n_tuples = float(self._before[begin + len(rows.rows_of_tile)] - self._before[begin])
            self._tuples_seen += n_tuples
            self._rows_seen += len(rows)
            self._largest = max(self._largest, n_tuples)

    def rows(self) -> TupleRows:
        """Return the rows of all tiles done, up to the first that is not done or has the last row asked for."""
        parts = [TupleRows.none(self._dimensions), *self._in_order()]
        rows_of_tile = np.concatenate([part.rows_of_tile for part in parts])
        n_tiles, n_rows = len(rows_of_tile), int(rows_of_tile.sum())
        if self._max_rows is not None and n_rows >= self._max_rows:
            n_tiles = int(np.searchsorted(np.cumsum(rows_of_tile), self._max_rows)) + 1
            n_rows = int(rows_of_tile[:n_tiles].sum())
        return TupleRows(
            tuples=np.concatenate([part.tuples for part in parts])[:n_rows],
            variable=np.concatenate([part.variable for part in parts])[:n_rows],
            value=np.concatenate([part.value for part in parts])[:n_rows],
            rows_of_tile=rows_of_tile[:n_tiles],
        )

    def _in_order(self) -> list[TupleRows]:
        """Return the parts that follow each other without a gap, from the first tile on."""
        found, at = [], 0
        while at in self._parts:
            found.append(self._parts[at])
            at += len(found[-1].rows_of_tile)
        return found

    def _is_full(self) -> bool:
        return self._max_rows is not None and sum(len(part) for part in self._in_order()) >= self._max_rows

    def _fitting_tuples(self) -> float:
        left = float(self._before[-1] - self._before[self._next_tile])
        even_share = left / (2 * self._n_workers) if self._n_workers > 1 else left
        wanted = float(self._wanted)
        if self._max_rows is not None:
            wanted = max(min(wanted, self._max_rows - self._rows_seen), _LAST_SHARE * wanted)
        if not self._tuples_seen:  # as if everything were listed
            return min(wanted / self._dimensions, even_share)
        fitting = wanted * self._tuples_seen / max(self._rows_seen, 1)
        return min(fitting, _MAX_GROWTH * self._largest, even_share)
