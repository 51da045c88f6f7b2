"""A column of texts from a file: numbers, dates or labels, decided by all its values.

Each format of numbers is a pattern, which must fit every value. If two formats fit and mean different numbers (1,234
beside 447), the column leaves its format open. Markers of missing values are set aside first.

Dates of a text column → days since 1970.

All values of a column decide its format, as for numbers: 03/04/2020 is in March or in April, and 25/04/2020 decides.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import shown
from interplay.data.study.columns import (
    EXACT_FLOAT_LIMIT,
    NUMBER_FORMATS,
    LabelDoubt,
    NumberFormat,
    doubt_about_labels,
    is_number,
    stands_for_missing,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd


#: Signs that are removed from numbers if all numbers of a column have the same one.
_SIGNS_BESIDE = ("%", "$", "€", "£", "¥")

#: Among at most so many labels, None is one of them.
_FEW_WITH_NONE = 10

#: A number and its unit.
_UNIT = re.compile(r"[-+]?[\d.,' ]*\d ?(?P<unit>[^\W\d_][\w/²³·^-]*)")

#: A whole number that a float64 may stand for, exactly or not.
_WHOLE = re.compile(r"[-+]?[0-9]{1,300}")


class TextColumn:
    """A column of texts, and how they may be read as numbers.

    - `column`: texts, some perhaps missing. The index is their line or row in the file.
    - `decimal`: the decimal sign, if the user gives it.
    - `kept`: texts that are values, though they usually mark missing ones.
    """

    def __init__(
        self, column: pd.Series[Any], name: str, decimal: str | None = None, kept: Collection[str] = ()
    ) -> None:
        self.name = name
        self._column = column
        counts = column.value_counts(sort=False)
        self._all = {raw: int(count) for raw, count in zip(counts.index.tolist(), counts.to_numpy(), strict=True)}
        tidied = {raw: tidy(raw) for raw in self._all}
        #: Texts that mark missing values in a column of numbers or dates, as in the file.
        self.markers = [
            raw for raw, text in tidied.items() if text not in kept and stands_for_missing(text, among_numbers=True)
        ]
        markers = set(self.markers)
        self._raw = [raw for raw in self._all if raw not in markers]
        self._texts = [tidied[raw] for raw in self._raw]
        #: The sign or unit of all numbers, which is removed; "" for none.
        self.beside = self._common_sign() or self._common_unit()
        if self.beside:
            self._texts = [text.replace(self.beside, "").strip() for text in self._texts]
        possible = [way for way in NUMBER_FORMATS if decimal in (None, way.decimal)]
        #: Formats that fit every value; of formats that mean the same numbers, the first.
        self.fitting: list[NumberFormat] = []
        meanings: list[list[str]] = []
        for way in possible if self._texts else []:
            if all(way.fits(text) for text in self._texts):
                meaning = [way.plain(text) for text in self._texts]
                if meaning not in meanings:
                    self.fitting.append(way)
                    meanings.append(meaning)
        self._is_told = decimal is not None

    def _common_sign(self) -> str:
        """Return the sign with which every text starts or ends."""
        for sign in _SIGNS_BESIDE:
            if self._texts and all(
                text.count(sign) == 1 and (text.lstrip("+-").startswith(sign) or text.endswith(sign))
                for text in self._texts
            ):
                return sign
        return ""

    def _common_unit(self) -> str:
        """Return the unit after the number in every text: mg, kg/m²."""
        found = _UNIT.fullmatch(self._texts[0]) if self._texts else None
        if found is None or len(self._texts) == 1:
            return ""
        unit = found["unit"]
        have_it = all(text.endswith(unit) and is_number(text.removesuffix(unit).strip()) for text in self._texts)
        return unit if have_it else ""

    @property
    def way(self) -> NumberFormat | None:
        """The format of the numbers, if the values decide it."""
        if self._is_told and self.fitting:
            return self.fitting[0]
        if len(self.fitting) == 1:
            (only,) = self.fitting
            return only if not only.thousands or only.is_clear(self._texts) else None
        return None

    @property
    def has_signs(self) -> bool:
        """Say whether any value has a comma or point: plain whole numbers do not show the decimal sign."""
        return any("," in text or "." in text for text in self._texts)

    @property
    def sign(self) -> str:
        """The sign that may be decimal or separate thousands, in a column that leaves its format open."""
        return "," if any("," in text for text in self._texts) else "."

    def keeps_its_order(self) -> bool:
        """Say whether all fitting formats give the same numbers up to a factor of 1000."""
        return len(self.fitting) > 1 and all("," in text for text in self._texts)

    def as_numbers(self, way: NumberFormat) -> pd.Series[Any]:
        """Return the column as numbers, read exactly."""
        import pandas as pd

        plain = [way.plain(text) for text in self._texts]
        has_gaps = bool(self.markers) or self._column.isna().any()
        whole = not has_gaps and all(re.fullmatch(r"[-+]?\d{1,18}", text) for text in plain)
        number = int if whole else float
        if all(_WHOLE.fullmatch(text) for text in plain) and any(abs(int(text)) > EXACT_FLOAT_LIMIT for text in plain):
            number = int  # of any size: as floats, different ones would be equal
        of_text = {raw: number(text) for raw, text in zip(self._raw, plain, strict=True)}
        if number is int and not whole:
            numbers = [of_text.get(raw) for raw in self._column.tolist()]
            return pd.Series(numbers, index=self._column.index, dtype=object)
        return self._column.map(of_text).astype(np.int64 if whole else np.float64)

    def as_days(self) -> pd.Series[Any] | None:
        """Return a column of dates as days since 1970; None unless all texts are dates of one format."""
        try:
            days = read_dates(self._texts)
        except AmbiguousDatesError:
            return None
        if days is None:
            return None
        return self._column.map(dict(zip(self._raw, days, strict=True))).astype(np.float64)

    def as_labels(self) -> pd.Series[Any]:
        """Return the column as labels, without surrounding space and without markers of missing labels."""
        missing = {raw for raw in self.markers if self.is_missing_label(raw)}
        labels = self._column.mask(self._column.isin(missing)) if missing else self._column
        spaced = {raw: raw.strip() for raw in self._all if isinstance(raw, str) and raw != raw.strip()}
        return labels.map(lambda raw: spaced.get(raw, raw), na_action="ignore") if spaced else labels

    def is_missing_label(self, raw: Any) -> bool:
        """Say whether a marker stands for a missing value even among labels."""
        text = tidy(raw)
        return stands_for_missing(text, among_numbers=False) or (text == "None" and not self._none_is_level)

    @cached_property
    def _none_is_level(self) -> bool:
        """Whether None is one of few labels of a column without missing values: "no airbags", and not a gap."""
        has_gaps = self._column.isna().any() or any(
            stands_for_missing(tidy(raw), among_numbers=False) for raw in self.markers
        )
        return len(self._all) <= _FEW_WITH_NONE and not has_gaps

    def count(self, raw: Any) -> int:
        """Return the number of occurrences of a text."""
        return self._all[raw]

    def examples(self) -> str:
        """Return a value with a comma or point and a value with other signs, each with its place in the file."""
        signs = [frozenset(text) & {",", "."} for text in self._texts]
        first = next((i for i, found in enumerate(signs) if found), 0)
        other = next((i for i, found in enumerate(signs) if found != signs[first]), None)
        return " and ".join(self._placed(self._raw[i]) for i in (first, other) if i is not None)

    def doubt(self) -> str | None:
        """Return the reason why a column that is read as labels may be numbers or dates; None if there is none."""
        counts = {str(raw): self._all[raw] for raw in self._raw}
        found = doubt_about_labels(counts)
        if self.fitting or (counts and all(is_number(text) for text in self._texts)):
            return (
                f"because its numbers are written in more than one way, {self.examples()}: write them all with a "
                "decimal point and without separators of thousands"
            )
        if found is not None and found.strays:
            return self._because_of_strays(found)
        if look_like_dates(self._texts):
            return (
                f"although {self._placed(self._raw[0])} looks like a date: write all dates as 2024-12-31, or leave the "
                "column out"
            )
        if found is not None:
            return f"although {found.reason}: leave it out if it is an identifier or free text"
        return self._because_of_signs() or self._because_of_capitals()

    def _because_of_strays(self, found: LabelDoubt) -> str:
        first = min(found.strays, key=lambda raw: self._row(raw))
        n_stray = sum(self._all[raw] for raw in found.strays)
        more = f" and {n_stray - 1} more like it" if n_stray > 1 else ""
        return (
            f"because of {shown(first)} in {self.place(first)}{more} ({found.reason}): if the column holds numbers, "
            f"correct the values that are not, or use na_values={[str(first)]!r} if this stands for a missing value"
        )

    def _because_of_signs(self) -> str | None:
        """Return a note on a lone dash or point among labels, which may be a label or mark a missing value."""
        if not self._raw or not all(re.search(r"\w", text) for text in self._texts):
            return None
        unsure = [raw for raw in self.markers if not self.is_missing_label(raw) and not re.search(r"\w", str(raw))]
        if not unsure:
            return None
        return (
            f"and {shown(unsure[0])} ({self._all[unsure[0]]} values, the first in {self.place(unsure[0])}) as one of "
            f"them: use na_values={[str(unsure[0])]!r} if it stands for a missing value"
        )

    def _because_of_capitals(self) -> str | None:
        """Return a note on labels that differ in capitals only."""
        by_small: dict[str, tuple[Any, str]] = {}
        for raw, text in zip(self._raw, self._texts, strict=True):
            other, spelling = by_small.setdefault(text.lower(), (raw, text))
            if spelling != text:
                return (
                    f"of which {self._placed(other)} and {self._placed(raw)} differ only in capital letters and count "
                    "as two: use one spelling"
                )
        return None

    def _placed(self, raw: Any) -> str:
        return f"{shown(str(raw))} ({self.place(raw)})"

    def place(self, raw: Any) -> str:
        """Return the line or row of the first occurrence of a text."""
        counted = self._column.index.name
        return f"{'row' if counted is None else counted} {self._column.index[self._row(raw)]}"

    def _row(self, raw: Any) -> int:
        return int((self._column == raw).to_numpy(dtype=bool, na_value=False).argmax())


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EPOCH = datetime.datetime(1970, 1, 1)

_TIME = r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d+)?))?(?P<zone>Z|[-+]\d\d:?\d\d)?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign)(?P<day>\d{{1,2}}){_TIME}")
_YEAR_AND_MONTH = re.compile(r"(?P<year>\d{4})(?P<sign>[-/])(?P<month>\d{1,2})")
_DAY_FIRST = re.compile(rf"(?P<day>\d{{1,2}})(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign)(?P<year>\d{{4}}){_TIME}")
_MONTH_FIRST = re.compile(rf"(?P<month>\d{{1,2}})(?P<sign>[-/])(?P<day>\d{{1,2}})(?P=sign)(?P<year>\d{{4}}){_TIME}")
_NAMED_MONTH = re.compile(
    rf"(?P<day>\d{{1,2}})(?P<sign>[- /.]?)(?P<name>[a-z]{{3,9}})\.?(?P=sign)(?P<year>\d{{4}}){_TIME}", re.IGNORECASE
)

#: Texts that look like a date or time of any format: a column of them does not hold labels.
_LOOKS_LIKE_ONE = re.compile(
    r"\d{4}[-/]\d{1,2}|\d{1,4}([-/.])(?:\d{1,2}|[a-z]{3})\1\d{1,4}(?:[T ].*)?"
    r"|\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[ap]m)?",
    re.IGNORECASE,
)


class AmbiguousDatesError(ValueError):
    """Dates that fit both day before month and month before day."""


def read_dates(texts: Sequence[str]) -> list[float] | None:
    """Return tidy texts as days since 1970, or None unless all are dates of one format.

    Examples
    --------
    >>> read_dates(["1970-01-02", "1970-01-11 12:00"])
    [1.0, 10.5]
    >>> read_dates(["02/01/1970", "25/01/1970"]), read_dates(["01/02/1970", "01/25/1970"])
    ([1.0, 24.0], [1.0, 24.0])
    >>> read_dates(["02-JAN-1970"]), read_dates(["1970-13-01"]), read_dates(["yesterday"])
    ([1.0], None, None)
    """
    if not texts or (not _LOOKS_LIKE_ONE.match(texts[0]) and not _NAMED_MONTH.match(texts[0])):
        return None
    for way in (_YEAR_FIRST, _YEAR_AND_MONTH, _NAMED_MONTH):
        if (days := _days_by(way, texts)) is not None:
            return days
    day_first, month_first = _days_by(_DAY_FIRST, texts), _days_by(_MONTH_FIRST, texts)
    if day_first is not None and month_first is not None and day_first != month_first:
        raise AmbiguousDatesError
    return month_first if day_first is None else day_first


def look_like_dates(texts: Sequence[str]) -> bool:
    """Say whether most texts look like dates or times, readable or not."""
    return sum(_LOOKS_LIKE_ONE.fullmatch(text) is not None for text in texts) > len(texts) / 2


def _days_by(way: re.Pattern[str], texts: Sequence[str]) -> list[float] | None:
    days = []
    for text in texts:
        found = way.fullmatch(text)
        day = None if found is None else _day(found.groupdict().get)
        if day is None:
            return None
        days.append(day)
    return days


def _day(part: Callable[[str], str | None]) -> float | None:
    """Return the days since 1970 from the parts of a date; None if the day does not exist."""
    name = part("name")
    month = int(part("month") or 0) if name is None else _month_of(name)
    try:
        seconds = float(part("second") or 0)
        moment = datetime.datetime(
            int(part("year") or 0), month, int(part("day") or 1), int(part("hour") or 0), int(part("minute") or 0)
        )
    except ValueError:
        return None
    if seconds >= 61:
        return None
    return ((moment - _EPOCH).total_seconds() + seconds - _seconds_of(part("zone"))) / 86400


def _seconds_of(zone: str | None) -> int:
    """Return the offset of a time zone from UTC, in seconds."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    return (-1 if zone[0] == "-" else 1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def _month_of(name: str) -> int:
    """Return the number of a month by its English name, or 0."""
    short = name[:3].lower()
    return _MONTHS.index(short) + 1 if short in _MONTHS else 0
