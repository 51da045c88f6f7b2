"""Contrast variables: permuted copies of columns, which carry no information about the decision."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import ARGUMENTS, described_by
from interplay.base.arrays import MAX_CONTRAST, IntArray, numbered
from interplay.base.checks import check_int
from interplay.base.seeds import Purpose, random_stream, random_streams, resolve_seed
from interplay.data.study.design import make_strata
from interplay.data.study.named_columns import take_named
from interplay.data.study.subsets import as_slice
from interplay.data.study.table import Table, Which

Values = npt.NDArray[Any]


class GroupOrders:
    """Random orders in which each group gets the values of another, or of itself, in random order.

    Only groups with samples in the same strata change places, and values stay in their stratum. Where sizes differ, a
    group of n samples gets n of the other's values without repetition if there are enough. Otherwise each value is used
    equally often, up to one.

    `groups`, `strata` (n_samples,), strata optional: numbers from 0 on, none missing.
    """

    def __init__(self, groups: IntArray, strata: IntArray | None = None) -> None:
        stratum = np.zeros(len(groups), dtype=np.int64) if strata is None else strata
        n_groups, n_strata = int(groups.max()) + 1, int(stratum.max()) + 1
        self._groups, self._stratum, self._n_strata = groups, stratum, n_strata
        self._cell = groups * n_strata + stratum
        self._size = np.bincount(self._cell, minlength=n_groups * n_strata)
        self._start = np.cumsum(self._size) - self._size
        by_cell = np.argsort(self._cell, kind="stable")
        self._place = np.empty(len(groups), dtype=np.int64)  # of a sample within its cell
        self._place[by_cell] = np.arange(len(groups)) - self._start[self._cell[by_cell]]
        occupied = self._size.reshape(n_groups, n_strata) > 0
        self._kind = numbered(occupied, axis=0)

    def draw(self, stream: np.random.RandomState) -> IntArray:
        """Return sample numbers, (n_samples,): the sample whose value each sample gets."""
        moved = _order_within(self._kind, stream)
        shuffled = np.lexsort((stream.random_sample(len(self._cell)), self._cell))
        source = moved[self._groups] * self._n_strata + self._stratum
        return np.asarray(shuffled[self._start[source] + self._place % self._size[source]])


class ContrastTable(Table):
    """A table of permuted columns of another one, made when they are asked for.

    Contrast variable j has a stream of its own, so its values do not depend on blocks or threads.

    Attributes
    ----------
    sources : (n_vars,) int64
        The column of the original table that each contrast variable permutes.
    """

    def __init__(
        self,
        table: Table,
        sources: IntArray,
        seed: int,
        strata: IntArray | None = None,
        groups: IntArray | None = None,
    ) -> None:
        names = [f"contrast_{j}" for j in range(len(sources))]
        super().__init__(table.n_samples, names, table.kinds[sources], table.dtype)
        self.sources = sources
        self._table = table
        self._seed = seed
        self._strata = strata
        self._group_orders = None if groups is None else GroupOrders(groups, strata)

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        numbers = np.arange(self.n_vars)[which]
        originals = self._table.columns(as_slice(self.sources[which]))
        permuted = np.empty_like(originals, order="C")
        streams = random_streams(self._seed, Purpose.CONTRAST_PERMUTATION, numbers.tolist())
        for row, stream in enumerate(streams):
            permuted[row] = originals[row][self._permutation(stream)]
        return permuted

    def _permutation(self, stream: np.random.RandomState) -> IntArray:
        """Return a random order of the samples; with strata, one that moves none from one stratum to another.

        With groups, whole groups are moved.
        """
        if self._group_orders is not None:
            return self._group_orders.draw(stream)
        if self._strata is None:
            return np.asarray(stream.permutation(self.n_samples))
        return _order_within(self._strata, stream)


def _order_within(kinds: IntArray, stream: np.random.RandomState) -> IntArray:
    """Return a random order in which each place gets a number of its own kind."""
    order = np.empty(len(kinds), dtype=np.int64)
    order[np.argsort(kinds, kind="stable")] = np.lexsort((stream.random_sample(len(kinds)), kinds))
    return order


def contrast_table(
    table: Table, n: int, *, seed: int, strata: IntArray | None = None, groups: IntArray | None = None
) -> ContrastTable:
    """Return `n` contrast variables of `table`, as a table; with `strata`, (n_samples,), permuted within each.

    With `groups`, (n_samples,), values of whole groups are moved (`GroupOrders`).

    Their source columns are drawn without replacement; once every column has been used, all are free again. Within
    each round they are in ascending order, so that neighbours are read together.
    """
    n = check_int("n", n, low=1, high=MAX_CONTRAST)
    stream = random_stream(seed, Purpose.CONTRAST_CHOICE)
    rounds = [np.sort(stream.permutation(table.n_vars)[: n - start]) for start in range(0, n, table.n_vars)]
    return ContrastTable(table, np.concatenate(rounds).astype(np.int64), seed, strata, groups)


@described_by(ARGUMENTS)
def contrast_variables(X: Any, n: int, *, strata: Any = None, random_state: Any = 0) -> tuple[Values, IntArray]:
    """Make contrast variables: random permutations of randomly chosen columns.

    Parameters
    ----------
    n : int
        Number of contrast variables. Columns are chosen without replacement until all have been used.
    strata
        Groups of samples, such as batch, sex or population. Values are permuted only within these groups, so that
        differences between the groups are preserved. A string names a column of `X`.
    random_state
        Seed of all random draws.
    ...

    Returns
    -------
    columns : (n_samples, n) array
        The contrast variables. Labels are replaced by the numbers of their levels.
    sources : (n,) int64
        The column of `X` that each contrast variable permutes.

    Examples
    --------
    >>> columns, sources = contrast_variables([[1, 10], [2, 20], [3, 30]], 2)
    >>> columns.shape, sources
    ((3, 2), array([0, 1]))
    >>> sorted(columns[:, 1].tolist())
    [10, 20, 30]
    """
    n = check_int("n", n, low=1, high=MAX_CONTRAST)
    seed = resolve_seed(random_state)
    table, (_, strata) = take_named(X, y=None, strata=strata)
    groups = make_strata(strata, n_samples=table.n_samples)
    contrast = contrast_table(table, n, seed=seed, strata=None if groups is None else groups.codes)
    return contrast.block(0, n).T, contrast.sources
