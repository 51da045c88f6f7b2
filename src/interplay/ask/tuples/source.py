"""Bit planes of all discretisations + tiles → rows of tuples, batch by batch."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from interplay.ask.tuples.table import BestRows, ParquetRows, TuplesInterrupted, TupleTable, in_order
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.planes import BitPlanes
from interplay.base.progress import ShowDone, part, show_progress
from interplay.base.tuples import TupleRows, TupleTiles
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
    """All that decides which rows there are."""

    #: One per discretisation, all held at once (a bit per sample, variable and level); real variables only.
    planes: list[BitPlanes]
    dimensions: int
    #: `asked_for`, `require`: as in `make_tuple_tiles`.
    asked_for: BoolArray | None
    require: str
    pseudocount: float
    #: None for the gains of the members.
    formula: TupleFormula | None
    #: Take the mean over the discretisations, not the maximum.
    average: bool
    #: One that can list tuples.
    engine: Engine
    #: Cut the tuples as the engine likes it. Otherwise the order of the rows, which come tile by tile, is the same for
    #: every engine.
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


#: Up to this many rows in all there is nothing to estimate: the search itself is as quick.
_FEW_ROWS = 3_000_000

#: Rows are held once as they are found, and once sorted, with the order between.
_COPIES = 3


class Listing:
    """One pass through all tuples, and what is known of it before it starts.

    Attributes
    ----------
    expected_rows : float
        Exact where everything is listed, else estimated.
    done : float
        Share of the tuples that were looked at so far.
    thresholds : (n_vars,) float64
        May be raised while the batches come.
    """

    def __init__(
        self,
        source: TupleSource,
        threshold: float,
        names: list[str],
        stat: str,
        progress: bool | None,
        *,
        keeps_few: bool = False,
    ) -> None:
        self.source = source
        self.names = names
        self.stat = stat
        self.thresholds = np.full(source.n_vars, threshold)
        self._progress = progress
        self._threshold = threshold
        self.tiles = source.tiles(0.0)
        self.done = 0.0
        all_rows = self._n_tuples * source.dimensions
        share = 1.0
        if all_rows > _FEW_ROWS and not keeps_few:
            share = source.estimated_share(threshold)
        self.expected_rows = all_rows * share
        self._is_exact = share == 1.0 and threshold == -np.inf
        # A mean may need all rows of a tile, whatever is kept of them.
        self.tiles = source.tiles(1.0 if source.average else share)

    @property
    def _n_tuples(self) -> float:
        return float(self.tiles.n_tuples.sum())

    @property
    def about(self) -> dict[str, Any]:
        """What a file should say of its rows."""
        return {
            "stat": self.stat,
            "dimensions": self.source.dimensions,
            "min_gain": None if self._threshold == -np.inf else self._threshold,
            "discretizations": len(self.source.planes),
            "average": self.source.average,
            "with_decision": self.source.formula is None or self.source.formula.with_decision,
            "pseudocount": self.source.pseudocount,
            "n_samples": self.source.planes[0].n_samples,
            "n_vars": self.source.n_vars,
        }

    @property
    def row_bytes(self) -> int:
        """Memory that a row takes until the table is ready."""
        return _COPIES * (4 * (self.source.dimensions + 1) + 8)

    def in_words(self, n_rows: float) -> str:
        about = "" if self._is_exact else "about "
        return f"{about}{n_rows:.3g} rows"

    def check_memory(self, max_memory: float, at_most: float = np.inf) -> None:
        """Refuse a table that would not fit, before the search starts."""
        n_rows = min(self.expected_rows, at_most)
        if n_rows * self.row_bytes > max_memory:
            raise ValueError(self._too_many(n_rows, max_memory))

    def _too_many(self, n_rows: float, max_memory: float) -> str:
        return (
            f"{self.in_words(n_rows)} would take {n_rows * self.row_bytes / 1e9:.3g} GB, more than max_memory="
            f"{max_memory:.3g}: write them with out='tuples.parquet', or raise min_gain or max_memory, or use top"
        )

    def batches(self, *, keeping: str = "") -> Iterator[TupleRows]:
        """Go through all tuples; the display says how many rows are to come, or what is kept of them."""
        n_tuples = self._n_tuples * len(self.source.planes)
        what = f"{self.source.dimensions}D, {n_tuples:.4g} tuples, {keeping or self.in_words(self.expected_rows)}"
        tiles_done = 0
        with show_progress(self._progress, n_tuples=n_tuples, what=what) as show:
            if show is not None:
                show(0.0)
            for batch in self.source.batches(self.tiles, self.thresholds, show):
                tiles_done += len(batch.rows_of_tile)
                yield batch
                self.done = float(self.tiles.n_tuples[:tiles_done].sum() / self._n_tuples)

    def checked_batches(self, max_memory: float) -> Iterator[TupleRows]:
        """Stop where the rows become more than fit, whatever was estimated."""
        n_rows = 0
        for batch in self.batches():
            n_rows += len(batch)
            yield batch
            if n_rows * self.row_bytes > max_memory and self.done < 1:
                self._is_exact = False
                raise ValueError(self._too_many(n_rows / max(self.done, 1e-9), max_memory))


def whole_table(listing: Listing, max_memory: float) -> TupleTable:
    """Return all rows by tuple, then variable."""
    parts = [TupleRows.none(listing.source.dimensions)]
    try:
        parts.extend(listing.checked_batches(max_memory))
    except KeyboardInterrupt:
        raise TuplesInterrupted(_sorted(parts, listing), listing.done) from None
    return _sorted(parts, listing)


def best_table(listing: Listing, number: int, *, by_variable: bool) -> TupleTable:
    """Return the best rows, best first, variable by variable or all together."""
    best = BestRows(
        number, by_variable=by_variable, dimensions=listing.source.dimensions, thresholds=listing.thresholds
    )
    try:
        for batch in listing.batches(keeping=f"keeping the best {number}" + by_variable * " of each variable"):
            best.add(batch)
    except KeyboardInterrupt:
        raise TuplesInterrupted(_as_table(best.rows, listing), listing.done) from None
    return _as_table(best.rows, listing)


def value_matrix(listing: Listing) -> FloatArray:
    """Return the values of all pairs as a matrix."""
    matrix = np.full((listing.source.n_vars, listing.source.n_vars), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for batch in listing.batches():
        other = batch.tuples.sum(axis=1) - batch.variable
        matrix[batch.variable, other] = batch.value
    return matrix


def write_parquet(listing: Listing, path: str | os.PathLike[str]) -> Path:
    """Write all rows to a file as they come."""
    file = ParquetRows(path, names=listing.names, dimensions=listing.source.dimensions, about=listing.about)
    try:
        with file:
            for batch in listing.batches():
                file.add(batch)
    except KeyboardInterrupt:
        partial = file.partial_path if file.not_kept is None else None
        raise TuplesInterrupted(partial, listing.done, file.not_kept) from None
    return Path(path)


def write_table(table: TupleTable, path: str | os.PathLike[str], *, about: dict[str, Any]) -> Path:
    """Write a table that is there already."""
    with ParquetRows(path, names=table.names, dimensions=table.tuples.shape[1], about=about) as file:
        file.add(TupleRows(table.tuples, table.variable, table.value, np.array([len(table)])))
    return Path(path)


def _as_table(rows: TupleRows, listing: Listing) -> TupleTable:
    return TupleTable(rows.tuples, rows.variable, rows.value, listing.names, listing.stat)


def _sorted(parts: list[TupleRows], listing: Listing) -> TupleTable:
    tuples = np.concatenate([part.tuples for part in parts])
    variable = np.concatenate([part.variable for part in parts])
    value = np.concatenate([part.value for part in parts])
    parts.clear()
    order = in_order(tuples, variable, listing.source.n_vars)
    return TupleTable(tuples[order], variable[order], value[order], listing.names, listing.stat)
