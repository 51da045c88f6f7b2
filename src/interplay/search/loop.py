"""The loop over discretisations and tiles: all of them or a shard, in one go or kept in a checkpoint."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, Protocol

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, shown
from interplay.base.planes import BitPlanes
from interplay.base.progress import N_FINDS_SHOWN, ShowDone, part
from interplay.base.tuples import MaxGains, TupleRows, TupleTiles, summed
from interplay.search.checkpoint import Checkpoint, SearchState, kept_at_interrupt
from interplay.search.engines.base import Engine, OnProgress, SearchInterrupted, TileShape
from interplay.search.engines.routing import SearcherCounts, add_counts
from interplay.search.engines.sinks import Maxima, Rows, Sink

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


class KeptTuples(Protocol):
    """Chooses the tuples that a loop keeps from the rows of its searches, where it does not look for maxima."""

    def sink(self, d: int) -> Rows:
        """Return the sink of a search of discretisation `d`."""
        ...

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the tuples that are kept of a chunk of discretisation `d`, members without the stratum, (n, k)."""
        ...

    def check(self, n_kept: int) -> None:
        """Refuse too many tuples."""
        ...


class TileLoop:
    """State of a search: the tiles to be searched here, the tiles that are done, and the finds.

    The work is a line: the first discretisation with all its lists of tiles, the second, and so on. A shard is a
    stretch of that line, so that it needs the planes of few discretisations.

    - `searches`: the lists of tiles to search for each discretisation.
    - `nothing`: maxima with which each list starts, in a search for maxima; none in others.
    - `kind`: the kind of the sinks, see `Sink`.
    - `names`: of the real variables, to show the best.
    - `shapes`: how the tiles were cut.
    - `shard`: do only this part.
    - `costs`: returns the estimated costs of the tiles of a list, (n_tiles,) float64.
    - `checkpoint`: where to keep the state, under `name`.
    """

    def __init__(
        self,
        engine: Engine,
        searches: Sequence[TupleTiles],
        discretizations: int,
        nothing: Sequence[MaxGains],
        *,
        kind: str,
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
        spans, total_cost = self._spans(shard, costs)
        self._span = dict(zip(self._places, spans, strict=True))
        self.n_tuples = float(sum(self._tuples_at(place) for place in self._places))
        # The layout of a search that is neither kept nor sharded is compared with no other.
        layout = _layout(searches, total_cost) if shard is not None or checkpoint is not None else ""
        fresh = SearchState(list(shapes), layout, (0, 0), self._none_done((0, 0)), list(nothing))
        if kind != Maxima.kind:
            n_members = searches[0].dimensions - (searches[0].only_of_stratum is not None)
            fresh.listed = np.empty((0, 1 + n_members), dtype=np.int64)
        n_tiles = {place: end - begin for place, (begin, end) in self._span.items()}
        self._state = fresh if checkpoint is None else checkpoint.resume(name, fresh, n_tiles)
        self._n_done = self._tuples_before(self._state.at)
        self._has_begun = self._n_done > 0

    @property
    def found(self) -> tuple[MaxGains, ...]:
        """The maxima so far, one for each list of tiles, of the variables alone where there is a stratum.

        None where tuples are kept.
        """
        found = zip(self._state.found, self._searches, strict=self._state.listed is None)
        return tuple(gains.without_stratum(tiles) for gains, tiles in found)

    @property
    def listed(self) -> IntArray:
        """Of a search that keeps tuples, the discretisation and the members of each so far, (n, 1 + k), sorted."""
        assert self._state.listed is not None
        # An interrupt may have come between the tuples of a chunk and the note that it is done.
        return np.unique(self._state.listed, axis=0)

    @property
    def searched(self) -> SearcherCounts:
        """Tiles and tuples done so far, by searcher."""
        return self._state.searched

    @property
    def layout(self) -> str:
        """Hash of the way in which the search is cut into tiles; shards of one search agree in it."""
        return self._state.layout

    def tiles_at(self, d: int, i: int = 0) -> TupleTiles:
        """Return the tiles of list `i` that are to be done here for discretisation `d`, done or not."""
        begin, end = self._span[d, i]
        return self._searches[i][begin:end]

    def _finds(self, found: MaxGains) -> list[tuple[str, float]]:
        """Return the variables with the largest gains so far, and these gains."""
        gain = found.without_stratum(self._searches[0]).gain
        best = np.argsort(-gain, kind="stable")[:N_FINDS_SHOWN]
        return [(self._names[v], float(gain[v])) for v in best if np.isfinite(gain[v])]

    def has_work(self, d: int) -> bool:
        """Say whether anything of a discretisation is left to do here."""
        return any(len(self._left(place)) for place in self._places if place[0] == d)

    def search(
        self,
        planes: BitPlanes,
        d: int,
        i: int,
        *,
        pseudocount: float,
        show: ShowDone | None,
        keep: KeptTuples | None = None,
    ) -> None:
        """Search the tiles left of list `i` for discretisation `d`: for maxima, or for the tuples that `keep` keeps."""
        left = self._left((d, i))
        if not len(left):
            return
        state, checkpoint = self._state, self._checkpoint
        if state.at != (d, i):
            state.at, state.done = (d, i), self._none_done((d, i))
        everything = len(left) == len(self._searches[i])
        tiles = self._searches[i] if everything else self._searches[i][left]
        before, first, n_tuples = self._n_done, self._span[d, i][0], float(tiles.tuples_before[-1])
        self._has_begun = True
        sink: Sink = Maxima(state.found[i], d) if keep is None else keep.sink(d)
        chunks = self.engine.stream(
            planes,
            tiles,
            sink,
            pseudocount=pseudocount,
            seconds=sink.chunk_seconds if checkpoint is None else checkpoint.seconds / CHUNKS_BETWEEN_WRITES,
            on_progress=self._shown(show, sink),
        )
        then = time.monotonic()
        try:
            for begin, end, searched in chunks:
                self._take(sink, planes, keep)
                state.done[left[begin:end] - first] = True
                add_counts(state.searched, searched)
                if checkpoint is not None:
                    now = time.monotonic()
                    checkpoint.write_if_due(next_in=now - then)
                    then = now
        except SearchInterrupted as interrupt:
            if interrupt.partial is not None:
                # Finds in tiles that are not done help the pruning and do no harm.
                state.found[i] = interrupt.partial
            self._n_done = before + interrupt.done * n_tuples
            raise
        state.done[:] = True
        self._n_done = before + n_tuples

    def _take(self, sink: Sink, planes: BitPlanes, keep: KeptTuples | None) -> None:
        """Take the finds of a chunk from the sink into the state."""
        state, (d, i) = self._state, self._state.at
        if isinstance(sink, Maxima):
            state.found[i] = sink.gains
        else:
            assert isinstance(sink, Rows)
            assert keep is not None
            assert state.listed is not None
            tuples = keep.kept(planes, sink.rows, d, has_stratum=self._searches[i].only_of_stratum is not None)
            rows = np.column_stack([np.full(len(tuples), d, dtype=np.int64), tuples])
            state.listed = np.concatenate([state.listed, rows])
            keep.check(len(state.listed))

    def _shown(self, show: ShowDone | None, sink: Sink) -> OnProgress | None:
        """Return a function that shows progress and best finds: of tuples, also while variables alone are searched."""
        told = part(show, self._n_done)
        if told is None:
            return None
        of_tuples = self._state.found[0] if self._state.at[1] else None

        def tell(done: float) -> None:
            best = sink.so_far() if of_tuples is None else of_tuples
            told(done, None if best is None else partial(self._finds, best))

        return tell

    def stop(self, interrupt: KeyboardInterrupt) -> NoReturn:
        """Keep the finds before an interrupt, wherever it was raised, and raise it again with them."""
        if not self._has_begun:
            raise interrupt
        kept_in, not_kept = kept_at_interrupt(self._checkpoint)
        done = max(self._n_done, self._tuples_before(self._state.at))
        so_far = self.found[0] if self._state.listed is None else self.listed
        raise SearchInterrupted(so_far, float(done / self.n_tuples), kept_in, not_kept) from None

    def finish(self) -> None:
        """Take note that all is done."""
        self._state.at, self._state.done = (self._places[-1][0] + 1, 0), np.zeros(0, dtype=bool)

    def _spans(
        self, shard: Shard | None, costs: Callable[[TupleTiles], FloatArray]
    ) -> tuple[list[tuple[int, int]], float | None]:
        """Return first tile and end at each place, of tiles that start in the shard's stretch; and the total cost."""
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
        before, (begin, end) = self._searches[place[1]].tuples_before, self._span[place]
        return float(before[end] - before[begin])

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
        if at not in self._span:  # behind the last one: all is done
            return before
        begin, end = self._span[at]
        return before + float(self._searches[at[1]].n_tuples[begin:end][self._state.done].sum())


def _layout(searches: Sequence[TupleTiles], total_cost: float | None) -> str:
    """Return a hash of the blocks, which decide the tiles: there may be a hundred million of these.

    Shards are stretches of the line of costs, so that the total cost is hashed, too.
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
