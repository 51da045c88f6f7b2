"""The protocol of engines, which every search and cluster task uses."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, NotRequired, TypeAlias, TypedDict, Unpack

from interplay.base.arrays import FloatArray
from interplay.base.planes import BitPlanes
from interplay.base.progress import part
from interplay.base.tuples import MaxGains, TupleRows, TupleTiles, summed
from interplay.search.engines.routing import ChunkSize, DoneChunk, SearcherCounts, end_of_chunk, tile_costs
from interplay.search.engines.sinks import Listing, Maxima, Screen, Sink, TupleFormula

#: Called now and then with the number of tuples done since the search began.
OnProgress: TypeAlias = Callable[[float], None]


class SearchOptions(TypedDict):
    """Arguments of a search beside planes, tiles and sink.

    Attributes
    ----------
    pseudocount : float
    on_progress : callable, optional
        Called now and then with the number of tuples done since the call began.
    searched : SearcherCounts, optional
        The tiles and tuples that each searcher took are added to these.
    """

    pseudocount: float
    on_progress: NotRequired[OnProgress | None]
    searched: NotRequired[SearcherCounts | None]


@dataclass(frozen=True)
class TileShape:
    """How `make_tuple_tiles` should cut the tuples; shapes change the speed, never the result."""

    #: `block_size`, `middle_size`, `n_lanes`: variables per small, middle and lane block; None for the usual number.
    block_size: int | None = None
    middle_size: int | None = None
    n_lanes: int | None = None
    #: Cut into blocks of even size, rather than into full blocks and a rest, and in the order that suits a processor.
    even: bool = True

    @classmethod
    def of(cls, shape: TileShape | Mapping[str, Any]) -> TileShape:
        """Return a shape, which a user's engine may give as a dict."""
        return shape if isinstance(shape, TileShape) else cls(**shape)


#: The shape that suits the processor.
USUAL_TILES = TileShape()


class Engine(ABC):
    """Bit planes and tiles in, finds out, into the sink of the search.

    Every engine finds the same bits: gains are sums of integers (see ``core/include/interplay/information_gain.hpp``)
    and ties go to the lowest discretisation and tuple. An engine has `search` and `describe`.

    Attributes
    ----------
    name : str
    kinds : frozenset of str
        The kinds of sinks that `search` takes: "maxima", "screen", "list". Nobody hands over another one.
    """

    name: str
    kinds: frozenset[str] = frozenset({Maxima.kind})

    @abstractmethod
    def search(self, planes: BitPlanes, tiles: TupleTiles, sink: Sink, **options: Unpack[SearchOptions]) -> None:
        """Search the tiles into the sink: all of them, or the first ones where the sink limits its rows.

        - `sink`: states the question (`Maxima`, `Screen`, `Listing`), and takes the finds.
        - `**options`: see `SearchOptions`.

        Raises
        ------
        SearchInterrupted
            On Ctrl-C, where the sink has finds of tiles that are not done; else KeyboardInterrupt.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the entries about the engine in the record of a run."""

    def tile_shape(self, dimensions: int) -> TileShape:
        """Return the shape of tiles that suits this engine, for tuples of this size."""
        return USUAL_TILES

    def begin(self, planes: BitPlanes, tiles: TupleTiles, *, kind: str, pseudocount: float) -> None:  # noqa: B027
        """Start slow preparations of a search of this kind in the background; the planes have no words yet.

        Called before columns are coded. Nothing depends on it, and a search may come without it or not at all.
        """

    def stream(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        sink: Sink,
        *,
        seconds: float = inf,
        **options: Unpack[SearchOptions],
    ) -> Iterator[DoneChunk]:
        """Search the tiles in chunks of about `seconds`; yield each when it is done, and the sink has its finds.

        Each chunk knows the finds of the chunks before, so that cutting costs no pruning. A sink of rows has the rows
        of the chunk that was yielded last.
        """
        before = tiles.tuples_before
        # Without a limit all tiles are one chunk, whatever they cost.
        cost_before = before if seconds == inf else summed(tile_costs(planes, tiles, options["pseudocount"]))
        size = ChunkSize(seconds, knows_costs=sink.knows_costs)
        begin = 0
        while begin < len(tiles):
            chunk = tiles[begin : min(end_of_chunk(cost_before, begin, size.cost), begin + sink.max_tiles)]
            started = time.perf_counter()
            searched: SearcherCounts = {}
            try:
                on_progress = part(options.get("on_progress"), float(before[begin]))
                self.search(planes, chunk, sink, **options | {"on_progress": on_progress, "searched": searched})
            except SearchInterrupted as interrupt:
                done = before[begin] + interrupt.done * chunk.n_tuples.sum()
                raise SearchInterrupted(interrupt.partial, float(done / before[-1])) from None
            end = begin + sink.n_done(chunk)
            size.learn(float(cost_before[end] - cost_before[begin]), time.perf_counter() - started)
            yield DoneChunk(begin, end, searched)
            begin = end

    def max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        known: MaxGains | None = None,
        discretization: int = 0,
        **options: Unpack[SearchOptions],
    ) -> MaxGains:
        """Return the maxima of the tiles, merged with those already `known`; `options` as in `search`."""
        sink = Maxima(MaxGains.none_yet(planes, tiles) if known is None else known, discretization)
        self.search(planes, tiles, sink, **options)
        return sink.gains

    def screen_tiles(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        min_gain: FloatArray,
        max_rows: int | None = None,
        **options: Unpack[SearchOptions],
    ) -> TupleRows:
        """Return the rows of a `Screen`; `options` as in `search`."""
        sink = Screen(min_gain, max_rows)
        self.search(planes, tiles, sink, **options)
        return sink.rows

    def interesting_tuples(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        min_value: FloatArray,
        formula: TupleFormula | None = None,
        max_rows: int | None = None,
        **options: Unpack[SearchOptions],
    ) -> TupleRows:
        """Return the rows of a `Listing`; `options` as in `search`."""
        sink = Listing(min_value, formula, max_rows)
        self.search(planes, tiles, sink, **options)
        return sink.rows


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    Attributes
    ----------
    partial : MaxGains, Selection, ScreenedTuples, TupleTests or RankedTuples
        The maxima found until then, or the tuples listed; with several runs, those of the current one.
    done : float
        The share of all tuples, of all runs, that was searched.
    kept_in : str or None
        The checkpoint from which the same call resumes.
    not_kept : str or None
        Why this could not be written to the checkpoint; what was written before is still there.
    """

    def __init__(self, partial: Any, done: float, kept_in: str | None = None, not_kept: str | None = None) -> None:
        super().__init__(partial, done, kept_in, not_kept)
        self.partial = partial
        self.done = done
        self.kept_in = kept_in
        self.not_kept = not_kept

    def __str__(self) -> str:
        kept = "" if self.kept_in is None else f", and the same call goes on from {self.kept_in!r}"
        if self.not_kept is not None:
            kept = f", but the checkpoint does not have them ({self.not_kept}): it is as it was last written"
        return f"interrupted after {self.done:.1%} of the search; .partial holds what was found until then{kept}"
