"""Text columns of a file → numbers, dates or labels, with one line of warning for each kind of doubt.

The decimal sign and the separator of thousands are decided by all values of a column (`TextColumn`), or by the other
columns of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import shown, warn
from interplay.data.study.columns import EXACT_FLOAT_LIMIT, POINT, NumberFormat
from interplay.readers.text_column import TextColumn

if TYPE_CHECKING:
    import pandas as pd

#: This many columns get a line of their own; the other columns share one line.
_COLUMNS_NAMED = 5

#: More columns than this are not assigned to a frame one by one, which is slow.
_MANY_COLUMNS = 50

#: Numbers with which people mark missing values, in columns whose other values are far from them.
_SENTINELS = (-1, -9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)


@dataclass(frozen=True)
class WrittenNumbers:
    """How the numbers of a file are written."""

    #: Name of the file in messages.
    file: str
    #: The decimal sign, if the user gives it.
    decimal: str | None
    #: The decimal sign that pandas was given.
    guessed: str
    #: Whether commas separate the fields; numbers with a comma are then in quotes.
    comma_separates: bool
    #: Texts that are values, though they usually mark missing ones.
    kept: Collection[str] = ()

    def read_in(
        self,
        frame: pd.DataFrame,
        unread: Collection[str],
        as_texts: Callable[[list[str]], pd.DataFrame] | None = None,
    ) -> pd.DataFrame:
        """Turn columns of `frame` with numbers or dates into numbers, and warn of doubtful columns.

        Columns `unread` stay as they are. The decimal sign that pandas was given is a guess: `as_texts` reads columns
        again that pandas may have misread (None for files with typed cells). The index of the frame is the line or row
        in the file. Doubtful labels become a categorical column, so that no later step warns of them again.
        """
        names = [name for name in frame.columns if name not in unread]
        is_text = set(frame.select_dtypes(exclude=["number", "bool", "category"]).columns)
        is_float = set(frame.select_dtypes(include=["float"]).columns)
        columns = [TextColumn(frame[name], name, self.decimal, self.kept) for name in names if name in is_text]
        floats = [name for name in names if name in is_float]
        signs = self._signs_shown(columns)
        if any(_shows_its_sign(frame[name].to_numpy()) for name in floats):
            signs |= {self.guessed}
        if as_texts is not None and self.decimal is None and "," in signs | {self.guessed}:
            doubtful = [name for name in floats if may_have_groups(frame[name].to_numpy())]
            texts = (as_texts(doubtful) if doubtful else frame[[]]).set_axis(frame.index)
            columns += [TextColumn(texts[name], name, kept=self.kept) for name in doubtful]
            signs |= self._signs_shown(columns)
        notes = _Notes()
        read: dict[str, pd.Series[Any]] = {}
        for column in columns:
            way = column.way
            if way is None and column.fitting:
                way = self._by_other_columns(column, signs)
            if way is not None:
                read[column.name] = column.as_numbers(way)
                notes.add_numbers(column)
            elif (days := column.as_days()) is not None:
                read[column.name] = days
                notes.add_dates(column)
            else:
                labels, reason = column.as_labels(), column.doubt()
                read[column.name] = labels if reason is None else labels.astype("category")
                notes.add_labels(column, reason)
        large = [name for name in floats if name not in read and _has_large(frame[name].to_numpy())]
        if as_texts is not None and large:
            texts = as_texts(large).set_axis(frame.index)
            whole = [name for name in large if _is_whole(texts[name])]
            read |= {name: TextColumn(texts[name], name).as_numbers(POINT) for name in whole}
        notes.tell()
        _warn_of_sentinels(frame, names)
        return _replaced(frame, read)

    @staticmethod
    def _signs_shown(columns: Iterable[TextColumn]) -> set[str]:
        """Return the decimal signs of the columns whose values decide their format."""
        return {column.way.decimal for column in columns if column.way is not None and column.has_signs}

    def _by_other_columns(self, column: TextColumn, signs: set[str]) -> NumberFormat:
        """Choose the format of a column whose values leave it open, with a warning, or refuse the file.

        `signs` are the decimal signs of the other columns: a file has one format of numbers.
        """
        by_sign = {way.decimal: way for way in column.fitting}
        if POINT in column.fitting and "," not in signs:
            return POINT  # the usual format, unless other columns have decimal commas
        (sign,) = signs if len(signs) == 1 else ("",)
        if sign in by_sign:
            because = f"because other columns have decimal {_SIGNS[sign]}s"
        elif column.keeps_its_order():
            sign, because = "." if self.comma_separates else ",", "which makes no difference to the order of the values"
        else:
            raise ValueError(
                f"{self.file}, column {shown(column.name)}: {column.examples()} can be read in two ways, because the "
                f"{_SIGNS[column.sign]} may be the decimal sign or separate thousands: use decimal=',' or decimal='.', "
                "or write the numbers with a decimal point and without separators of thousands"
            )
        way = by_sign[sign]
        use = "the separator of thousands" if way.thousands else "the decimal sign"
        warn(
            f"column {shown(column.name)}: in {column.examples()} the {_SIGNS[way.thousands or way.decimal]} is taken "
            f"as {use}, {because}: if that is wrong, use decimal=',' or decimal='.'"
        )
        return way


_SIGNS = {",": "comma", ".": "point"}


def _replaced(frame: pd.DataFrame, columns: dict[str, pd.Series[Any]]) -> pd.DataFrame:
    """Return a frame with some columns replaced, by name."""
    import pandas as pd

    if len(columns) > _MANY_COLUMNS:  # each single assignment takes time for all other columns
        return pd.DataFrame({name: columns[name] if name in columns else frame[name] for name in frame.columns})
    for name, column in columns.items():
        frame[name] = column
    return frame


@dataclass
class _Notes:
    """Warnings about the columns of a file, gathered into a few lines."""

    missing: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    labels: list[tuple[str, str]] = field(default_factory=list)

    def add_numbers(self, column: TextColumn) -> None:
        self._add_missing(column, column.markers)
        if column.beside:
            self.numbers.append(f"{shown(column.name)} ({column.beside} left out)")

    def add_dates(self, column: TextColumn) -> None:
        self._add_missing(column, column.markers)
        self.numbers.append(f"{shown(column.name)} (dates, as days)")

    def add_labels(self, column: TextColumn, doubt: str | None) -> None:
        self._add_missing(column, [raw for raw in column.markers if column.is_missing_label(raw)])
        if doubt is not None:
            self.labels.append((column.name, doubt))

    def _add_missing(self, column: TextColumn, markers: list[Any]) -> None:
        for raw in markers:
            count = column.count(raw)
            plural = f"{count} values, the first in" if count > 1 else "1 value, in"
            self.missing.append(f"{shown(str(raw))} in column {shown(column.name)} ({plural} {column.place(raw)})")

    def tell(self) -> None:
        if self.missing:
            warn(f"read as missing values: {first_listed(self.missing)}")
        if self.numbers:
            warn(f"read as numbers: column {first_listed(self.numbers)}")
        for name, doubt in self.labels[:_COLUMNS_NAMED]:
            warn(f"column {shown(name)} is taken as labels {doubt}")
        more = [shown(name) for name, _ in self.labels[_COLUMNS_NAMED:]]
        if more:
            warn(f"{len(more)} more columns are taken as labels for similar reasons: {first_listed(more)}")


def first_listed(entries: list[str]) -> str:
    """Return the first few entries of a list, and the number of the others."""
    more = len(entries) - _COLUMNS_NAMED
    return ", ".join(entries[:_COLUMNS_NAMED]) + (f" and {more} more" if more > 0 else "")


def _warn_of_sentinels(frame: pd.DataFrame, names: Collection[str]) -> None:
    """Warn of numbers such as −999 that are repeated, and far from all other values of their column."""
    numbers = frame.select_dtypes(include=["number"])
    if numbers.empty:
        return
    # Most columns are done here, all at once: neither their minimum nor their maximum is a sentinel.
    ends = np.stack([numbers.min().to_numpy(dtype=float), numbers.max().to_numpy(dtype=float)])
    suspected = set(numbers.columns[np.flatnonzero(np.isin(ends, _SENTINELS).any(axis=0))]) & set(names)
    found = []
    for name in [name for name in numbers.columns if name in suspected]:
        values = numbers[name].to_numpy(dtype=float)
        values = values[np.isfinite(values)]
        for sentinel in _SENTINELS:
            others = values[values != sentinel]
            count = len(values) - len(others)
            if count < 2 or count > len(values) / 2 or len(np.unique(others)) < 3:
                continue
            gap = max(others.min() - sentinel, sentinel - others.max())
            if gap > max(others.max() - others.min(), 1):
                span = f"{others.min():g} to {others.max():g}"
                found.append(f"{sentinel} in column {shown(name)} ({count} values, the others are {span})")
    if found:
        warn(f"may stand for missing values: {first_listed(found)}: if so, use na_values=[{found[0].split()[0]!r}]")


def _has_large(values: np.ndarray[Any, Any]) -> bool:
    """Say whether floats could stand for whole numbers that were different in the file."""
    return bool((np.abs(values) > EXACT_FLOAT_LIMIT).any())


def _is_whole(texts: pd.Series[Any]) -> bool:
    """Say whether all texts are whole numbers."""
    return bool(texts.dropna().str.fullmatch(r"\s*[+-]?[0-9]+\s*").all())


def _shows_its_sign(values: np.ndarray[Any, Any]) -> bool:
    """Say whether numbers prove the decimal sign with which they were read."""
    finite = values[np.isfinite(values)]
    return not may_have_groups(values) and bool((finite % 1 != 0).any())


def may_have_groups(values: np.ndarray[Any, Any]) -> bool:
    """Say whether numbers read with a decimal comma could have been written with commas between thousands instead.

    Examples
    --------
    >>> may_have_groups(np.array([1.234, 447.0])), may_have_groups(np.array([1.234, 0.5]))
    (True, False)
    """
    size = np.abs(values[~np.isnan(values)])
    with np.errstate(all="ignore"):
        thousandths = np.round(size * 1000) / 1000
    could_be = (size < 1000) & ((size >= 1) | (size == 0)) & (thousandths == size)
    return bool(could_be.all())


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
