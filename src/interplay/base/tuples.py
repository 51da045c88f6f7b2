"""Tuples of variables: tiles of them, rows of some, and the maxima over all, which `MaxGains.merge` brings together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.planes import BitPlanes
from interplay.base.tails import log_chi2_tail
from interplay.files.types import Check


@dataclass(frozen=True)
class TupleTiles:
    """All tuples of a search, cut into tiles that can be searched in any order and anywhere.

    Variables are put in an order and cut into lane blocks, which never mix numbers of levels, real with contrast
    variables, or asked-for with other variables: all tuples of a tile agree in these properties. Lane blocks are cut
    into middle blocks, and these into small blocks. A tile names k − 2 small blocks, not descending, a middle block and
    a lane block, and holds every tuple that takes one variable from each, ascending in the order. The last variables of
    a tuple run over wide blocks, so that fixing the others pays.
    """

    #: (n_ordered,): row numbers of the variables that take part, block after block.
    order: IntArray
    #: `block_start`, `middle_start`, `lane_start`, (n + 1,): small, middle and lane blocks: block b is ``order[start[b]
    #: : start[b + 1]]``.
    block_start: IntArray
    middle_start: IntArray
    lane_start: IntArray
    #: (n_tiles, k): numbers of k − 2 small blocks, of a middle block and of a lane block (in 1D, of a lane block only).
    tiles: npt.NDArray[np.int32]
    #: (n_tiles,): tuples in each tile; whole numbers, as floats since there can be more than 2**63 in all.
    n_tuples: FloatArray
    #: (n_groups,): the distinct numbers of cells that a variable's partners can have, ascending.
    partner_cells: IntArray
    #: (n_groups,): where row 0 is a stratum, a member of every tuple: numbers of cells that only its own partners have.
    only_of_stratum: BoolArray | None = None

    @property
    def dimensions(self) -> int:
        return int(self.tiles.shape[1])

    @cached_property
    def tuples_before(self) -> FloatArray:
        """Tuples before each tile, and all tuples, (n_tiles + 1,)."""
        return summed(self.n_tuples)

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, which: slice | IntArray | BoolArray) -> TupleTiles:
        """Return some of the tiles, over the same blocks; for a slice of all of them, these tiles themselves."""
        if isinstance(which, slice) and which.indices(len(self)) == (0, len(self), 1):
            return self
        return replace(self, tiles=np.ascontiguousarray(self.tiles[which]), n_tuples=self.n_tuples[which])


@dataclass(frozen=True)
class MaxGains:
    """The maximum information gain of every variable, and the tuple it was found in.

    Gains of tuples with different degrees of freedom are not comparable. The largest gain of each number of degrees of
    freedom (a *group*) is kept, and the gain with the smallest χ² tail is reported. Where all columns have the same
    number of levels there is one group.

    Attributes
    ----------
    gain_by_group : (n_rows, n_groups) float64
        In bits times the number of samples; −inf where the variable was in no tuple.
    discretization_by_group : (n_rows, n_groups) int64
        Number of the discretisation, from 0; −1 where there is none.
    tuples_by_group : (n_rows, n_groups, k) int64
        Members of the tuple, ascending; −1 where there is none. Contrast variables are numbered from ``n_vars`` on.
    df_by_group : (n_rows, n_groups) int64
        Degrees of freedom of the gain.
    n_vars : int
        Real variables; the rows after them are contrast variables.
    """

    gain_by_group: Annotated[FloatArray, Check("n_rows n_groups", below=np.inf)]
    discretization_by_group: Annotated[IntArray, Check("n_rows n_groups")]
    tuples_by_group: Annotated[IntArray, Check("n_rows n_groups k", low=-1, below="n_rows")]
    df_by_group: Annotated[IntArray, Check("n_rows n_groups", low=0)]
    n_vars: Annotated[int, Check("n_vars", low=1, high="n_rows")]

    @classmethod
    def none_yet(cls, planes: BitPlanes, tiles: TupleTiles) -> MaxGains:
        """Return the neutral element of `merge` for a search; the planes need no words."""
        shape = (planes.n_rows, len(tiles.partner_cells))
        return cls(
            gain_by_group=np.full(shape, -np.inf),
            discretization_by_group=np.full(shape, -1, dtype=np.int64),
            tuples_by_group=np.full((*shape, tiles.dimensions), -1, dtype=np.int64),
            df_by_group=planes.outcome_df * (planes.n_levels[:, np.newaxis] - 1) * tiles.partner_cells,
            n_vars=planes.n_vars,
        )

    def is_consistent(self) -> bool:
        """Say whether there are groups and members at all: a file may say anything."""
        return 0 not in self.tuples_by_group.shape

    def merge(self, other: MaxGains) -> MaxGains:
        """Return the better of both for every variable and group.

        Associative and commutative: a larger gain wins; on equal gains the lower discretisation, then the
        lexicographically lower tuple. Parts searched by threads, devices or machines, in any order, therefore give the
        same result.
        """
        if self.tuples_by_group.shape != other.tuples_by_group.shape or self.n_vars != other.n_vars:
            raise ValueError("only results of the same search can be merged: the numbers of variables or groups differ")
        theirs = _comes_first(other, self)
        return replace(
            self,
            gain_by_group=np.where(theirs, other.gain_by_group, self.gain_by_group),
            discretization_by_group=np.where(theirs, other.discretization_by_group, self.discretization_by_group),
            tuples_by_group=np.where(theirs[..., np.newaxis], other.tuples_by_group, self.tuples_by_group),
        )

    def without_stratum(self, tiles: TupleTiles) -> MaxGains:
        """Leave out the stratum of the searched `tiles`, row 0, and number the others from 0 again.

        Returns the gains as they are if there is none.
        """
        if tiles.only_of_stratum is None:
            return self
        kept = np.flatnonzero(~tiles.only_of_stratum)
        tuples = self.tuples_by_group[1:, kept, 1:]
        return MaxGains(
            gain_by_group=self.gain_by_group[1:, kept],
            discretization_by_group=self.discretization_by_group[1:, kept],
            tuples_by_group=np.where(tuples < 0, -1, tuples - 1),
            df_by_group=self.df_by_group[1:, kept],
            n_vars=self.n_vars - 1,
        )

    @cached_property
    def _best_group(self) -> IntArray:
        if self.gain_by_group.shape[1] == 1:
            return np.zeros(len(self.gain_by_group), dtype=np.int64)
        log_tail = log_chi2_tail(2 * np.log(2) * self.gain_by_group, self.df_by_group)
        log_tail[self.discretization_by_group < 0] = np.inf
        return np.asarray(np.argmin(log_tail, axis=1))

    def _best(self, by_group: npt.NDArray[Any]) -> npt.NDArray[Any]:
        best: npt.NDArray[Any] = by_group[np.arange(len(by_group)), self._best_group]
        return best

    @property
    def dimensions(self) -> int:
        return int(self.tuples_by_group.shape[2])

    @property
    def gain(self) -> FloatArray:
        """Maximum gain of each variable, (n_vars,), bits × samples; −inf for a variable in no tuple."""
        return self._best(self.gain_by_group)[: self.n_vars]

    @property
    def tuples(self) -> IntArray:
        """The tuple of that gain, (n_vars, k), ascending; −1 for none."""
        return self._best(self.tuples_by_group)[: self.n_vars]

    @property
    def discretization(self) -> IntArray:
        """The discretisation of that gain, (n_vars,), from 0; −1 for none."""
        return self._best(self.discretization_by_group)[: self.n_vars]

    @property
    def df(self) -> IntArray:
        """Degrees of freedom of that gain, (n_vars,)."""
        return self._best(self.df_by_group)[: self.n_vars]

    @property
    def contrast_gain(self) -> FloatArray:
        """Maximum gain of each contrast variable, (n_contrast,)."""
        return self._best(self.gain_by_group)[self.n_vars :]

    @property
    def contrast_tuples(self) -> IntArray:
        """The tuple of that gain, (n_contrast, k); the contrast variable itself is numbered from n_vars on."""
        return self._best(self.tuples_by_group)[self.n_vars :]

    @property
    def contrast_df(self) -> IntArray:
        """Degrees of freedom of that gain, (n_contrast,)."""
        return self._best(self.df_by_group)[self.n_vars :]

    def __repr__(self) -> str:
        n_contrast = len(self.gain_by_group) - self.n_vars
        found = np.isfinite(self.gain)
        span = f"gains {self.gain[found].min():.4g} … {self.gain[found].max():.4g}" if found.any() else "no gains"
        contrast = f", {n_contrast} contrast variables" if n_contrast else ""
        return f"<MaxGains: {self.n_vars} variables{contrast}, {self.dimensions}D, {span}>"


@dataclass(frozen=True)
class TupleRows:
    """Variables in tuples, with a value each, as an engine lists them: tile by tile."""

    #: (n_rows, k): members of the tuple, ascending.
    tuples: npt.NDArray[np.int32]
    #: (n_rows,): the member to which the value belongs.
    variable: npt.NDArray[np.int32]
    value: FloatArray  #: (n_rows,)
    #: (n_tiles_done,): number of rows of each tile that was done: a search ends before its last tile where rows exceed
    #: their limit.
    rows_of_tile: IntArray

    @classmethod
    def none(cls, dimensions: int) -> TupleRows:
        """Return no rows of no tiles."""
        return cls(
            tuples=np.empty((0, dimensions), dtype=np.int32),
            variable=np.empty(0, dtype=np.int32),
            value=np.empty(0),
            rows_of_tile=np.empty(0, dtype=np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[TupleRows]) -> TupleRows:
        """Return the rows of several lists of tiles, one list after the other."""
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])}
        return cls(**joined)

    def __len__(self) -> int:
        return len(self.value)


def summed(per_tile: npt.ArrayLike) -> FloatArray:
    """Return the sums before each tile, and the total, (n_tiles + 1,).

    Examples
    --------
    >>> summed([5.0, 1.0]).tolist()
    [0.0, 5.0, 6.0]
    """
    return np.concatenate([[0.0], np.cumsum(per_tile)])


def _comes_first(a: MaxGains, b: MaxGains) -> BoolArray:
    """Where `a` beats `b`: larger gain, then lower discretisation, then lower tuple."""
    first = a.gain_by_group > b.gain_by_group
    tied = a.gain_by_group == b.gain_by_group
    # An empty slot (−1) loses to any candidate.
    keys = [
        (np.where(a.discretization_by_group < 0, np.iinfo(np.int64).max, a.discretization_by_group)),
        (np.where(b.discretization_by_group < 0, np.iinfo(np.int64).max, b.discretization_by_group)),
    ]
    first |= tied & (keys[0] < keys[1])
    tied &= keys[0] == keys[1]
    for member in range(a.dimensions):
        x, y = a.tuples_by_group[..., member], b.tuples_by_group[..., member]
        first |= tied & (x < y)
        tied &= x == y
    return first
