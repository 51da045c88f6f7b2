"""Texts that stand for numbers, or for missing values: the ways of writing them, and when a text column is in doubt.

People keep numbers as text without knowing it: one "?" in a column of a file is enough. The column then has a label for
each text, and carries no information. These rules are for the readers of files and for dataframes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from interplay.base.arrays import MAX_LEVELS
from interplay.base.checks import shown

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
