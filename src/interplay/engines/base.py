"""What an engine is: the one protocol that every search, list and cluster task speaks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from interplay.base.arrays import BitPlanes, FloatArray, MaxGains, TupleRows, TupleTiles
from interplay.engines.searcher_counts import SearcherCounts
from interplay.engines.tuple_formula import TupleFormula

if TYPE_CHECKING:
    from interplay.engines.tile_chunks import FoundChunk, ScreenedChunk


class OnProgress(Protocol):
    """Called now and then with the number of tuples done since the call began.

    An engine that can also gives the maxima found so far; they may change afterwards.
    """

    def __call__(self, done: int, found: MaxGains | None = None, /) -> None: ...


@dataclass(frozen=True)
class TileShape:
    """How `make_tuple_tiles` should cut the tuples; shapes change the speed, never the result.

    Attributes
    ----------
    block_size, middle_size, n_lanes : int, optional
        Variables per small, middle and lane block; None for the usual number.
    even : bool
        Cut into blocks of even size, rather than into full blocks and a rest, and in the order that suits a processor.
    """

    block_size: int | None = None
    middle_size: int | None = None
    n_lanes: int | None = None
    even: bool = True

    @classmethod
    def of(cls, shape: TileShape | Mapping[str, Any]) -> TileShape:
        """Return a shape that an engine of somebody else's may give as a dict."""
        return shape if isinstance(shape, TileShape) else cls(**shape)


#: What suits the processor.
USUAL_TILES = TileShape()


class Engine(ABC):
    """Bit planes and tiles in, maximum gains out.

    Every engine returns the same bits: gains are sums of integers (see ``core/include/interplay/information_gain.hpp``)
    and ties go to the lowest discretisation and tuple. An engine must find maxima. What else it can do it declares with
    `can_list`, `can_screen` and `can_stream`; nobody calls the other methods without asking.

    Attributes
    ----------
    name : str
    can_list : bool
        Whether `interesting_tuples` works: listing tuples, not only finding maxima.
    can_screen : bool
        Whether `screen_tiles` works, or `stream_screened`.
    can_stream : bool
        Whether `stream_max_gains` works: searching many chunks at once and telling of each when it is done.
    streams_screened : bool
        Whether it is `stream_screened` that works.
    """

    name: str
    can_list: bool = False
    can_screen: bool = False
    can_stream: bool = False
    streams_screened: bool = False

    @abstractmethod
    def max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        discretization: int = 0,
        known: MaxGains | None = None,
        on_progress: OnProgress | None = None,
        searched: SearcherCounts | None = None,
    ) -> MaxGains:
        """Search the tiles and return their maxima, merged with those already `known`.

        The tiles and tuples that each searcher took are added to `searched`.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""

    def tile_shape(self, dimensions: int) -> TileShape:
        """Return how tuples of so many members should be cut for this engine."""
        return USUAL_TILES

    def begin(self, planes: BitPlanes, tiles: TupleTiles, *, pseudocount: float) -> None:  # noqa: B027
        """Start, in the background, what takes time before such a search; the planes have no words yet.

        Called before columns are coded. Nothing depends on it, and a search may come without it or not at all.
        """

    def stream_max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        discretization: int = 0,
        known: MaxGains | None = None,
        on_progress: OnProgress | None = None,
    ) -> Iterator[FoundChunk]:
        """Search the tiles; yield chunks in the order in which they are done."""
        raise NotImplementedError(f"engine {self.name!r} does not stream: see can_stream")

    def interesting_tuples(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_value: FloatArray,
        formula: TupleFormula | None = None,
        max_rows: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> TupleRows:
        """List what exceeds a threshold, tile by tile, each tile sorted by tuple and variable.

        Parameters
        ----------
        planes : BitPlanes
            Real variables only; with one class where there is no decision.
        min_value : (n_vars,) float64
            The threshold of each variable; −inf lists everything.
        formula : TupleFormula, optional
            What to list instead of the gains of the members.
        max_rows : int, optional
            Take no further tile once there are this many rows. At least one tile is done.
        """
        raise NotImplementedError(f"engine {self.name!r} does not list tuples: see can_list")

    def screen_tiles(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_gain: FloatArray,
        max_rows: int | None = None,
        on_progress: OnProgress | None = None,
        searched: SearcherCounts | None = None,
    ) -> TupleRows:
        """List each tuple once if all its members gain enough: tile by tile, each tile sorted by tuple.

        The value of a row is the smallest gain of a member, its variable the first such member. The stratum, where row
        0 is one, is in the tuple and is asked for no gain.

        Parameters
        ----------
        planes : BitPlanes
            Real variables only, and a stratum before them where the tiles have one.
        min_gain : (max_df + 1,) float64
            What every member must gain, by the fewest degrees of freedom that the tuple's interaction may have (see
            `fewest_degrees_of_freedom`), ascending; the last entry is for more of them, the second for none, too.
        max_rows : int, optional
            Take no further tile once there are this many rows. At least one tile is done.
        """
        raise NotImplementedError(f"engine {self.name!r} does not screen tuples: see can_screen")

    def stream_screened(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_gain: FloatArray,
        on_progress: OnProgress | None = None,
    ) -> Iterator[ScreenedChunk]:
        """Screen the tiles as `screen_tiles` does; yield chunks in the order in which they are done."""
        raise NotImplementedError(f"engine {self.name!r} does not stream what it screens: see streams_screened")


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    Attributes
    ----------
    partial : MaxGains, ScreenedTuples or RankedTuples
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
