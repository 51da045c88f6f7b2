"""Facts about a result: outcome, file, samples, date; the command or call that repeats it; numbers and names.

Outcome, source and date may be missing. base.js writes p-values in the same way.
"""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.text import printable
from interplay.show.results.provenance import Provenance
from interplay.show.results.summary_words import filters_in_words

if TYPE_CHECKING:
    from interplay.show.results.result import Result


def target_of(selection: Result) -> str:
    """Return the name of the outcome, or nothing."""
    return selection.record.target or ""


def file_of(selection: Result) -> str:
    """Return the name of the file that was read, without its folder, or nothing."""
    return PurePath(selection.record.source.file or "").name


def date_of(selection: Result) -> str:
    """Return the day of the run in words, or nothing."""
    try:
        day = datetime.fromisoformat(selection.record.date)
    except ValueError:
        return ""
    return f"{day.day} {day:%B %Y}"


def facts(selection: Result) -> list[tuple[str, str]]:
    """Return the facts under the headline, as names and values."""
    record = selection.record
    left_out = record.samples_left_out
    samples = f"{record.n_samples:,}" + (f" ({left_out:,} left out)" if left_out else "")
    filters = [("Filters", words[:-1]) for words in filters_in_words(record.filters)]
    entries = [
        *filters,
        ("Outcome", printable(target_of(selection), 60)),
        ("File", printable(file_of(selection), 80)),
        ("Samples", samples),
        ("Variables", f"{record.n_vars:,}"),
        ("Columns left out", _listed(record.source.dropped)),
        ("Date", date_of(selection)),
    ]
    return [(name, value) for name, value in entries if value]


def repeat(selection: Result) -> str:
    """Return the command that repeats the run, or else the call; for a replication, those of its search."""
    return _of_search(selection).source.command or _call(selection)


def _of_search(selection: Result) -> Provenance:
    """Return the provenance of the search; a replication keeps it beside its own provenance."""
    first = selection.record.found_in
    return selection.record if first is None else Provenance.of(first)


def _call(selection: Result) -> str:
    """Return the call that repeats the run; long lists are cut off."""
    record, settings = _of_search(selection), dict(selection.settings)
    settings["p_adjust"] = record.p_adjust or settings["p_adjust"]  # a replication may have another
    function, then = "select" if "n_contrast" in settings else "interactions", ""
    if function == "select" and not hasattr(selection, "is_relevant"):  # tests of a selection's tuples
        then = ".interactions()"
        settings = {name: value for name, value in settings.items() if name not in ("top", "max_p")}
    lines = "".join(
        f"    {name}={shown_value(value) if isinstance(value, list) else repr(value)},\n"
        for name, value in settings.items()
    )
    y = "(time, event)," if selection.has_times else "y,"
    data = y + _data_arguments(record, with_positions=selection.asked.min_distance is not None)
    return f"import interplay\n\nresult = interplay.{function}(\n    X, {data}\n{lines}){then}"


def _data_arguments(record: Provenance, *, with_positions: bool) -> str:
    """Return the arguments of a call that are data, beside X and y."""
    parts = {"strata": record.strata, "groups": record.groups.n_groups, "covariates": record.covariates}
    given = [name for name, value in parts.items() if value] + ["positions"] * with_positions
    return "".join(f" {name}={name}," for name in given)


def shown_value(value: Any) -> str:
    """Return a setting as Python code, or its first 499 characters."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 500 else text[:499] + "…"


def _listed(names: list[str], most: int = 8) -> str:
    listed = ", ".join(printable(name, 30) for name in names[:most])
    return f"{listed} and {len(names) - most} more" if len(names) > most else listed


def p_text(p: float) -> str:
    """Return a p-value as the scripts of the page write it.

    Examples
    --------
    >>> p_text(0.0421), p_text(1.234e-7)
    ('0.042', '1.2e-7')
    """
    if p >= 0.001 or p == 0:
        return f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(name: str, length: int = 60) -> str:
    """Return a name on one line, cut to `length` characters."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= length else line[: length - 1] + "…"


def number(value: float, digits: int = 8) -> float | int | None:
    """Round to significant digits; return None for infinities and NaN, which JSON lacks."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def numbers(values: npt.ArrayLike, digits: int = 8) -> list[float | int | None]:
    """Round all values to significant digits."""
    return [number(value, digits) for value in np.asarray(values, dtype=np.float64).ravel().tolist()]
