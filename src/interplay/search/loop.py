"""The loop over discretisations and tiles: all of them or a shard, in one go or kept in a checkpoint."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from interplay.base.arrays import BitPlanes, FloatArray, IntArray, MaxGains, TupleTiles
from interplay.base.checks import check_int, shown
from interplay.base.progress import N_FINDS_SHOWN, ShowDone
from interplay.engines.base import Engine, SearchInterrupted, TileShape
from interplay.engines.searcher_counts import SearcherCounts, add_counts
from interplay.engines.tile_chunks import search_in_chunks, summed
from interplay.search.checkpoint import Checkpoint, SearchState, kept_at_interrupt

#: Far more than there are tiles to share out.
MAX_SHARDS = 10**6

#: Chunks of a kept search take this share of the time between two writes: few enough that threads seldom wait for
#: each other at the end of one, and enough that the clock is looked at in time.
CHUNKS_BETWEEN_WRITES = 4


@dataclass(frozen=True)
class Shard:
    """One of several parts of equal cost; `number` counts from 1 to `of`."""

    number: int
    of: int

    def __post_init__(self) -> None:
        of = check_int("the number of shards", self.of, low=1, high=MAX_SHARDS)
        vars(self).update(number=check_int("the number of the shard", self.number, low=1, high=of), of=of)

    @classmethod
    def parse(cls, shard: Any) -> Shard:
        """Read "3/64" or (3, 64).

        Examples
        --------
        >>> Shard.parse("3/64")
        Shard(number=3, of=64)
        """
        parts = shard.split("/") if isinstance(shard, str) else shard
        try:
            number, of = (int(part) if isinstance(part, str) else part for part in parts)
        except (TypeError, ValueError):
            raise ValueError(
                f"shard must be like '3/64' or (3, 64), the third of 64 parts, not {shown(shard)}"
            ) from None
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class TileLoop:
    """What of a search is to be done here, what is done, and what was found.

    The work is a line: the first discretisation with all its lists of tiles, the second, and so on. A shard is a
    stretch of that line, so that it needs the planes of few discretisations.

    Parameters
    ----------
    engine : Engine
    searches : list of TupleTiles
        The lists of tiles to search for each discretisation.
    discretizations : int
    nothing : list of MaxGains
        What each list starts from.
    names : list of str
        Of the real variables, to tell of the best.
    shapes : list of TileShape
        How the tiles were cut.
    shard : Shard, optional
        Do only this part.
    costs : callable
        Returns about what the tiles of a list cost, (n_tiles,) float64.
    checkpoint : Checkpoint, optional
        Where to keep the state, under `name`.
    """

    def __init__(
        self,
        engine: Engine,
        searches: Sequence[TupleTiles],
        discretizations: int,
        nothing: Sequence[MaxGains],
        *,
        names: Sequence[str],
        shapes: Sequence[TileShape],
        costs: Callable[[TupleTiles], FloatArray],
        shard: Shard | None = None,
        checkpoint: Checkpoint | None = None,
        name: str = "",
    ) -> None:
        self.engine = engine
        self._names = names
        self._searches = searches
        self._checkpoint = checkpoint
        self._places = [(d, i) for d in range(discretizations) for i in range(len(searches))]
        self._before = [summed(tiles.n_tuples) for tiles in searches]
        spans, total_cost = self._spans(shard, costs)
        self._span = dict(zip(self._places, spans, strict=True))
        self.n_tuples = float(sum(self._tuples_at(place) for place in self._places))
        # Nobody else has to know how a search that is neither kept nor shared out is cut.
        layout = _layout(searches, total_cost) if shard is not None or checkpoint is not None else ""
        fresh = self._fresh_state(SearchState(list(shapes), layout, (0, 0), self._none_done((0, 0)), list(nothing)))
        n_tiles = {place: end - begin for place, (begin, end) in self._span.items()}
        self._state = fresh if checkpoint is None else checkpoint.resume(name, fresh, n_tiles)
        self._n_done = self._tuples_before(self._state.at)
        self._has_begun = self._n_done > 0

    def _fresh_state(self, state: SearchState) -> SearchState:
        """Say what a search starts from."""
        return state

    @property
    def found(self) -> tuple[MaxGains, ...]:
        """The maxima so far, one for each list of tiles, of the variables alone where there is a stratum."""
        found = zip(self._state.found, self._searches, strict=True)
        return tuple(gains.without_stratum(tiles) for gains, tiles in found)

    @property
    def searched(self) -> SearcherCounts:
        """Tiles and tuples done so far, by who searched them."""
        return self._state.searched

    @property
    def layout(self) -> str:
        """Tells this way of cutting the search from others; shards of one search agree in it."""
        return self._state.layout

    def tiles_at(self, d: int, i: int = 0) -> TupleTiles:
        """Return the tiles of list `i` that are to be done here for discretisation `d`, done or not."""
        begin, end = self._span[d, i]
        tiles = self._searches[i]
        return tiles if end - begin == len(tiles) else tiles[begin:end]

    def _finds(self, found: MaxGains) -> list[tuple[str, float]]:
        """Return the variables with the largest gains so far, and these gains."""
        gain = found.without_stratum(self._searches[0]).gain
        best = np.argsort(-gain, kind="stable")[:N_FINDS_SHOWN]
        return [(self._names[v], float(gain[v])) for v in best if np.isfinite(gain[v])]

    def has_work(self, d: int) -> bool:
        """Say whether anything of a discretisation is left to do here."""
        return any(len(self._left(place)) for place in self._places if place[0] == d)

    def search(self, planes: BitPlanes, d: int, i: int, *, pseudocount: float, show: ShowDone | None) -> None:
        """Search what is left of list `i` for discretisation `d`."""
        left = self._left((d, i))
        if not len(left):
            return
        state = self._state
        if state.at != (d, i):
            state.at, state.done = (d, i), self._none_done((d, i))
        everything = len(left) == len(self._searches[i])
        tiles = self._searches[i] if everything else self._searches[i][left]
        before = self._n_done
        self._has_begun = True
        self._search_tiles(planes, tiles, left, pseudocount=pseudocount, show=show)
        state.done[:] = True
        self._n_done = before + float(tiles.n_tuples.sum())

    def _search_tiles(
        self, planes: BitPlanes, tiles: TupleTiles, left: IntArray, *, pseudocount: float, show: ShowDone | None
    ) -> None:
        """Search the tiles that are left at the present place, which have these numbers."""
        state, before = self._state, self._n_done
        d, i = state.at
        finds = None if i == 0 else state.found[0]  # what is alone is of less interest
        on_progress = None if show is None else partial(_show_after, show, before, self._finds, finds)
        try:
            if self._checkpoint is None:
                state.found[i] = self.engine.max_gains(
                    planes,
                    tiles,
                    pseudocount=pseudocount,
                    discretization=d,
                    known=state.found[i],
                    on_progress=on_progress,
                    searched=state.searched,
                )
            else:
                self._search_and_keep(
                    self._checkpoint, planes, tiles, left, pseudocount=pseudocount, on_progress=on_progress
                )
        except SearchInterrupted as interrupt:
            # What was found in tiles that are not done is a help to the pruning, and no harm.
            state.found[i] = interrupt.partial
            self._n_done = before + interrupt.done * float(tiles.n_tuples.sum())
            raise

    def _search_and_keep(
        self,
        checkpoint: Checkpoint,
        planes: BitPlanes,
        tiles: TupleTiles,
        left: IntArray,
        *,
        pseudocount: float,
        on_progress: Any,
    ) -> None:
        state = self._state
        d, i = state.at
        first = self._span[d, i][0]
        chunks = search_in_chunks(
            self.engine,
            planes,
            tiles,
            seconds=checkpoint.seconds / CHUNKS_BETWEEN_WRITES,
            pseudocount=pseudocount,
            discretization=d,
            known=state.found[i],
            on_progress=on_progress,
        )
        then = time.monotonic()
        for begin, end, gains, searched in chunks:
            state.found[i] = gains
            state.done[left[begin:end] - first] = True
            add_counts(state.searched, searched)
            now = time.monotonic()
            checkpoint.write_if_due(next_in=now - then)
            then = now

    def stop(self, interrupt: KeyboardInterrupt) -> NoReturn:
        """Keep what was found before an interrupt, wherever it struck, and hand it over."""
        if not self._has_begun:
            raise interrupt
        kept_in, not_kept = kept_at_interrupt(self._checkpoint)
        done = max(self._n_done, self._tuples_before(self._state.at))
        raise SearchInterrupted(self._so_far(), float(done / self.n_tuples), kept_in, not_kept) from None

    def _so_far(self) -> Any:
        """What an interrupt hands over."""
        return self.found[0]

    def finish(self) -> None:
        """Take note that all is done."""
        self._state.at, self._state.done = (self._places[-1][0] + 1, 0), np.zeros(0, dtype=bool)

    def _spans(
        self, shard: Shard | None, costs: Callable[[TupleTiles], FloatArray]
    ) -> tuple[list[tuple[int, int]], float | None]:
        """First tile and end at each place: tiles that start, on the line of all costs, in the shard; its length."""
        if shard is None:
            return [(0, len(self._searches[i])) for _, i in self._places], None
        before = [summed(costs(tiles)) for tiles in self._searches]
        starts = []
        total = 0.0
        for _, i in self._places:
            starts.append(total + before[i][:-1])
            total += before[i][-1]
        low = total * ((shard.number - 1) / shard.of)
        high = total * (shard.number / shard.of) if shard.number < shard.of else np.inf
        spans = [(int(np.searchsorted(start, low)), int(np.searchsorted(start, high))) for start in starts]
        return spans, total

    def _tuples_at(self, place: tuple[int, int]) -> float:
        begin, end = self._span[place]
        return float(self._before[place[1]][end] - self._before[place[1]][begin])

    def _none_done(self, place: tuple[int, int]) -> Any:
        begin, end = self._span[place]
        return np.zeros(end - begin, dtype=bool)

    def _left(self, place: tuple[int, int]) -> IntArray:
        """Numbers of the tiles that are left to do."""
        begin, end = self._span[place]
        if place < self._state.at:
            return np.empty(0, dtype=np.int64)
        if place > self._state.at:
            return np.arange(begin, end)
        return begin + np.flatnonzero(~self._state.done)

    def _tuples_before(self, at: tuple[int, int]) -> float:
        """Count the tuples done before a place, and at it."""
        before = sum(self._tuples_at(place) for place in self._places if place < at)
        return before + self._tuples_done_at(at)

    def _tuples_done_at(self, place: tuple[int, int]) -> float:
        if place not in self._span:  # behind the last one: all is done
            return 0.0
        begin, end = self._span[place]
        return float(self._searches[place[1]].n_tuples[begin:end][self._state.done].sum())


def _show_after(
    show: ShowDone,
    before: float,
    best_finds: Callable[[MaxGains], list[tuple[str, float]]],
    known: MaxGains | None,
    done: int,
    found: MaxGains | None = None,
    /,
) -> None:
    """Show the progress of one search among others, with its finds or those already known."""
    best = found if known is None else known
    show(before + done, None if best is None else partial(best_finds, best))


def _layout(searches: Sequence[TupleTiles], total_cost: float | None) -> str:
    """Tell one way of cutting from another, without hashing up to a hundred million tiles: blocks decide them.

    Shards are stretches of the line of costs, so that what the tiles cost belongs to the way shards are cut.
    """
    digest = hashlib.blake2b(digest_size=16)
    if total_cost is not None:
        digest.update(np.float64(total_cost).tobytes())
    for tiles in searches:
        for array in (tiles.order, tiles.block_start, tiles.middle_start, tiles.lane_start, tiles.partner_cells):
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(len(tiles).to_bytes(8, "little"))
    return digest.hexdigest()
