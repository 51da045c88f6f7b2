"""Best: the first variables of a Selection's order for models, as a list of names with a table beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import IntArray

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.selection import Selection


def first_variables(selection: Selection, n: int, whole_in: int | None = None) -> IntArray:
    """Return the numbers of the n variables that a model should get, best first.

    Tuples are whole in the first `whole_in`, of all n if it is not given.
    """
    ordered = selection.ordered
    if ordered is None:
        return selection.by_significance[:n]
    first = ordered.variable[ordered.first(n if whole_in is None else whole_in)]
    rest = ordered.variable[~np.isin(ordered.variable, first)]
    is_ordered = np.isin(selection.by_significance, ordered.variable)
    return np.concatenate([first, rest, selection.by_significance[~is_ordered]])[:n]


class Best(list[str]):
    """Names of the n variables that a model should get, best first: a list, with what is known of each.

    Attributes
    ----------
    numbers : (n,) int64
        Their numbers.
    """

    def __init__(self, selection: Selection, numbers: IntArray) -> None:
        super().__init__(selection.names[v] for v in numbers.tolist())
        self.numbers = numbers
        self._selection = selection

    @property
    def n_relevant(self) -> int:
        """How many of them are relevant, by the adjusted p-values."""
        return int(self._selection.is_relevant[self.numbers].sum())

    @property
    def curve(self) -> pd.DataFrame:
        """What so many variables explain in samples that had no part in choosing them: n, explained, below_best, error.

        See `Selection.best_curve`; it takes about four searches when it is first asked for.
        """
        import pandas as pd

        curve = self._selection.best_curve
        return pd.DataFrame({name: getattr(curve, name) for name in ("n", "explained", "below_best", "error")})

    @property
    def table(self) -> pd.DataFrame:
        """One row for each: rank, variable, p_adjusted, relevant, found, came_with, for_class.

        `came_with` has the other members of the tuple that it came in with, and `for_class` the class that would have
        had no variable without it.
        """
        import pandas as pd

        selection, ordered = self._selection, self._selection.ordered
        place = {} if ordered is None else {v: row for row, v in enumerate(ordered.variable.tolist())}
        classes = list(selection.class_sizes)
        rows: list[dict[str, Any]] = []
        for rank, v in enumerate(self.numbers.tolist(), start=1):
            row = place.get(v, -1)
            partners, turn = np.empty(0, dtype=np.int64), -1
            if ordered is not None and row >= 0:
                same = ordered.variable[ordered.unit == ordered.unit[row]]
                partners, turn = same[same != v], int(ordered.turn[row])
            rows.append(
                {
                    "rank": rank,
                    "variable": selection.names[v],
                    "p_adjusted": float(selection.p_adjusted[v]),
                    "relevant": bool(selection.is_relevant[v]),
                    "found": selection.found[v] if selection.is_relevant[v] else "",
                    "came_with": selection.names_of(partners),
                    "for_class": classes[turn] if 0 <= turn < len(classes) else "",
                }
            )
        return pd.DataFrame(rows)
