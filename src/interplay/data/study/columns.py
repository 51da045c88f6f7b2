"""One column of any kind, as numbers: plain numbers as they are, labels as the numbers of their levels.

People keep numbers as text without knowing it: one "?" in a column of a file is enough. The column then has a label for
each text, and carries no information. The rules for such texts are for the readers of files and for dataframes.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import numbers
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import MAX_LEVELS, IntArray
from interplay.base.checks import shown

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


#: Of a column of labels, at least this share of values must be no numbers, or it is likely one of numbers with slips.
_SUSPICIOUS_SHARE = 0.5

#: Texts that are all numbers are fine as labels if they are as few as this: grades and codes.
_FEW_LABELS = 3

#: A text column with more levels than this, and than half its values, has nearly one level for each sample.
_MANY_LEVELS = 20

#: Of longer lists of texts, the first are enough to judge a column by.
_TEXTS_LOOKED_AT = 2000

_EXPONENT = r"(?:[eE][-+]?\d+)?"
_NAMED = r"(?:inf|infinity)"

#: Texts that stand for a missing value in any column, in small letters: blank, the words of R, SQL, Python, and of
#: spreadsheets for errors.
_ALWAYS_MISSING = frozenset({
    "", "?", "na", "n/a", "n.a.", "#n/a", "#n/a n/a", "#na", "<na>", "nan", "-nan", "+nan", "null", "<null>", "(null)",
    "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "#value!", "#div/0!", "#ref!", "#num!", "#name?", "#null!",
})  # fmt: skip
#: Texts that stand for a missing value among numbers, but may be labels: + and − of a test, the alleles . and −, "none"
#: and "mild".
_MISSING_AMONG_NUMBERS = frozenset({
    ".", "..", "...", "-", "--", "---", "–", "—", "*", "??", "none", "nil", "missing", "unknown", "not available",
})  # fmt: skip

#: Signs that are written in more than one way: spaces that do not break a line, minus signs, apostrophes.
_SAME_SIGNS = {0xA0: " ", 0x202F: " ", 0x2009: " ", 0x2212: "-", 0x2019: "'"}


def tidy(text: object) -> str:
    """Return a text without space around it, its signs in their plain forms."""
    return str(text).strip().translate(_SAME_SIGNS).strip()


def stands_for_missing(text: str, *, among_numbers: bool) -> bool:
    """Say whether a tidy text is a usual marker of missing values.

    Examples
    --------
    >>> [stands_for_missing(text, among_numbers=True) for text in ("?", "-", "NA", "", "0")]
    [True, True, True, True, False]
    >>> stands_for_missing("-", among_numbers=False)
    False
    """
    small = text.lower()
    return small in _ALWAYS_MISSING or (among_numbers and small in _MISSING_AMONG_NUMBERS)


@dataclass(frozen=True)
class NumberFormat:
    """One way of writing numbers."""

    #: The decimal sign.
    decimal: str
    #: The sign between groups of three digits; "" for none.
    thousands: str = ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        point, group = re.escape(self.decimal), re.escape(self.thousands)
        # Thousands are set off in all numbers or in none, and no such number starts with 0: 1234 and 0,500 do not fit.
        whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d{{1,3}})" if self.thousands else r"\d+"
        return re.compile(rf"[-+]?(?:{whole}(?:{point}\d*)?{_EXPONENT}|{point}\d+{_EXPONENT}|{_NAMED})", re.IGNORECASE)

    @cached_property
    def _clear_pattern(self) -> re.Pattern[str]:
        """Fits texts that only groups of thousands explain: two groups, or one beside a decimal sign."""
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
        if self.thousands not in (",", "."):  # a space or an apostrophe is no decimal sign
            return True
        return any(self._clear_pattern.fullmatch(text) for text in texts)

    def plain(self, text: str) -> str:
        """Return a number as Python writes it."""
        return (text.replace(self.thousands, "") if self.thousands else text).replace(self.decimal, ".")


POINT, COMMA = NumberFormat("."), NumberFormat(",")
GROUPED_POINT, GROUPED_COMMA = NumberFormat(".", ","), NumberFormat(",", ".")
NUMBER_FORMATS = (
    POINT,
    COMMA,
    GROUPED_POINT,
    GROUPED_COMMA,
    *(NumberFormat(decimal, thousands) for thousands in " '" for decimal in ".,"),
)


def is_number(text: str) -> bool:
    """Say whether a tidy text is a number in any way of writing."""
    return any(way.fits(text) for way in NUMBER_FORMATS)


@dataclass(frozen=True)
class LabelDoubt:
    """Reason to doubt that a text column holds labels."""

    #: The observation, in words.
    reason: str
    #: The texts that are no numbers, of a column that is mostly numbers; the most frequent first.
    strays: list[str]


def doubt_about_labels(counts: Mapping[str, int]) -> LabelDoubt | None:
    """Return the reason not to take texts, given the count of each, for labels; None if there is none.

    Examples
    --------
    >>> doubt_about_labels({"red": 10, "green": 7}) is None
    True
    >>> doubt_about_labels({"1.5": 10, "2": 7, "3": 1, "?": 2}).reason
    "90 % of its 20 values are numbers, the others are '?' (2)"
    """
    n_values = sum(counts.values())
    texts = list(counts)[:_TEXTS_LOOKED_AT]
    number_texts = {text for text in texts if is_number(tidy(text))}
    n_looked_at = sum(counts[text] for text in texts)
    n_numbers = sum(counts[text] for text in number_texts)
    strays = sorted((text for text in texts if text not in number_texts), key=lambda text: -counts[text])
    if strays and n_numbers > _SUSPICIOUS_SHARE * n_looked_at:
        listed = ", ".join(f"{shown(text)} ({counts[text]})" for text in strays[:5]) + ", …" * (len(strays) > 5)
        share = min(99, round(100 * n_numbers / n_looked_at))
        return LabelDoubt(f"{share} % of its {n_values} values are numbers, the others are {listed}", strays)
    if len(counts) > MAX_LEVELS:
        return None  # refused, with a reason
    if n_values and not strays and len(counts) > _FEW_LABELS:
        return LabelDoubt(f"its {n_values} values are numbers kept as text, such as {shown(texts[0])}", [])
    if len(counts) > max(_MANY_LEVELS, n_values / 2):
        examples = " and ".join(shown(text) for text in texts[:2])
        return LabelDoubt(f"it has {len(counts)} different texts in {n_values} values, such as {examples}", [])
    return None


Values = npt.NDArray[Any]

#: From here on, whole numbers no longer fit a float64 one by one.
EXACT_FLOAT_LIMIT = 2**53

#: Under "auto", a numeric column with at most this many values is discrete: flags and genotypes (0, 1, 2).
FEW_VALUES = 3


class ColumnKind(enum.IntEnum):
    """Kinds of values in a column."""

    NUMBER = 0
    BOOL = 1
    LABEL = 2


@dataclass(frozen=True)
class Column:
    """A column that is turned into numbers each time it is read."""

    kind: ColumnKind
    #: Type of the numbers that `read` returns; a floating one if values are missing.
    dtype: np.dtype[Any]
    #: Returns the (n_samples,) numbers; for labels the number of the level; NaN where missing. The array may be the
    #: user's own memory: never write to it.
    read: Callable[[], Values]
    #: The user's names of the levels, for bool and label columns.
    levels: list[Any] | None = None
    #: Reason to doubt that a text column holds labels: numbers with slips among them, say.
    doubt: LabelDoubt | None = None
    #: Whether labels have an order that the user gave, such as those of an ordered categorical.
    is_ordered: bool = False


def column_from_array(values: Values, where: str) -> Column:
    """Return the column that a one-dimensional NumPy array holds; `where` names it in messages."""
    kind = values.dtype.kind
    if kind == "b":
        flags = values.view(np.uint8)
        return Column(ColumnKind.BOOL, flags.dtype, lambda: flags, [False, True])
    if kind in "iuf":
        dtype = plain_dtype(values.dtype)
        return Column(ColumnKind.NUMBER, dtype, lambda: values.astype(dtype, copy=False))
    if kind in "UST":
        return column_from_objects(values.astype(object), where)
    if kind == "O":
        return column_from_objects(values, where)
    raise TypeError(f"{where} holds {_unusable_kind(kind)}: turn it into numbers or labels, or leave it out")


def column_from_objects(values: Values, where: str) -> Column:
    """Return the column that an array of Python objects holds: bools, numbers or text, some perhaps missing."""
    try:
        distinct = set(values)
    except TypeError:
        raise TypeError(f"{where} holds nested values: split it into plain columns or leave it out") from None
    observed = [value for value in distinct if not is_missing(value)]
    if observed and all(isinstance(value, bool | np.bool_) for value in observed):
        return _column_of_level_numbers(_level_numbers(values, [False, True]), [False, True], ColumnKind.BOOL)
    if all(isinstance(value, numbers.Real | decimal.Decimal | bool | np.bool_) for value in observed):
        floats = _floats_from_objects(values, where)
        return Column(ColumnKind.NUMBER, floats.dtype, lambda: floats)
    if all(isinstance(value, str) for value in observed) or all(isinstance(value, bytes) for value in observed):
        levels = sorted(observed)
        level_numbers = _level_numbers(values, levels)
        column = _column_of_level_numbers(level_numbers, levels, ColumnKind.LABEL)
        return replace(column, doubt=_doubt(level_numbers, levels))
    raise TypeError(f"{where} {_what_is_wrong(observed)}: turn it into numbers or labels, or leave it out")


def _doubt(level_numbers: IntArray, levels: list[Any]) -> LabelDoubt | None:
    """Return the reason to doubt the labels of a text column. Categories are never in doubt: the user chose them."""
    if not levels or not isinstance(levels[0], str):
        return None
    counts = np.bincount(level_numbers[level_numbers >= 0], minlength=len(levels))
    return doubt_about_labels(dict(zip(levels, counts.tolist(), strict=True)))


def column_from_series(get: Callable[[], nw.Series[Any]], where: str) -> Column:
    """Return the column that a narwhals series holds; `get` is called anew for each reading."""
    import narwhals.stable.v2 as nw

    series = get()
    dtype = series.dtype
    if isinstance(dtype, nw.Boolean):
        return column_from_array(series.to_numpy(), where)
    if isinstance(dtype, nw.String | nw.Binary | nw.Object):
        return column_from_objects(_object_array(series, where), where)
    if isinstance(dtype, nw.Enum | nw.Categorical):
        return _column_from_categories(series, where)
    if isinstance(dtype, nw.Decimal | nw.Int128 | nw.UInt128):
        return Column(ColumnKind.NUMBER, np.dtype(np.float64), partial(_wide_numbers, get, where))
    if dtype.is_integer() and series.null_count() > 0:
        return Column(ColumnKind.NUMBER, _float_dtype_for(_numpy_dtype(dtype)), partial(_integers_with_gaps, get))
    if dtype.is_numeric():
        number_dtype = plain_dtype(_numpy_dtype(dtype))
        return Column(ColumnKind.NUMBER, number_dtype, lambda: get().to_numpy().astype(number_dtype, copy=False))
    if dtype.is_temporal():
        raise TypeError(f"{where} holds {_unusable_kind('M')}: turn it into numbers or labels, or leave it out")
    if dtype.is_nested():
        raise TypeError(f"{where} holds nested values: split it into plain columns or leave it out")
    # Kinds that narwhals has no name for (sparse, complex, intervals, ...) are judged by their NumPy arrays.
    return column_from_array(series.to_numpy(), where)


def as_dtype(values: Values, dtype: np.dtype[Any]) -> Values:
    """Return `values` as `dtype`, keeping their order and which of them are equal."""
    if values.dtype == dtype:
        return values
    if dtype.kind == "f" and values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        return _order_as_floats(values).astype(dtype, copy=False)
    return values.astype(dtype)


def plain_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype a numeric or bool column is read as: native byte order, bools as 0/1, halves as singles."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    # float16 has no fast sort; every half is a single, so nothing changes.
    if dtype == np.float16:
        return np.dtype(np.float32)
    return dtype.newbyteorder("=")


def objects_from_masked(array: np.ma.MaskedArray[Any, Any]) -> Values:
    """Return a masked array as Python objects, None where masked."""
    values = np.array(array.data, dtype=object)
    values[np.ma.getmaskarray(array)] = None
    return values


def is_missing(value: Any) -> bool:
    """Say whether a Python object stands for a missing value (None, NaN, NaT, pandas.NA)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | decimal.Decimal) and bool(value != value)


def check_length(argument: str, values: Values, n_samples: int) -> None:
    """Refuse an argument without one value per sample of X."""
    if len(values) != n_samples:
        raise ValueError(f"{argument} must have one value per sample of X: {len(values)} values, {n_samples} samples")


def _level_numbers(values: Sequence[Any] | Values, levels: list[Any]) -> IntArray:
    """Return each value's number among `levels`, -1 for other values."""
    number_of = {level: number for number, level in enumerate(levels)}
    return np.fromiter(map(number_of.get, values, repeat(-1)), dtype=np.int64, count=len(values))


def _column_of_level_numbers(level_numbers: Values, levels: list[Any], kind: ColumnKind) -> Column:
    """Keep level numbers (-1: missing) in as few bytes as they need, and read them with NaN where missing."""
    kept = level_numbers.astype(np.min_scalar_type(-max(1, len(levels))))
    if not (kept < 0).any():
        return Column(kind, kept.dtype, lambda: kept, levels)
    dtype = _float_dtype_for(kept.dtype)
    return Column(kind, dtype, lambda: np.where(kept < 0, dtype.type(np.nan), kept.astype(dtype)), levels)


def _column_from_categories(series: nw.Series[Any], where: str) -> Column:
    """Return a categorical, its levels in the order of the categories, without the unused ones."""
    import narwhals.stable.v2 as nw

    # The categories of a polars Categorical come in the order in which the process first met them: not repeatable.
    if series.implementation.is_polars() and not isinstance(series.dtype, nw.Enum):
        return replace(column_from_objects(_object_array(series.cast(nw.String), where), where), doubt=None)
    levels = series.cat.get_categories().to_list()
    if series.implementation.is_pandas_like():
        level_numbers = np.asarray(series.to_native().cat.codes, dtype=np.int64)
    else:
        level_numbers = _level_numbers(series.to_list(), levels)
    used, renumbered = np.unique(level_numbers, return_inverse=True)
    if used[0] == -1:
        used, renumbered = used[1:], renumbered - 1
    column = _column_of_level_numbers(renumbered, [levels[number] for number in used], ColumnKind.LABEL)
    return replace(column, is_ordered=isinstance(series.dtype, nw.Enum))  # pandas' ordered categoricals, too


def _integers_with_gaps(get: Callable[[], nw.Series[Any]]) -> Values:
    """Read integers of which some are missing, as floats."""
    series = get()
    filled = series.fill_null(0).to_numpy()
    dtype = _float_dtype_for(filled.dtype)
    floats = as_dtype(filled, dtype)
    return np.where(series.is_null().to_numpy(), dtype.type(np.nan), floats)


def _floats_from_objects(values: Values, where: str) -> Values:
    """Turn Python numbers into float64 (or into their order, if exact ones are too large), NaN where missing."""
    missing = np.fromiter(map(is_missing, values), dtype=np.bool_, count=len(values))
    observed = values[~missing]
    floats = np.full(len(values), np.nan)
    try:
        floats[~missing] = observed.astype(np.float64)
        if any(map(_is_beyond_floats, observed)):
            floats[~missing] = np.unique(observed, return_inverse=True)[1]
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{where} holds numbers beyond the range of float64: scale it or leave it out") from None
    return floats


def _is_beyond_floats(value: Any) -> bool:
    """Say whether a number is so large, and so exact, that it may share a float64 with others."""
    is_exact = isinstance(value, numbers.Rational) or (isinstance(value, decimal.Decimal) and value.is_finite())
    return is_exact and abs(value) > EXACT_FLOAT_LIMIT


def _wide_numbers(get: Callable[[], nw.Series[Any]], where: str) -> Values:
    """Read decimals, or integers of 128 bits, as floats, or as their order where floats cannot tell them apart."""
    import narwhals.stable.v2 as nw

    series = get()
    floats: Values = series.cast(nw.Float64).to_numpy()
    if (np.abs(floats) > EXACT_FLOAT_LIMIT).any():
        return _floats_from_objects(_object_array(series, where), where)
    return floats


def _order_as_floats(values: Values) -> Values:
    """Turn 64-bit integers into float64; where they are too large to stay apart, into their ranks.

    Everything downstream looks at order and equality alone, so ranks say the same.
    """
    if len(values) and (values.max() > EXACT_FLOAT_LIMIT or values.min() < -EXACT_FLOAT_LIMIT):
        values = np.unique(values, return_inverse=True)[1]
    return values.astype(np.float64)


def _object_array(series: nw.Series[Any], where: str) -> Values:
    values = np.empty(len(series), dtype=object)
    try:
        values[:] = series.to_list()
    except UnicodeDecodeError:  # Arrow looks at its text only when it is asked to
        raise ValueError(f"{where} holds text that is not UTF-8: convert it, or leave it out") from None
    return values


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    return np.dtype(str(dtype).lower())


def _float_dtype_for(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the smallest of float32 and float64 that holds an integer dtype."""
    return np.result_type(dtype, np.float32)


def _unusable_kind(kind: str) -> str:
    kinds = {"c": "complex numbers", "M": "dates or times", "m": "time differences"}
    return kinds.get(kind, "values of no usable kind")


def _what_is_wrong(observed: list[Any]) -> str:
    unusable: dict[str, Any] = {
        "dates or times": datetime.date | datetime.time | np.datetime64,
        "time differences": datetime.timedelta | np.timedelta64,
        "nested values": tuple | frozenset,
        "complex numbers": complex | np.complexfloating,
    }
    for in_words, types in unusable.items():
        if any(isinstance(value, types) for value in observed):
            return f"holds {in_words}"
    kinds = sorted({type(value).__name__ for value in observed})
    return f"mixes {' and '.join(kinds[:3])}" if len(kinds) > 1 else f"holds values of type {kinds[0]}"


def decision_column(y: Any, argument: str = "y") -> Column:
    """Return `y`, or another argument with one value per sample, as one column."""
    if isinstance(y, Column):
        return y
    if y is None:
        raise TypeError(f"{argument} must hold one value per sample, not None")
    if not isinstance(y, np.ndarray | list | tuple):
        import narwhals.stable.v2 as nw

        native = nw.from_native(_as_pandas_series(y), pass_through=True, allow_series=True)
        if isinstance(native, nw.LazyFrame):
            native = native.collect()
        if isinstance(native, nw.DataFrame):
            _check_shape(native.shape, argument)
            native = native.get_column(native.columns[0])
        if isinstance(native, nw.Series):
            series = native
            return column_from_series(lambda: series, argument)
    array = _as_array(y, argument)
    _check_shape(array.shape, argument)
    if isinstance(array, np.ma.MaskedArray):
        array = objects_from_masked(array) if np.ma.is_masked(array) else np.asarray(array.data)
    return column_from_array(np.ascontiguousarray(array).reshape(-1), argument)


def _as_array(y: Any, argument: str) -> npt.NDArray[Any]:
    if isinstance(y, np.ndarray):
        return y
    try:
        array = np.asanyarray(y)
    except ValueError:
        raise ValueError(f"{argument} must be one-dimensional: its entries have different lengths") from None
    # NumPy turns [1, "a"] into two texts; as objects, the mixture is seen and refused.
    return np.array(y, dtype=object) if array.dtype.kind in "UST" and isinstance(y, list | tuple) else array


def _as_pandas_series(y: Any) -> Any:
    """Wrap a pandas Index or array (a Categorical, say), which narwhals does not know."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(y, pandas.Index | pandas.api.extensions.ExtensionArray):
        return pandas.Series(y)
    return y


def _check_shape(shape: tuple[int, ...], argument: str) -> None:
    if len(shape) == 1 or (len(shape) == 2 and shape[1] == 1):
        return
    if len(shape) == 2:
        advice = f"choose one, or one-hot columns as {argument}.argmax(axis=1)"
        raise ValueError(f"{argument} must be one column, not {shape[1]}: {advice}")
    raise ValueError(f"{argument} must be one-dimensional (one value per sample), not {len(shape)}-dimensional")
