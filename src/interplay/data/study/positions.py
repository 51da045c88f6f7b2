"""Where variables lie: chromosome and position of each, from a .bim file, a table, or a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import shown
from interplay.data.study.columns import is_missing

#: The chromosome of a variable that a dict or table of positions does not name: it is far from all others. PLINK's "0",
#: for variants that are not placed, is a chromosome like any other: their position is 0, and they are close together.
NOWHERE = -1

_WANTED = (
    "one number, or one pair (chromosome, position), per variable of X; a dict of these by name; or a table with the "
    "columns variable, position and, where there are several, chromosome"
)


class Named(Protocol):
    """Variables with names, and with positions where these are known: a Table."""

    @property
    def names(self) -> list[str]: ...

    @property
    def positions(self) -> list[tuple[str, float]] | None: ...


@dataclass(frozen=True, eq=False)
class Positions:
    """Where the variables of a table lie."""

    #: (n_vars,): numbers of chromosomes, in any order; `NOWHERE` for variables that `positions` does not name.
    chromosome: IntArray
    position: FloatArray  #: (n_vars,)
    #: Names of the chromosomes, by their numbers.
    labels: list[str] = field(default_factory=list)

    def of(self, variables: IntArray) -> Positions:
        """Return the positions of some variables."""
        return Positions(self.chromosome[variables], self.position[variables], self.labels)


def make_positions(positions: Any, table: Named) -> Positions:
    """Return the positions of a table's variables, given in one of several ways.

    Examples
    --------
    >>> from interplay.data.study.table import as_table
    >>> table = as_table([[1, 2, 3], [4, 5, 6]], names=["a", "b", "c"])
    >>> make_positions({"a": ("1", 100), "c": ("2", 300)}, table).chromosome.tolist()
    [0, -1, 1]
    """
    if positions is None:
        positions = table.positions
        if positions is None:
            raise ValueError(f"positions of the variables are not known: give positions, {_WANTED}")
    if isinstance(positions, Positions):
        return positions
    if isinstance(positions, Mapping):
        by_name = dict(positions)
    elif _is_frame(positions):
        by_name = _from_frame(positions)
    else:
        entries = list(positions) if hasattr(positions, "__iter__") and not isinstance(positions, str) else None
        if entries is None or len(entries) != len(table.names):
            raise ValueError(f"positions must be {_WANTED}; not {shown(positions)}")
        by_name = dict(zip(table.names, entries, strict=True))
    if not by_name:
        raise ValueError(f"positions has no entries: give {_WANTED}")
    known = set(table.names)
    unknown = [name for name in by_name if name not in known]
    if len(unknown) == len(by_name):
        raise ValueError(f"positions names none of the variables of X (the first is {shown(unknown[0])})")
    return _numbered(by_name, table.names)


def _is_frame(positions: Any) -> bool:
    import narwhals.stable.v2 as nw

    return isinstance(nw.from_native(positions, pass_through=True), nw.DataFrame)


def _from_frame(frame: Any) -> dict[str, Any]:
    import narwhals.stable.v2 as nw

    native = nw.from_native(frame, eager_only=True)
    columns = {str(name).lower(): name for name in native.columns}
    if "variable" not in columns or "position" not in columns:
        raise ValueError(
            f"positions, as a table, must have the columns variable and position, not {shown(native.columns)}"
        )
    names = [str(name) for name in native[columns["variable"]].to_list()]
    position = native[columns["position"]].to_list()
    if "chromosome" not in columns:
        return dict(zip(names, position, strict=True))
    return dict(zip(names, zip(native[columns["chromosome"]].to_list(), position, strict=True), strict=True))


def _numbered(by_name: Mapping[Any, Any], names: Sequence[str]) -> Positions:
    number_of: dict[str, int] = {}
    chromosome = np.full(len(names), NOWHERE, dtype=np.int64)
    position = np.zeros(len(names))
    for v, name in enumerate(names):
        if name in by_name:
            where, position[v] = _place(name, by_name[name])
            chromosome[v] = number_of.setdefault(where, len(number_of))
    return Positions(chromosome, position, list(number_of))


def _place(name: str, entry: Any) -> tuple[str, float]:
    """Return the chromosome and the position of a variable."""
    try:
        chromosome, given = entry if isinstance(entry, tuple | list | np.ndarray) else ("", entry)
        position = np.nan if is_missing(given) else float(given)
    except (TypeError, ValueError):
        raise ValueError(f"positions must be {_WANTED}; not {shown(entry)} for variable {shown(name)}") from None
    lacking = "position" if not np.isfinite(position) else "chromosome" if is_missing(chromosome) else None
    if lacking is not None:
        raise ValueError(
            f"positions has no {lacking} for variable {shown(name)} ({shown(entry)}): give it, or leave the variable "
            "out of a dict or table of positions if it is to count as far from all others"
        )
    return str(chromosome), position
