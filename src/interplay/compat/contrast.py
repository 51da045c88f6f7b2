"""Contrast variables by the older package's draws: one MT19937 for all, unwanted draws thrown away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import described_by
from interplay.base.arrays import MAX_CONTRAST, IntArray
from interplay.base.checks import check_int
from interplay.compat.arguments import COMPAT_ARGUMENTS, check_seed
from interplay.data.study.table import as_table

#: Smallest number of draws made at a time.
_DRAWS_AHEAD = 2**16


@dataclass(frozen=True, eq=False)
class GenContrastVariablesResult:
    """Contrast variables.

    Attributes
    ----------
    data : (n_samples, n_contrast) array, Fortran order
    indices : (n_contrast,) int32
        The column of the data that each contrast variable permutes.
    """

    data: npt.NDArray[Any]
    indices: npt.NDArray[np.int32]


@described_by(COMPAT_ARGUMENTS)
def gen_contrast_variables(data: Any, n_contrast: int, seed: int | None = None) -> GenContrastVariablesResult:
    """Make contrast variables: permuted copies of randomly chosen columns.

    In new scripts, use `interplay.contrast_variables`, whose columns do not depend on how many of them there are.

    Parameters
    ----------
    n_contrast : int
        Number of contrast variables. Up to n_vars of them are copies of different columns; beyond, columns are drawn
        with replacement.
    ...

    Returns
    -------
    GenContrastVariablesResult
        ``.data``, ``.indices``

    Examples
    --------
    >>> from interplay import compat as mdfs
    >>> contrast = mdfs.gen_contrast_variables([[1, 10], [2, 20], [3, 30], [4, 40]], 2, seed=0)
    >>> contrast.indices
    array([0, 1], dtype=int32)
    >>> contrast.data.T
    array([[ 2,  1,  4,  3],
           [10, 40, 30, 20]])
    """
    table = as_table(data)
    n_contrast = check_int("n_contrast", n_contrast, low=1, high=MAX_CONTRAST)
    draws = _Draws(check_seed(seed))
    choose = _distinct if n_contrast <= table.n_vars else _uniform
    sources = choose(draws, table.n_vars, n_contrast)
    contrast = table.columns(sources).copy()
    for values in contrast:
        values[:] = values[_distinct(draws, table.n_samples, table.n_samples)]
    return GenContrastVariablesResult(contrast.T, sources.astype(np.int32))


class _Draws:
    """The 32-bit draws of one MT19937, which can be inspected before they are used."""

    def __init__(self, seed: int) -> None:
        self._stream = np.random.RandomState(seed)
        self._ahead = np.empty(0, dtype=np.uint32)

    def peek(self, n: int) -> npt.NDArray[np.uint32]:
        """Return the next `n` draws without using them up."""
        missing = n - len(self._ahead)
        if missing > 0:
            fresh = self._stream.randint(0, 2**32, size=max(missing, _DRAWS_AHEAD), dtype=np.uint32)
            self._ahead = np.concatenate([self._ahead, fresh])
        return self._ahead[:n]

    def skip(self, n: int) -> None:
        self._ahead = self._ahead[n:]


def _distinct(draws: _Draws, limit: int, count: int) -> IntArray:
    """Return the first `count` different values of the draws modulo `limit`, in their order."""
    # The expected number of draws that meet all values is limit · (ln limit + 0.58).
    n = int(limit * (np.log(limit) + 3)) + 1
    while True:
        first_place = np.full(limit, n)
        np.minimum.at(first_place, draws.peek(n) % np.uint32(limit), np.arange(n))
        found = np.argsort(first_place, kind="stable")[:count]
        last_place = int(first_place[found[-1]])
        if last_place < n:
            draws.skip(last_place + 1)
            return found
        n *= 2


def _uniform(draws: _Draws, limit: int, count: int) -> IntArray:
    """Return `count` whole numbers below `limit`: the upper word of draw · limit, unless the lower one is too low.

    The C++ library's ``uniform_int_distribution`` does the same (Lemire's method).
    """
    n = count
    while True:
        product = draws.peek(n).astype(np.uint64) * np.uint64(limit)
        fair = np.flatnonzero((product & np.uint64(2**32 - 1)) >= 2**32 % limit)[:count]
        if len(fair) == count:
            draws.skip(int(fair[-1]) + 1)
            return (product[fair] >> np.uint64(32)).astype(np.int64)
        n += count
