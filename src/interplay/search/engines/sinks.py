"""The question of a search, and the place of its finds: maxima, the tuples of a screen, or the rows of a list.

A sink is made for one search and handed to `Engine.search`, which fills it. Its maker reads `Maxima.gains`, or
`Rows.rows` after every chunk.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, ClassVar, TypeAlias

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_choice
from interplay.base.planes import BitPlanes
from interplay.base.tuples import MaxGains, TupleRows, TupleTiles

#: Upper limit of the rows in one chunk; threads may exceed it by the rows they already hold.
MAX_ROWS = 1_000_000

#: Upper limit of the tiles in one chunk of rows: engines keep some 60 bytes for each.
_MAX_TILES = 1 << 20

#: Makes, in another process, the sink of a chunk of tiles, from the planes, the tiles and `Sink.bounds`.
SinkOfChunk: TypeAlias = "Callable[[BitPlanes, TupleTiles, FloatArray | None], Sink]"


class Sink(ABC):
    """Where the finds of a search go.

    Attributes
    ----------
    kind : {"maxima", "screen", "list"}
        The kind of search, as engines declare it (`Engine.kinds`).
    chunk_seconds : float
        How long a chunk may take where no checkpoint asks for less: work that an interrupt may lose.
    max_tiles : int
        Tiles of a chunk.
    knows_costs : bool
        Whether the costs of `routing.tile_costs` hold from the first tile on.
    """

    kind: ClassVar[str]
    chunk_seconds: ClassVar[float]
    max_tiles: ClassVar[int]
    knows_costs: ClassVar[bool]

    @abstractmethod
    def asked(self) -> dict[str, Any]:
        """Return the question: the arguments of this sink, and of the engine's method of this kind."""

    @abstractmethod
    def take(self, found: Any) -> None:
        """Take the finds of a search that is done."""

    @abstractmethod
    def n_done(self, tiles: TupleTiles) -> int:
        """Return how many of the tiles searched last are done: the first ones, where rows became too many."""

    def so_far(self) -> MaxGains | None:
        """Return the finds that an interrupt hands over, and a display may show, before a search is done."""
        return None

    def bounds(self) -> FloatArray | None:
        """Return gains for searches in other processes: smaller gains need not be found there."""
        return None

    @abstractmethod
    def elsewhere(self) -> SinkOfChunk:
        """Return a function that makes the sinks of chunks in other processes; it is sent to each process once."""

    @abstractmethod
    def found(self) -> Any:
        """Return the finds of a chunk, in another process, as they are sent back."""

    @abstractmethod
    def merge(self, found: Any) -> None:
        """Take the finds of a chunk from another process."""


class Maxima(Sink):
    """The maximum gain of every variable.

    - `known`: gains found before; they are copied.
    - `discretization`: the number of the discretisation that is searched.
    """

    kind = "maxima"
    chunk_seconds = inf  # an interrupt hands over all that was found
    max_tiles = sys.maxsize
    knows_costs = False  # before gains are known, nothing is pruned

    def __init__(self, known: MaxGains, discretization: int = 0) -> None:
        self._gains = replace(
            known,
            gain_by_group=known.gain_by_group.copy(),
            discretization_by_group=known.discretization_by_group.copy(),
            tuples_by_group=known.tuples_by_group.copy(),
        )
        self.discretization = discretization

    @property
    def gains(self) -> MaxGains:
        """The maxima so far, over all tiles and those known from the start. Engines may improve its arrays in place."""
        return replace(self._gains)  # MaxGains caches values derived from its arrays, and these change

    def asked(self) -> dict[str, Any]:
        return {"known": self.gains, "discretization": self.discretization}

    def take(self, found: MaxGains) -> None:
        """Take maxima that were merged with those of this sink."""
        self._gains = found

    def n_done(self, tiles: TupleTiles) -> int:
        return len(tiles)

    def so_far(self) -> MaxGains:
        return self.gains

    def bounds(self) -> FloatArray:
        return self._gains.gain_by_group

    def elsewhere(self) -> SinkOfChunk:
        return partial(self.above, discretization=self.discretization)

    @classmethod
    def above(cls, planes: BitPlanes, tiles: TupleTiles, bounds: FloatArray | None, *, discretization: int) -> Maxima:
        """Return a sink for tuples that reach gains found elsewhere."""
        # Without a tuple, a bound loses to any equal gain: ties are decided where all of them are known.
        return cls(replace(MaxGains.none_yet(planes, tiles), gain_by_group=np.array(bounds)), discretization)

    def found(self) -> Improvement:
        slots = np.flatnonzero(self._gains.discretization_by_group >= 0)
        return Improvement(
            slots=slots,
            gain=self._gains.gain_by_group.reshape(-1)[slots],
            tuples=self._gains.tuples_by_group.reshape(-1, self._gains.dimensions)[slots],
        )

    def merge(self, found: Improvement) -> None:
        """Merge in place and only where there is an improvement: most of a wide table has none."""
        gains = self._gains
        where = np.unravel_index(found.slots, gains.gain_by_group.shape)
        old = replace(
            gains,
            gain_by_group=gains.gain_by_group[where][:, np.newaxis],
            discretization_by_group=gains.discretization_by_group[where][:, np.newaxis],
            tuples_by_group=gains.tuples_by_group[where][:, np.newaxis],
        )
        new = replace(
            old,
            gain_by_group=found.gain[:, np.newaxis],
            discretization_by_group=np.full((len(found.slots), 1), self.discretization, dtype=np.int64),
            tuples_by_group=found.tuples[:, np.newaxis],
        )
        best = old.merge(new)
        gains.gain_by_group[where] = best.gain_by_group[:, 0]
        gains.discretization_by_group[where] = best.discretization_by_group[:, 0]
        gains.tuples_by_group[where] = best.tuples_by_group[:, 0]


@dataclass(frozen=True)
class Improvement:
    """Gains of a chunk that beat or equal the gains known when it began."""

    #: (n,): where, in the flattened (row, group) of MaxGains.
    slots: IntArray
    gain: FloatArray  #: (n,)
    tuples: IntArray  #: (n, k)


class Rows(Sink):
    """Tuples above fixed thresholds, tile by tile.

    Attributes
    ----------
    max_rows : int or None
        A search takes no further tile once there are this many rows. At least one tile is done.
    rows : TupleRows
        Rows of the tiles searched last.
    """

    chunk_seconds = 10.0
    max_tiles = _MAX_TILES
    knows_costs = True

    def __init__(self, max_rows: int | None) -> None:
        self.max_rows = max_rows
        self.rows = TupleRows.none(0)

    def take(self, found: TupleRows) -> None:
        self.rows = found

    def n_done(self, tiles: TupleTiles) -> int:
        return len(self.rows.rows_of_tile)

    def elsewhere(self) -> SinkOfChunk:
        return partial(self._with, **self.asked())

    @classmethod
    def _with(cls, planes: BitPlanes, tiles: TupleTiles, bounds: FloatArray | None, **asked: Any) -> Rows:
        return cls(**asked)

    def found(self) -> TupleRows:
        return self.rows

    def merge(self, found: TupleRows) -> None:
        self.take(found)


class Screen(Rows):
    """Each tuple once if all its members gain enough: each tile sorted by tuple.

    The value of a row is the smallest gain of a member, its variable the first such member. The stratum, where row 0 of
    the planes is one, is in the tuple and is asked for no gain. Planes hold real variables only.

    - `min_gain` (max_df + 1,): least gain of every member, by the fewest degrees of freedom that the tuple's
      interaction may have (see `fewest_degrees_of_freedom`), ascending. The last entry holds for more degrees of
      freedom, too, the second also for none.
    - `max_rows`: as in `Rows`.
    """

    kind = "screen"

    def __init__(self, min_gain: FloatArray, max_rows: int | None = MAX_ROWS) -> None:
        super().__init__(max_rows)
        self.min_gain = min_gain

    def asked(self) -> dict[str, Any]:
        return {"min_gain": self.min_gain, "max_rows": self.max_rows}


class Listing(Rows):
    """Variables in tuples with a value above a threshold: each tile sorted by tuple and variable.

    Planes hold real variables only, and one class where there is no decision.

    - `min_value` (n_vars,): the threshold of each variable; −inf lists everything.
    - `formula`: the statistic to list instead of the gains of the members.
    - `max_rows`: as in `Rows`.
    """

    kind = "list"

    def __init__(
        self, min_value: FloatArray, formula: TupleFormula | None = None, max_rows: int | None = MAX_ROWS
    ) -> None:
        super().__init__(max_rows)
        self.min_value = min_value
        self.formula = formula

    def asked(self) -> dict[str, Any]:
        return {"min_value": self.min_value, "formula": self.formula, "max_rows": self.max_rows}


#: The kinds of sinks that engines of this package take, except a cluster.
ALL_KINDS = frozenset({Maxima.kind, Screen.kind, Listing.kind})


#: Statistics of a tuple; "MI" with a decision is a gain of each member, all others are of the whole tuple.
STATISTICS = ("MI", "H", "VI", "TC", "II")

#: Beyond this many members the interaction information would be a difference of a million entropies.
_MAX_MEMBERS_OF_ALL_SUBSETS = 10


@dataclass(frozen=True)
class TupleFormula:
    """A statistic of a tuple T: the sum over its non-empty subsets S of ``coefficient_of_size[|S|]`` · E(S).

    E(S) is the entropy of the decision given S, in bits times samples, or without a decision the entropy of S itself
    in bits per sample.
    """

    #: (k + 1,): the first entry, of the empty set, is not used.
    coefficient_of_size: IntArray
    with_decision: bool


def tuple_formula(stat: str, dimensions: int, *, with_decision: bool) -> TupleFormula | None:
    """Return the formula of a statistic; None for the information gain, which has a value per member.

    Examples
    --------
    H01 + H02 + H12 − H0 − H1 − H2 − H012:

    >>> tuple_formula("II", 3, with_decision=False).coefficient_of_size
    array([ 0, -1,  1, -1])
    """
    check_choice("stat", stat, STATISTICS)
    if stat == "MI" and with_decision:
        return None
    if stat in ("TC", "II") and with_decision:
        raise ValueError(f'stat="{stat}" uses no outcome: leave y out, or use stat="MI"')
    if stat in ("MI", "VI") and dimensions != 2:
        instead = ': for more, take stat="TC" or "II"' if stat == "MI" else ""
        raise ValueError(f'stat="{stat}" needs dimensions=2, not {dimensions}{instead}')
    coefficients = np.zeros(dimensions + 1, dtype=np.int64)
    sizes = np.arange(1, dimensions + 1)
    if stat == "II":
        if dimensions > _MAX_MEMBERS_OF_ALL_SUBSETS:
            raise ValueError(
                f'stat="II" needs dimensions of at most {_MAX_MEMBERS_OF_ALL_SUBSETS}, not {dimensions}: take stat="TC"'
            )
        coefficients[1:] = np.where((dimensions - sizes) % 2, 1, -1)
        return TupleFormula(coefficients, with_decision)
    alone, together = {"MI": (1, -1), "TC": (1, -1), "H": (0, 1), "VI": (1, -2) if with_decision else (-1, 2)}[stat]
    coefficients[1] += alone
    coefficients[dimensions] += together
    return TupleFormula(coefficients, with_decision)
