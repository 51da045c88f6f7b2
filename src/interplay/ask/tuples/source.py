"""Bit planes of all discretisations + tiles → rows of tuples, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from interplay.ask.tuples.table import in_order
from interplay.base.arrays import BitPlanes, BoolArray, FloatArray, IntArray, TupleRows, TupleTiles
from interplay.base.progress import ShowDone, part
from interplay.search.engines.base import USUAL_TILES, Engine, TileShape
from interplay.search.engines.routing import tiles_of_tuples
from interplay.search.engines.sinks import TupleFormula
from interplay.search.tiles import make_tuple_tiles

#: Rows in a batch; a batch can be larger by what the threads have at hand.
BATCH_ROWS = 1_000_000

#: Rows that a tile should not exceed: each thread holds those of one tile.
_TILE_ROWS = 100_000

#: Tiles given to the engine at a time, from few to many, as long as they take less than these seconds: what is not yet
#: handed in is lost on Ctrl-C. The engine keeps a little memory for each.
_FEWEST_TILES, _MOST_TILES = 64, 50_000
_SECONDS_AT_A_TIME = 2.0

#: Means are taken of the tuples with a high maximum, one by one, where these are below this share of all.
_FEW_CANDIDATES = 0.05

#: The sample that the number of rows is estimated from: tiles of about this many tuples, as many of them.
_SAMPLE_TILE_TUPLES = 4_000
_SAMPLE_TILES = 48


@dataclass(frozen=True)
class TupleSource:
    """All that decides which rows there are.

    Attributes
    ----------
    planes : list of BitPlanes
        One per discretisation, all held at once (a bit per sample, variable and level); real variables only.
    dimensions : int
    asked_for, require
        As in `make_tuple_tiles`.
    pseudocount : float
    formula : TupleFormula or None
        None for the gains of the members.
    average : bool
        Take the mean over the discretisations, not the maximum.
    engine : Engine
        One that can list tuples.
    tiles_of_engine : bool
        Cut the tuples as the engine likes it. Otherwise the order of the rows, which come tile by tile, is the same for
        every engine.
    """

    planes: list[BitPlanes]
    dimensions: int
    asked_for: BoolArray | None
    require: str
    pseudocount: float
    formula: TupleFormula | None
    average: bool
    engine: Engine
    tiles_of_engine: bool = True

    @property
    def n_vars(self) -> int:
        return self.planes[0].n_vars

    def tiles(self, share: float) -> TupleTiles:
        """Cut the tuples into tiles, small enough where `share` of all rows is listed."""
        tiles = self._cut()
        most = float(tiles.n_tuples.max()) * self.dimensions * share if len(tiles) else 0.0
        return tiles if most <= _TILE_ROWS else self._cut(_TILE_ROWS / (self.dimensions * share))

    def _cut(self, max_tuples: float | None = None) -> TupleTiles:
        shape = self.engine.tile_shape(self.dimensions) if self.tiles_of_engine else USUAL_TILES
        if max_tuples is not None:
            # Wide lanes keep their use; the other places share what is left.
            n_lanes = min(256, max(int(max_tuples ** (1 / self.dimensions)), int(max_tuples) // 16, 1))
            size = max(int((max_tuples / n_lanes) ** (1 / max(self.dimensions - 1, 1))), 1)
            shape = TileShape(block_size=size, middle_size=size, n_lanes=n_lanes)
        return make_tuple_tiles(
            self.planes[0].n_levels,
            n_vars=self.n_vars,
            dimensions=self.dimensions,
            asked_for=self.asked_for,
            require=self.require,
            **vars(shape),
        )

    def estimated_share(self, min_value: float) -> float:
        """Estimate which share of all rows exceeds a threshold, from a sample of tiles; never 0."""
        if min_value == -np.inf:
            return 1.0
        tiles = self._cut(_SAMPLE_TILE_TUPLES)
        rng = np.random.default_rng(0)
        n_sampled = min(_SAMPLE_TILES, len(tiles))
        sample = tiles[np.sort(rng.choice(len(tiles), n_sampled, replace=False))]
        n_found = sum(len(rows) for rows in self.batches(sample, np.full(self.n_vars, min_value)))
        return float((n_found + 1) / (sample.n_tuples.sum() * self.dimensions + 1))

    def batches(self, tiles: TupleTiles, thresholds: FloatArray, show: ShowDone | None = None) -> Iterator[TupleRows]:
        """List the rows above the thresholds of their variables, tile by tile, a bounded number at a time.

        The tiles come in their order and each is sorted by tuple and variable, so the rows do not depend on threads.
        `thresholds` (n_vars,) may be raised in place between two batches; what is then left out depends on where
        batches end, so the caller must not need those rows.
        """
        done = 0
        number = _FEWEST_TILES
        while done < len(tiles):
            before = len(self.planes) * float(tiles.tuples_before[done])
            started = time.perf_counter()
            batch = self._batch(tiles[done : done + number], thresholds, show, before)
            quick = time.perf_counter() - started < _SECONDS_AT_A_TIME
            number = min(2 * number, _MOST_TILES) if quick else max(number // 2, _FEWEST_TILES)
            done += len(batch.rows_of_tile)
            yield batch

    def _batch(self, tiles: TupleTiles, thresholds: FloatArray, show: ShowDone | None, before: float) -> TupleRows:
        """Return the first tiles' rows, over all discretisations."""
        if not self.average:
            return self._combined(tiles, thresholds, show, before)
        if self.formula is None and np.isfinite(thresholds).all():
            # A mean is not above the maximum. (Less what rounding could make of that.)
            maxima = replace(self, average=False)._combined(tiles, thresholds - 1e-9 * abs(thresholds), show, before)
            tiles, show = tiles[: len(maxima.rows_of_tile)], None
            if len(maxima) < _FEW_CANDIDATES * tiles.n_tuples.sum():
                return self._means_of(maxima, thresholds, tiles)
        # All of a tuple's values are needed for their mean.
        batch = self._combined(tiles, np.full_like(thresholds, -np.inf), show, before)
        return _kept(batch, batch.value > thresholds[batch.variable])

    def _means_of(self, candidates: TupleRows, thresholds: FloatArray, of_all: TupleTiles) -> TupleRows:
        """Return the rows of the candidates' tuples, some of the tiles `of_all`, whose mean exceeds the threshold."""
        is_first = np.ones(len(candidates), dtype=bool)
        is_first[1:] = (candidates.tuples[1:] != candidates.tuples[:-1]).any(axis=1)
        tuples = np.ascontiguousarray(candidates.tuples[is_first])
        tiles = tiles_of_tuples(tuples, of_all, n_rows=self.n_vars)
        parts = [TupleRows.none(self.dimensions)]
        for begin in range(0, len(tiles), _MOST_TILES):
            parts.append(self._combined(tiles[begin : begin + _MOST_TILES], np.full_like(thresholds, -np.inf), None, 0))
        per_tile = np.bincount(_tile_of_row(candidates)[is_first], minlength=len(candidates.rows_of_tile))
        rows = replace(TupleRows.joined(parts), rows_of_tile=self.dimensions * per_tile)
        return _kept(rows, rows.value > thresholds[rows.variable])

    def _combined(self, tiles: TupleTiles, asked: FloatArray, show: ShowDone | None, before: float) -> TupleRows:
        """Return the maximum or the mean over the discretisations; for a mean, `asked` lists everything."""
        everything_or_nothing = bool(np.isinf(asked).all())
        batch = TupleRows.none(self.dimensions)
        for d, planes in enumerate(self.planes):
            rows = self.engine.interesting_tuples(
                planes,
                tiles,
                pseudocount=self.pseudocount,
                min_value=asked,
                formula=self.formula,
                max_rows=BATCH_ROWS,
                on_progress=part(show, before),
            )
            tiles = tiles[: len(rows.rows_of_tile)]
            before += float(tiles.n_tuples.sum())
            if d == 0:
                batch = rows
            elif everything_or_nothing:  # the same rows every time
                batch = _first_tiles(batch, len(tiles))
                combine = np.add if self.average else np.maximum
                combine(batch.value, rows.value, out=batch.value)
            else:
                batch = _larger_of_both(_first_tiles(batch, len(tiles)), rows, self.n_vars)
        if self.average:
            batch.value[:] /= len(self.planes)
        return batch


def _first_tiles(rows: TupleRows, n_tiles: int) -> TupleRows:
    n = int(rows.rows_of_tile[:n_tiles].sum())
    return TupleRows(rows.tuples[:n], rows.variable[:n], rows.value[:n], rows.rows_of_tile[:n_tiles])


def _tile_of_row(rows: TupleRows) -> IntArray:
    return np.asarray(np.repeat(np.arange(len(rows.rows_of_tile)), rows.rows_of_tile))


def _kept(rows: TupleRows, which: BoolArray) -> TupleRows:
    if which.all():
        return rows
    per_tile = np.bincount(_tile_of_row(rows)[which], minlength=len(rows.rows_of_tile))
    return TupleRows(rows.tuples[which], rows.variable[which], rows.value[which], per_tile.astype(np.int64))


def _larger_of_both(a: TupleRows, b: TupleRows, n_vars: int) -> TupleRows:
    """Return the rows that are in either, with the larger value."""
    both = TupleRows.joined([a, b])
    tile = np.concatenate([_tile_of_row(a), _tile_of_row(b)])
    order = in_order(both.tuples, both.variable, n_vars)
    order = order[np.argsort(tile[order], kind="stable")]  # a tuple is in one tile, so equal rows stay together
    tuples, variable, value = both.tuples[order], both.variable[order], both.value[order]
    again = np.zeros(len(order), dtype=bool)
    again[1:] = (variable[1:] == variable[:-1]) & (tuples[1:] == tuples[:-1]).all(axis=1)
    second = np.flatnonzero(again)
    value[second - 1] = np.maximum(value[second - 1], value[second])
    per_tile = np.bincount(tile[order][~again], minlength=len(a.rows_of_tile)).astype(np.int64)
    return replace(both, tuples=tuples[~again], variable=variable[~again], value=value[~again], rows_of_tile=per_tile)
