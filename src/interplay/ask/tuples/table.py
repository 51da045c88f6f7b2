"""What `interesting_tuples` hands out: variables in tuples, with a value each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, TupleRows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class TupleTable:
    """One row per variable and tuple.

    Attributes
    ----------
    tuples : (n_rows, k) int32
        Numbers of the members, ascending.
    variable : (n_rows,) int32
        The member to which the value belongs.
    value : (n_rows,) float64
        The statistic.
    names : list of str
        Names of the variables.
    stat : str
        Which statistic it is.
    """

    tuples: npt.NDArray[np.int32]
    variable: npt.NDArray[np.int32]
    value: FloatArray
    names: list[str]
    stat: str = "MI"

    def __len__(self) -> int:
        return len(self.value)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with names: member_1 … member_k, variable, value.

        The names are categories, so that a long table stores numbers instead of strings.

        Examples
        --------
        >>> import interplay
        >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=20, random_state=1)
        >>> interplay.interesting_tuples(X, y, top=1, top_by="all").to_frame().columns.to_list()
        ['member_1', 'member_2', 'variable', 'value']
        """
        import pandas as pd

        dtype = pd.CategoricalDtype(self.names)
        columns = {f"member_{m + 1}": self.tuples[:, m] for m in range(self.tuples.shape[1])}
        named = {
            name: pd.Categorical.from_codes(numbers, dtype=dtype)
            for name, numbers in (columns | {"variable": self.variable}).items()
        }
        return pd.DataFrame(named | {"value": self.value})

    def __repr__(self) -> str:
        span = f", {self.stat} {self.value.min():.4g} … {self.value.max():.4g}" if len(self) else ""
        return f"<TupleTable: {len(self)} rows, {self.tuples.shape[1]}D{span}>"


class TuplesInterrupted(KeyboardInterrupt):
    """Ctrl-C while tuples were listed; `partial` is what was found until then: a TupleTable, or a Parquet file.

    There is no such file where it could not be written; `not_kept` then says why.
    """

    def __init__(self, partial: TupleTable | Path | None, done: float, not_kept: str | None = None) -> None:
        super().__init__(partial, done, not_kept)
        self.partial = partial
        self.done = done
        self.not_kept = not_kept

    def __str__(self) -> str:
        if self.not_kept is not None:
            return f"interrupted after {self.done:.1%} of the tuples; no rows were kept ({self.not_kept})"
        what = str(self.partial) if isinstance(self.partial, Path) else ".partial"
        return f"interrupted after {self.done:.1%} of the tuples; {what} holds the rows found until then"


def in_order(tuples: npt.NDArray[np.int32], variable: npt.NDArray[np.int32], n_vars: int) -> npt.NDArray[np.int64]:
    """Return the order of rows by tuple, then variable.

    Examples
    --------
    >>> in_order(np.array([[1, 2], [0, 3], [0, 3]]), np.array([1, 3, 0]), 4)
    array([2, 1, 0])
    """
    if (tuples.shape[1] + 1) * np.log2(max(n_vars, 2)) >= 62:
        return np.asarray(np.lexsort((variable, *tuples.T[::-1])))
    # Sorting one number is several times faster.
    return np.asarray(np.argsort(packed_rows(tuples, variable, n_vars), kind="stable"))


def packed_rows(tuples: npt.NDArray[Any], variable: npt.NDArray[Any], n_vars: int) -> npt.NDArray[np.int64]:
    """Return the members and the variable of each row as the digits of one number.

    Examples
    --------
    >>> packed_rows(np.array([[1, 2], [0, 3]]), np.array([1, 3]), 10)
    array([121,  33])
    """
    packed = np.zeros(len(tuples), dtype=np.int64)
    for column in (*tuples.T, variable):
        packed *= n_vars
        packed += column
    return packed


class BestRows:
    """Keeps the best rows seen so far, and raises the thresholds so that few others need to be listed.

    Equal values are ranked by tuple, so that what is kept does not depend on the order of the batches. Memory is
    that of what is kept and one batch.

    - `number`: rows to keep.
    - `by_variable`: of each variable, or of all together.
    - `thresholds` (n_vars,): raised in place to just below the value of the last row kept.
    """

    def __init__(self, number: int, *, by_variable: bool, dimensions: int, thresholds: FloatArray) -> None:
        self._number = number
        self._by_variable = by_variable
        self._thresholds = thresholds
        self.rows = TupleRows.none(dimensions)

    def add(self, rows: TupleRows) -> None:
        """Look at a batch of rows that are not among those seen before."""
        tuples = np.concatenate([self.rows.tuples, rows.tuples])
        variable = np.concatenate([self.rows.variable, rows.variable])
        value = np.concatenate([self.rows.value, rows.value])
        order = in_order(tuples, variable, len(self._thresholds))
        order = order[np.argsort(-value[order], kind="stable")]
        group = variable[order] if self._by_variable else np.zeros(len(order), dtype=np.int32)
        order = order[np.argsort(group, kind="stable")]
        group = np.sort(group)
        rank = np.arange(len(order)) - np.searchsorted(group, group)
        kept = order[rank < self._number]
        self.rows = TupleRows(tuples[kept], variable[kept], value[kept], np.array([len(kept)]))
        self._raise_thresholds(order[rank == self._number - 1], variable, value)

    def _raise_thresholds(self, last: IntArray, variable: IntArray, value: FloatArray) -> None:
        """Ask for what is at least as good as the last row kept: a lower tuple may still tie with it."""
        just_below = np.nextafter(value[last], -np.inf)
        if self._by_variable:
            self._thresholds[variable[last]] = np.maximum(self._thresholds[variable[last]], just_below)
        elif len(last):
            np.maximum(self._thresholds, just_below[0], out=self._thresholds)
