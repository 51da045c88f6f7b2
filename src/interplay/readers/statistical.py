"""Files of SPSS, Stata and SAS → a pandas DataFrame, through pyreadstat.

A column whose values all have value labels (1 = male, 2 = female) becomes categorical, in the order of the codes. If
only some values have labels (99 = refused, among ages), the column stays numeric, with a warning.
"""

from __future__ import annotations

import datetime
import mmap
import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from interplay.base.checks import needing, reading, shown, warn
from interplay.data.study.table import LABELS
from interplay.readers.target_column import unread_columns
from interplay.readers.written_numbers import NaValues, WrittenNumbers, first_listed

if TYPE_CHECKING:
    import pandas as pd

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
ENDINGS = tuple(_READERS)

#: Formats in which a variable names codes that stand for missing values.
_USER_MISSING = (".sav", ".zsav")

_RECORD = 80

_NAMES = re.compile(rb"HEADER RECORD\*{7}(?:NAMESTR|NAMSTV8) HEADER RECORD!{7}\d{5}(?P<number>\d{5})")

_ROWS = re.compile(rb"HEADER RECORD\*{7}OBS(?:     |V8   )HEADER RECORD!{7}(?P<number>[ \d]{15})")

_NEXT = re.compile(rb"HEADER RECORD\*{7}MEMB(?:ER|V8)  HEADER RECORD!{7}")


def read_statistical(
    path: str | os.PathLike[str],
    ending: str,
    *,
    na_values: Iterable[str] = (),
    unread: Collection[str] = (),
    has_ids: bool = False,
    sample_id: str | None = None,
) -> pd.DataFrame:
    """Read a file whose extension is `ending`. User-defined missing values are missing; rows are counted from 1."""
    import pandas as pd

    with needing("pyreadstat", "stats", "files of SPSS, Stata and SAS need"):
        import pyreadstat
    shown_path = repr(os.fspath(path))
    errors = (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError, UnicodeError)
    with reading(path, f"a {ending} file that can be read", errors):
        read = getattr(pyreadstat, _READERS[ending])
        frame, meta = read(os.fspath(path))
        # Ranges of user-missing codes are told only to those who ask for the codes.
        coded = read(os.fspath(path), user_missing=True, metadataonly=True)[1] if ending in _USER_MISSING else meta
    if ending == ".xpt" and ends_early(path, len(frame)):
        raise ValueError(f"{shown_path} ends in the middle of its rows: get the whole file")
    if frame.shape[1] == 0 or len(frame) == 0:
        raise ValueError(f"{shown_path} has no {'rows' if frame.shape[1] else 'columns'}: give at least one")
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    said = NaValues(na_values)
    labels: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels
    partly: list[str] = []
    columns = {}
    for name in frame.columns:
        column = said.taken_out_of(_without_dates(frame[name]))
        columns[name] = column
        if labels.get(name):
            is_ordered = meta.variable_measure.get(name) != "nominal"
            columns[name] = _labelled(column, labels[name], said, is_ordered=is_ordered)
            if columns[name] is column:
                partly.append(_some_labelled(name, column, labels[name]))
    frame = pd.DataFrame(columns, index=frame.index)
    partly = [words for words in partly if words]
    if partly:
        warn(
            f"some numbers have labels, and these columns are taken as numbers: {first_listed(partly)}: name "
            "those that stand for missing values in na_values"
        )
    written = WrittenNumbers(shown_path, decimal=None, guessed=".", comma_separates=False)
    names = frame.columns.tolist()
    found = written.read_in(frame, unread_columns(unread, names, has_ids=has_ids, sample_id=sample_id))
    said_of = {name: _label_of(name, meta, coded) for name in names}
    found.attrs[LABELS] = {name: text for name, text in said_of.items() if text}
    return found


def _label_of(name: str, meta: Any, coded: Any) -> str:
    """Return the question text of a variable, with the codes that its file calls missing."""
    texts, labels = [str(meta.column_names_to_labels.get(name) or "").strip()], meta.variable_value_labels.get(name, {})
    codes = []
    for each in (coded.missing_ranges or {}).get(name, []):
        low, high = each["lo"], each["hi"]
        named = f"{_code(low)} = {labels[low]}" if low in labels else _code(low)
        codes.append(named if low == high else f"{_code(low)} to {_code(high)}")
    texts += [f"missing: {', '.join(codes)}"] if codes else []
    return "; ".join(filter(None, texts))


def _code(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _without_dates(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return dates as text, like dates of text files, and times of day as fractions of a day."""
    import pandas as pd

    if column.dtype.kind == "M":
        return pd.Series(column.dt.strftime("%Y-%m-%d %H:%M:%S"), dtype=object)
    if column.dtype.kind == "m":
        return pd.Series(column.dt.total_seconds() / 86400)
    if column.dtype != object:
        return column
    observed = column.dropna()
    if len(observed) and observed.map(lambda value: isinstance(value, datetime.date)).all():
        return column.map(lambda value: value.isoformat(), na_action="ignore")
    if len(observed) and observed.map(lambda value: isinstance(value, datetime.time)).all():
        return column.map(
            lambda time: (time.hour * 3600 + time.minute * 60 + time.second) / 86400, na_action="ignore"
        ).astype(float)
    return column


def _labelled(column: pd.Series[Any], labels: Mapping[Any, str], said: NaValues, *, is_ordered: bool) -> pd.Series[Any]:
    """Return a column of labels if every observed value has one, else the column itself."""
    import pandas as pd

    observed = column.dropna().unique().tolist()
    if not observed or not all(value in labels for value in observed):
        return column
    codes = sorted((code for code in observed if not said.has(labels[code])), key=lambda code: (str(type(code)), code))
    texts = [str(labels[code]) for code in codes]
    if len(set(texts)) < len(texts):  # two codes with the same label stay two levels
        texts = [f"{text} ({code:g})" if isinstance(code, float | int) else f"{text} ({code})"
                 for text, code in zip(texts, codes, strict=True)]  # fmt: skip
    return column.map(dict(zip(codes, texts, strict=True))).astype(pd.CategoricalDtype(texts, ordered=is_ordered))


def _some_labelled(name: str, column: pd.Series[Any], labels: Mapping[Any, str]) -> str:
    found = [value for value in column.dropna().unique().tolist() if value in labels]
    if not found:
        return ""
    code = f"{found[0]:g}" if isinstance(found[0], int | float) else shown(found[0])
    return f"{code} ({shown(str(labels[found[0]]))}) in column {shown(name)}"


def ends_early(path: str | os.PathLike[str], n_rows: int) -> bool:
    """Say whether a file, of which a reader got `n_rows`, lacks its end."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if len(content) % _RECORD:
            return True
        names, rows = _NAMES.search(content), _ROWS.search(content)
        if names is None or rows is None:
            return False  # of a kind that is not known here
        if n_rows < int(rows["number"].strip() or 0):  # version 8 has the number; 0 in version 5
            return True
        start = rows.start() + _RECORD
        following = _NEXT.search(content, start)
        end = len(content) if following is None else following.start()
        return content[start + n_rows * _row_bytes(content, names) : end].strip(b" ") != b""


def _row_bytes(content: mmap.mmap, names: re.Match[bytes]) -> int:
    """Add up the lengths of the variables: one description of 140 bytes (136 on VAX) for each."""
    member = content[names.start() - 4 * _RECORD : names.start()]
    size = 136 if member[74:78] == b"0136" else 140
    first = names.start() + _RECORD + 4  # where the length of the first variable is, of 2 bytes
    places = range(first, first + int(names["number"]) * size, size)
    return sum(int.from_bytes(content[place : place + 2], "big") for place in places)
