"""Dates of a text column → days since 1970.

All values of a column decide its format, as for numbers: 03/04/2020 is in March or in April, and 25/04/2020 decides.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence

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
