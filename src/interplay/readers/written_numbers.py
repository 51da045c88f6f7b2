"""How the numbers of a text column are written: which sign is the decimal one, and which sets off thousands.

A column is judged by all its values. Each way of writing numbers is a pattern; where one fits every value, that is how
the column is written. Where two fit and mean different numbers (1,234 beside 447), the column cannot decide it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.checks import shown

if TYPE_CHECKING:
    import pandas as pd

#: A text column of which more than this share are numbers is likely a column of numbers with slips in it.
_SUSPICIOUS_SHARE = 0.5

_EXPONENT = r"(?:[eE][-+]?\d+)?"
_NAMED = r"(?:inf|infinity)"


@dataclass(frozen=True)
class NumberFormat:
    """One way of writing numbers.

    Attributes
    ----------
    decimal : str
        The decimal sign.
    thousands : str
        The sign between groups of three digits; "" for none.
    """

    decimal: str
    thousands: str = ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        point, group = re.escape(self.decimal), re.escape(self.thousands)
        # Who sets off thousands does so in every number, and no group starts from nothing: 1234 and 0,500 are not so.
        whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d{{1,3}})" if self.thousands else r"\d+"
        return re.compile(rf"[-+]?(?:{whole}(?:{point}\d*)?{_EXPONENT}|{point}\d+{_EXPONENT}|{_NAMED})", re.IGNORECASE)

    @cached_property
    def _clear_pattern(self) -> re.Pattern[str]:
        """Fits what nothing but groups can explain: two of them, or one beside a decimal sign."""
        point, group = re.escape(self.decimal), re.escape(self.thousands)
        return re.compile(rf"[-+]?\d{{1,3}}(?:(?:{group}\d{{3}}){{2,}}(?:{point}\d*)?|{group}\d{{3}}{point}\d*)")

    def fits(self, text: str) -> bool:
        """Say whether a text is a number in this way of writing.

        Examples
        --------
        >>> [GROUPED_POINT.fits(text) for text in ("1,234.5", "447", "1,23", "1234", "0,500")]
        [True, True, False, False, False]
        """
        return self._pattern.fullmatch(text) is not None

    def is_clear(self, texts: Iterable[str]) -> bool:
        """Say whether, of texts that fit, one shows that thousands are set off."""
        return any(self._clear_pattern.fullmatch(text) for text in texts)

    def plain(self, text: str) -> str:
        """Return a number as Python writes it."""
        return (text.replace(self.thousands, "") if self.thousands else text).replace(self.decimal, ".")


POINT, COMMA = NumberFormat("."), NumberFormat(",")
GROUPED_POINT, GROUPED_COMMA = NumberFormat(".", ","), NumberFormat(",", ".")
FORMATS = (POINT, COMMA, GROUPED_POINT, GROUPED_COMMA)


class TextColumn:
    """A column of texts, and how they may be read as numbers.

    Parameters
    ----------
    column : Series
        Of texts, some perhaps missing.
    name : str
    decimal : str, optional
        The decimal sign, where the user has said it.
    """

    def __init__(self, column: pd.Series[Any], name: str, decimal: str | None = None) -> None:
        self.name = name
        self._column = column
        counts = column.value_counts(sort=False)
        self._raw, self._counts = counts.index.tolist(), counts.to_numpy()
        self._texts = [str(text).strip() for text in self._raw]
        possible = [way for way in FORMATS if decimal in (None, way.decimal)]
        #: Ways of writing that would do for every value, one for each meaning.
        self.fitting: list[NumberFormat] = []
        meanings: list[list[str]] = []
        for way in possible if self._texts else []:
            if all(way.fits(text) for text in self._texts):
                meaning = [way.plain(text) for text in self._texts]
                if meaning not in meanings:
                    self.fitting.append(way)
                    meanings.append(meaning)
        self._is_told = decimal is not None

    @property
    def way(self) -> NumberFormat | None:
        """How the numbers are written, if the values decide it."""
        if self._is_told and self.fitting:
            return self.fitting[0]
        if len(self.fitting) == 1:
            (only,) = self.fitting
            return only if not only.thousands or only.is_clear(self._texts) else None
        return None

    @property
    def has_signs(self) -> bool:
        """Say whether any value has a comma or point: a column of plain whole numbers shows nothing."""
        return any("," in text or "." in text for text in self._texts)

    @property
    def sign(self) -> str:
        """The sign that may be either, of a column that does not decide it."""
        return "," if any("," in text for text in self._texts) else "."

    def keeps_its_order(self) -> bool:
        """Say whether all that fits gives the same numbers but for a factor of 1000."""
        return len(self.fitting) > 1 and all("," in text for text in self._texts)

    def as_numbers(self, way: NumberFormat) -> pd.Series[Any]:
        """Return the column as numbers, to the last bit."""
        plain = [way.plain(text) for text in self._texts]
        whole = not self._column.isna().any() and all(re.fullmatch(r"[-+]?\d{1,18}", text) for text in plain)
        number = int if whole else float
        of_text = {raw: number(text) for raw, text in zip(self._raw, plain, strict=True)}
        return self._column.map(of_text).astype(np.int64 if whole else np.float64)

    def examples(self) -> str:
        """Show a value with a comma or point and one that has none or another, and where they are."""
        signs = [frozenset(text) & {",", "."} for text in self._texts]
        first = next((i for i, found in enumerate(signs) if found), 0)
        other = next((i for i, found in enumerate(signs) if found != signs[first]), None)
        return " and ".join(self._placed(self._raw[i]) for i in (first, other) if i is not None)

    def why_labels(self) -> str | None:
        """Say what makes labels of a column that is mostly numbers; None for a column that is not."""
        is_number = np.array([any(way.fits(text) for way in FORMATS) for text in self._texts], dtype=bool)
        n_values, n_stray = int(self._counts.sum()), int(self._counts[~is_number].sum())
        if n_stray >= (1 - _SUSPICIOUS_SHARE) * n_values:
            return None
        if n_stray == 0:
            return (
                f"its numbers, written in more than one way, {self.examples()}: write them all with a decimal point "
                "and nothing between thousands"
            )
        first = self._raw[int(np.argmin(is_number))]
        more = f" and {n_stray - 1} more like it" if n_stray > 1 else ""
        return (
            f"{shown(str(first))} in row {self._row(first)}{more} (of {n_values} values): if it holds numbers, correct "
            "that cell or leave it empty"
        )

    def _placed(self, raw: Any) -> str:
        return f"{shown(str(raw))} (row {self._row(raw)})"

    def _row(self, raw: Any) -> int:
        return int((self._column == raw).to_numpy(dtype=bool, na_value=False).argmax()) + 1


@dataclass(frozen=True)
class WrittenNumbers:
    """How the numbers of a file are written.

    Attributes
    ----------
    file : str
        What to call it.
    decimal : str or None
        The decimal sign, where the user has said it.
    guessed : str
        The decimal sign with which pandas has read the numbers it knew.
    comma_separates : bool
        Whether commas separate the fields; numbers with a comma are then in quotes.
    """

    file: str
    decimal: str | None
    guessed: str
    comma_separates: bool

    def read_in(self, frame: pd.DataFrame, names: list[str], as_texts: Callable[[list[str]], pd.DataFrame]) -> None:
        """Turn the columns `names` of `frame` that are numbers into these; warn of what may be meant as numbers.

        The sign that pandas was given was a guess: what it may have misread is read again by `as_texts`.
        """
        is_text = set(frame.select_dtypes(exclude=["number", "bool"]).columns)
        is_float = set(frame.select_dtypes(include=["float"]).columns)
        columns = [TextColumn(frame[name], name, self.decimal) for name in names if name in is_text]
        floats = [name for name in names if name in is_float]
        signs = self._signs_shown(columns)
        if any(_shows_its_sign(frame[name].to_numpy()) for name in floats):
            signs |= {self.guessed}
        if self.decimal is None and "," in signs | {self.guessed}:
            doubtful = [name for name in floats if may_have_groups(frame[name].to_numpy())]
            texts = as_texts(doubtful) if doubtful else frame[[]]
            columns += [TextColumn(texts[name], name) for name in doubtful]
            signs |= self._signs_shown(columns)
        for column in columns:
            way = column.way
            if way is None and column.fitting:
                way = self._by_other_columns(column, signs)
            if way is not None:
                frame[column.name] = column.as_numbers(way)
            elif reason := column.why_labels():
                _warn(f"column {shown(column.name)} is taken as labels because of {reason}")

    @staticmethod
    def _signs_shown(columns: Iterable[TextColumn]) -> set[str]:
        """Return the decimal signs of the columns that decide it themselves."""
        return {column.way.decimal for column in columns if column.way is not None and column.has_signs}

    def _by_other_columns(self, column: TextColumn, signs: set[str]) -> NumberFormat:
        """Decide about a column that cannot decide it itself, with a warning, or refuse the file.

        `signs` are the decimal signs that other columns show: one file is written in one way.
        """
        by_sign = {way.decimal: way for way in column.fitting}
        if POINT in column.fitting and "," not in signs:
            return POINT  # as everywhere, unless the file shows another use
        (sign,) = signs if len(signs) == 1 else ("",)
        if sign in by_sign:
            because = f"as other columns have decimal {_SIGNS[sign]}s"
        elif column.keeps_its_order():
            sign, because = "." if self.comma_separates else ",", "which makes no difference to the order of the values"
        else:
            raise ValueError(
                f"{self.file}, column {shown(column.name)}: {column.examples()} can be read in two ways, as the "
                f"{_SIGNS[column.sign]} may be the decimal sign or set off thousands: say decimal=',' or decimal='.', "
                "or write the numbers with a decimal point and nothing between thousands"
            )
        way = by_sign[sign]
        use = "the sign between thousands" if way.thousands else "the decimal sign"
        _warn(
            f"column {shown(column.name)}: in {column.examples()} the {_SIGNS[way.thousands or way.decimal]} is taken "
            f"for {use}, {because}: say decimal=',' or decimal='.' if it should be otherwise"
        )
        return way


_SIGNS = {",": "comma", ".": "point"}


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)


def _shows_its_sign(values: np.ndarray[Any, Any]) -> bool:
    """Say whether numbers, read with some decimal sign, leave no doubt that it is one."""
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
