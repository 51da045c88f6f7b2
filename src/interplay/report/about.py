"""Facts about a result: outcome, file, samples, date; and the command or call that repeats it.

Outcome, source and date may be missing or come from another tool: loading a result does not check all of them.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from interplay.base.text import printable

if TYPE_CHECKING:
    from interplay.results.result import Result


def target_of(selection: Result) -> str:
    """Return the name of the outcome, or nothing."""
    return _text(selection.provenance.get("target"))


def file_of(selection: Result) -> str:
    """Return the name of the file that was read, without its folder, or nothing."""
    return PurePath(_text(_source(selection.provenance).get("file"))).name


def dropped_columns(selection: Result) -> list[str]:
    """Return the columns of the file that were left out."""
    dropped = _source(selection.provenance).get("dropped")
    return [str(name) for name in dropped] if isinstance(dropped, list | tuple) else []


def date_of(selection: Result) -> str:
    """Return the day of the run in words, or nothing."""
    try:
        day = datetime.fromisoformat(_text(selection.provenance.get("date")))
    except ValueError:
        return ""
    return f"{day.day} {day:%B %Y}"


def facts(selection: Result) -> list[tuple[str, str]]:
    """Return the facts under the headline, as names and values."""
    provenance, dropped = selection.provenance, dropped_columns(selection)
    left_out = provenance["samples_left_out"]
    samples = f"{provenance['n_samples']:,}" + (f" ({left_out:,} left out)" if left_out else "")
    entries = [
        ("Outcome", printable(target_of(selection), 60)),
        ("File", printable(file_of(selection), 80)),
        ("Samples", samples),
        ("Variables", f"{provenance['n_vars']:,}"),
        ("Columns left out", _listed(dropped)),
        ("Date", date_of(selection)),
    ]
    return [(name, value) for name, value in entries if value]


def repeat(selection: Result) -> str:
    """Return the command that repeats the run, or else the call; for a replication, those of its search."""
    return _text(_source(_of_search(selection)).get("command")) or _call(selection)


def _of_search(selection: Result) -> dict[str, Any]:
    """Return the provenance of the search; a replication keeps it beside its own provenance."""
    provenance: dict[str, Any] = selection.provenance
    first: dict[str, Any] = provenance.get("found in", provenance)
    return first


def _call(selection: Result) -> str:
    """Return the call that repeats the run; long lists are cut off."""
    provenance, settings = _of_search(selection), dict(selection.settings)
    settings["p_adjust"] = provenance.get("p_adjust", settings["p_adjust"])  # a replication may have another
    function, then = "select" if "n_contrast" in settings else "interactions", ""
    if function == "select" and not hasattr(selection, "is_relevant"):  # tests of a selection's tuples
        then = ".interactions()"
        settings = {name: value for name, value in settings.items() if name not in ("top", "max_p")}
    lines = "".join(
        f"    {name}={shown_value(value) if isinstance(value, list) else repr(value)},\n"
        for name, value in settings.items()
    )
    y = "(time, event)," if selection.has_times else "y,"
    data = y + _data_arguments(provenance, with_positions=settings.get("min_distance") is not None)
    return f"import interplay\n\nresult = interplay.{function}(\n    X, {data}\n{lines}){then}"


def _data_arguments(provenance: dict[str, Any], *, with_positions: bool) -> str:
    """Return the arguments of a call that are data, beside X and y."""
    given = [name for name in ("strata", "groups", "covariates") if provenance.get(name, {})]
    if not provenance.get("groups", {}).get("n_groups"):  # permutations alone
        given = [name for name in given if name != "groups"]
    given += ["positions"] * with_positions
    return "".join(f" {name}={name}," for name in given)


def shown_value(value: Any) -> str:
    """Return a setting as Python code, or its first 499 characters."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 500 else text[:499] + "…"


def _source(provenance: dict[str, Any]) -> dict[str, Any]:
    source = provenance.get("source")
    return source if isinstance(source, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _listed(names: list[str], most: int = 8) -> str:
    listed = ", ".join(printable(name, 30) for name in names[:most])
    return f"{listed} and {len(names) - most} more" if len(names) > most else listed
