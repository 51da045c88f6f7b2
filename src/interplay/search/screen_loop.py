"""The loop over tiles of a search that lists tuples: all of them or a shard, in one go or kept in a checkpoint."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from interplay.base.arrays import BitPlanes, FloatArray, IntArray, MaxGains, TupleTiles
from interplay.base.progress import ShowDone
from interplay.engines.searcher_counts import add_counts
from interplay.engines.tables import count_tables
from interplay.engines.tile_chunks import screen_in_chunks
from interplay.search.checkpoint import SearchState
from interplay.search.loop import CHUNKS_BETWEEN_WRITES, TileLoop
from interplay.statistics.interaction.survivors import may_be_significant

#: What Ctrl-C can cost at most where there is no checkpoint.
CHUNK_SECONDS = 10.0


class ScreenLoop(TileLoop):
    """A TileLoop that lists the tuples whose interaction may be significant, instead of finding maxima.

    Engines list by the gains of the members. What is left is counted again, and kept if Kirkwood's bound reaches the
    threshold of the fewest degrees of freedom that its counts allow: a function of the counts of one tuple, so that the
    list does not depend on engines, tiles or shards.

    Parameters
    ----------
    thresholds : (max_df + 1,) float64
        The G² that a tuple needs, by degrees of freedom.
    min_gain : (max_df + 1,) float64
        What engines ask of every member, see `Engine.screen_tiles`.
    max_listed : int
        More tuples are refused.
    """

    def __init__(
        self,
        *args: Any,
        thresholds: FloatArray,
        min_gain: FloatArray,
        max_listed: int,
        **options: Any,
    ) -> None:
        self._thresholds = thresholds
        self._min_gain = min_gain
        self._max_listed = max_listed
        super().__init__(*args, **options)

    def _fresh_state(self, state: SearchState) -> SearchState:
        n_members = self._searches[0].dimensions - self._has_stratum
        state.found, state.listed = [], np.empty((0, 1 + n_members), dtype=np.int64)
        return state

    @property
    def _has_stratum(self) -> bool:
        return self._searches[0].only_of_stratum is not None

    @property
    def listed(self) -> IntArray:
        """The discretisation and the members of each tuple so far, (n, 1 + k), sorted."""
        # An interrupt may have come between the tuples of a chunk and the note that it is done.
        return np.unique(self._rows, axis=0)

    @property
    def _rows(self) -> IntArray:
        rows = self._state.listed
        assert rows is not None
        return rows

    def _so_far(self) -> Any:
        return self.listed

    @property
    def found(self) -> tuple[MaxGains, ...]:
        return ()

    def _search_tiles(
        self, planes: BitPlanes, tiles: TupleTiles, left: IntArray, *, pseudocount: float, show: ShowDone | None
    ) -> None:
        state, checkpoint, before = self._state, self._checkpoint, self._n_done
        first = self._span[state.at][0]
        chunks = screen_in_chunks(
            self.engine,
            planes,
            tiles,
            seconds=CHUNK_SECONDS if checkpoint is None else checkpoint.seconds / CHUNKS_BETWEEN_WRITES,
            pseudocount=pseudocount,
            min_gain=self._min_gain,
            on_progress=None if show is None else partial(_show_after, show, before),
        )
        then = time.monotonic()
        for chunk in chunks:
            self._add(planes, state.at[0], chunk.rows.tuples.astype(np.int64))
            state.done[left[chunk.begin : chunk.end] - first] = True
            add_counts(state.searched, chunk.searched)
            self._n_done += float(tiles.n_tuples[chunk.begin : chunk.end].sum())
            if checkpoint is not None:
                now = time.monotonic()
                checkpoint.write_if_due(next_in=now - then)
                then = now

    def _add(self, planes: BitPlanes, d: int, tuples: IntArray) -> None:
        """Keep those of an engine's tuples that may be significant."""
        kept = tuples
        if self._thresholds[1:].max() > 0:
            may_be = np.zeros(len(tuples), dtype=bool)
            for places, tables in count_tables(planes, tuples):
                may_be[places] = may_be_significant(tables, self._thresholds, strata=self._has_stratum)
            kept = tuples[may_be]
        if self._has_stratum:
            kept = kept[:, 1:] - 1
        rows = np.column_stack([np.full(len(kept), d, dtype=np.int64), kept])
        self._state.listed = np.concatenate([self._rows, rows])
        if len(self._rows) > self._max_listed:
            raise ValueError(
                f"more than {self._max_listed} tuples may be significant at max_p: lower max_p, or look at fewer "
                "variables"
            )


def _show_after(show: ShowDone, before: float, done: int, found: MaxGains | None = None, /) -> None:
    show(before + done)
