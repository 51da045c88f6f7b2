"""The argument `na_values`, for tables whose cells are typed already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


class NaValues:
    """The texts and numbers that stand for missing values.

    Examples
    --------
    >>> said = NaValues(["-9", "n.d."])
    >>> [said.has(cell) for cell in (-9, -9.0, "-9", " n.d.", 9, True, None)]
    [True, True, True, True, False, False, False]
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = {text.strip() for text in texts}
        self._numbers = {number for number in map(_number, self._texts) if number is not None}

    def has(self, cell: Any) -> bool:
        """Say whether a cell of a table stands for a missing value."""
        if isinstance(cell, str):
            return cell.strip() in self._texts
        return isinstance(cell, int | float) and not isinstance(cell, bool) and cell in self._numbers

    def taken_out_of(self, column: pd.Series[Any]) -> pd.Series[Any]:
        """Return a column with these texts and numbers replaced by missing values."""
        return column.mask(column.map(self.has).astype(bool)) if self._texts else column


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
