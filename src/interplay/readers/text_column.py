"""A column of texts from a file: numbers, dates or labels, judged by all its values.

Each way of writing numbers is a pattern; where one fits every value, that is how the column is written. Where two fit
and mean different numbers (1,234 beside 447), the column cannot decide it. Markers of missing values are set aside
first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import shown
from interplay.readers.written_dates import AmbiguousDatesError, look_like_dates, read_dates
from interplay.study.columns import EXACT_FLOAT_LIMIT
from interplay.study.number_texts import (
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

#: Signs that belong to a number without being part of it, if all numbers of a column have the same.
_SIGNS_BESIDE = ("%", "$", "€", "£", "¥")

#: A number and its unit.
_UNIT = re.compile(r"[-+]?[\d.,' ]*\d ?(?P<unit>[^\W\d_][\w/²³·^-]*)")

#: A whole number that a float64 may stand for, exactly or not.
_WHOLE = re.compile(r"[-+]?[0-9]{1,300}")


class TextColumn:
    """A column of texts, and how they may be read as numbers.

    Parameters
    ----------
    column : Series
        Of texts, some perhaps missing. The index says where they are in the file.
    name : str
    decimal : str, optional
        The decimal sign, where the user has said it.
    """

    def __init__(self, column: pd.Series[Any], name: str, decimal: str | None = None) -> None:
        self.name = name
        self._column = column
        counts = column.value_counts(sort=False)
        self._all = {raw: int(count) for raw, count in zip(counts.index.tolist(), counts.to_numpy(), strict=True)}
        tidied = {raw: tidy(raw) for raw in self._all}
        #: Markers of missing values, as they are in the file, if the column holds numbers or dates.
        self.markers = [raw for raw, text in tidied.items() if stands_for_missing(text, among_numbers=True)]
        markers = set(self.markers)
        self._raw = [raw for raw in self._all if raw not in markers]
        self._texts = [tidied[raw] for raw in self._raw]
        #: The sign or unit that all numbers have beside them, which is left out; "" for none.
        self.beside = self._common_sign() or self._common_unit()
        if self.beside:
            self._texts = [text.replace(self.beside, "").strip() for text in self._texts]
        possible = [way for way in NUMBER_FORMATS if decimal in (None, way.decimal)]
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
        """Return the letters with which every text ends, after a number: mg, kg/m²."""
        found = _UNIT.fullmatch(self._texts[0]) if self._texts else None
        if found is None or len(self._texts) == 1:
            return ""
        unit = found["unit"]
        have_it = all(text.endswith(unit) and is_number(text.removesuffix(unit).strip()) for text in self._texts)
        return unit if have_it else ""

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
        """Return a column of dates as days since 1970; None if it holds none, or not all in one way."""
        try:
            days = read_dates(self._texts)
        except AmbiguousDatesError:
            return None
        if days is None:
            return None
        return self._column.map(dict(zip(self._raw, days, strict=True))).astype(np.float64)

    def as_labels(self) -> pd.Series[Any]:
        """Return the column as labels, without space around them, and without what is missing among labels too."""
        missing = {raw for raw in self.markers if self.is_missing_label(raw)}
        labels = self._column.mask(self._column.isin(missing)) if missing else self._column
        spaced = {raw: raw.strip() for raw in self._all if isinstance(raw, str) and raw != raw.strip()}
        return labels.map(lambda raw: spaced.get(raw, raw), na_action="ignore") if spaced else labels

    @staticmethod
    def is_missing_label(raw: Any) -> bool:
        """Say whether a marker stands for a missing value even among labels."""
        return stands_for_missing(tidy(raw), among_numbers=False)

    def count(self, raw: Any) -> int:
        """Return how often a text occurs."""
        return self._all[raw]

    def examples(self) -> str:
        """Show a value with a comma or point and one that has none or another, and where they are."""
        signs = [frozenset(text) & {",", "."} for text in self._texts]
        first = next((i for i, found in enumerate(signs) if found), 0)
        other = next((i for i, found in enumerate(signs) if found != signs[first]), None)
        return " and ".join(self._placed(self._raw[i]) for i in (first, other) if i is not None)

    def doubt(self) -> str | None:
        """Say what speaks against labels in a column that is not read as numbers or dates; None if nothing does."""
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
        """Point at a lone dash or point among words, which may be one of them or stand for a missing value."""
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
        """Point at labels that differ in capitals only."""
        by_small: dict[str, Any] = {}
        for raw, text in zip(self._raw, self._texts, strict=True):
            other = by_small.setdefault(text.lower(), raw)
            if tidy(other) != text:
                return (
                    f"of which {self._placed(other)} and {self._placed(raw)} differ only in capital letters and count "
                    "as two: use one spelling"
                )
        return None

    def _placed(self, raw: Any) -> str:
        return f"{shown(str(raw))} ({self.place(raw)})"

    def place(self, raw: Any) -> str:
        """Say where a text is first, as the file counts."""
        counted = self._column.index.name
        return f"{'row' if counted is None else counted} {self._column.index[self._row(raw)]}"

    def _row(self, raw: Any) -> int:
        return int((self._column == raw).to_numpy(dtype=bool, na_value=False).argmax())
