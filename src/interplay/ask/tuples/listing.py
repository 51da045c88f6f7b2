"""Batches of rows → a table, a matrix, the best rows, or a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from interplay.ask.tuples.best_rows import BestRows
from interplay.ask.tuples.parquet_rows import ParquetRows
from interplay.ask.tuples.source import TupleSource
from interplay.ask.tuples.table import TuplesInterrupted, TupleTable, in_order
from interplay.base.arrays import FloatArray, TupleRows
from interplay.base.progress import show_progress

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
