"""SitePlan: what all sites agree on before they look at their tables, as a text file."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from math import comb, prod
from typing import Any

import numpy as np

from interplay.ask.tuple_tests.prospects import PValueCaps, check_listed_method
from interplay.ask.tuple_tests.screen import most_df
from interplay.base.arrays import MAX_LEVELS, FloatArray
from interplay.base.checks import check_choice, check_encodable, check_file, check_int, check_real, shown
from interplay.base.text import tuples_in_words
from interplay.data.codes.cuts import VariableCuts, plain_label
from interplay.files.whole_file import whole_file
from interplay.infer.interaction.prospects import site_shares

#: What the file is, in its first entry.
_KIND = "plan of a search over sites"
_VERSION = 1
_ABOUT = (
    "Every site codes its table as this file says. Round one: each site lists tuples (interplay site list). Round two: "
    "each site counts the tuples of all lists (interplay site count). No site sends samples. Change this file only "
    "before it is sent: files of another plan are refused."
)

#: Missing values of samples: refused, a level of their own, or left out of the tests of a tuple.
MISSING_AT_SITES = ("error", "level", "omit")

#: Significant tuples that the lists leave room for where there are few tuples in all.
_ROOM = 10


@dataclass(frozen=True, eq=False)
class SitePlan:
    """A search over sites: who takes part, which columns and levels there are, and which tuples are wanted.

    Attributes
    ----------
    sites : tuple of str
        Names of the sites, sorted: the strata of the search.
    target : str or None
        Name of the outcome.
    classes : tuple of str
        Its classes, in order.
    columns : tuple of PlannedColumn
        In the order of the numbers of variables.
    dimensions, missing, p_adjust, level, max_p, random_state
        As in `interplay.interactions`.
    list_up_to : float
        The p-value over all sites up to which no tuple is missing from the lists.
    """

    sites: tuple[str, ...]
    target: str | None
    classes: tuple[str, ...]
    columns: tuple[PlannedColumn, ...]
    dimensions: int
    missing: str
    p_adjust: str
    level: float
    max_p: float | None
    list_up_to: float
    random_state: int

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def n_tuples(self) -> int:
        """Tuples of the search, for which p-values are adjusted."""
        return comb(len(self.columns), self.dimensions)

    @property
    def caps(self) -> PValueCaps:
        """The tuples to list."""
        return PValueCaps(self.p_adjust, self.level, self.n_tuples, self.max_p, None)

    @property
    def has_missing_level(self) -> bool:
        """Whether codes have a level for missing values, the last one."""
        return self.missing != "error"

    @property
    def omits_missing(self) -> bool:
        return self.missing == "omit"

    @cached_property
    def table_levels(self) -> tuple[int, ...]:
        """Levels of each column in tables of counts: two at least before missing values are left out."""
        of_codes = (column.n_levels + self.has_missing_level for column in self.columns)
        return tuple(max(n, 2) - self.omits_missing for n in of_codes)

    def table_size(self, members: tuple[int, ...]) -> int:
        """Return the number of entries of a tuple's table."""
        return prod(self.table_levels[v] for v in members) * len(self.classes)

    def cuts(self) -> list[VariableCuts]:
        """Return the definitions of the levels of all columns."""
        return [column.cuts(v, missing_level=self.has_missing_level) for v, column in enumerate(self.columns)]

    def shares(self) -> FloatArray:
        """Return the G² that a tuple needs at one site to be listed, by its degrees of freedom there."""
        levels = np.maximum([column.n_levels + self.has_missing_level for column in self.columns], 2)
        return site_shares(self.list_up_to, most_df(levels, len(self.classes), 1, self.dimensions), len(self.sites))

    def to_dict(self) -> dict[str, Any]:
        """Return the entries of the file."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        lists = {"sites": list(self.sites), "classes": list(self.classes)}
        return {"interplay": _KIND, "version": _VERSION, **plain, **lists} | {
            "columns": [column.to_dict() for column in self.columns]
        }

    @cached_property
    def digest(self) -> str:
        """The hash by which files of one plan are known."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a text file (JSON, one column per line)."""
        entries = self.to_dict()
        columns = ",\n".join(f"  {json.dumps(column, ensure_ascii=False)}" for column in entries.pop("columns"))
        entries = {"interplay": entries.pop("interplay"), "about": _ABOUT, **entries}
        lines = "".join(
            f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n" for name, value in entries.items()
        )
        with whole_file(path) as file:
            file.write(f'{{\n{lines} "columns": [\n{columns}\n ]\n}}\n'.encode())

    def summary(self) -> str:
        """Return the plan in words, with the tuples that sites will have to count."""
        cut = sum(column.is_cut for column in self.columns)
        return (
            f"Search of {self.n_tuples:,} {tuples_in_words(self.dimensions)} of {len(self.columns)} columns over "
            f"{len(self.sites)} sites ({', '.join(self.sites[:8])}{', …' * (len(self.sites) > 8)})\n"
            f"classes {', '.join(self.classes[:8])}{', …' * (len(self.classes) > 8)}; {cut} columns cut at thresholds; "
            f"missing values: {self.missing}; lists up to p = {self.list_up_to:.3g}\n"
            f"without any effect, sites together list about {self.expected_share():.2%} of all tuples\n"
            f"plan {self.digest[:16]}"
        )

    def expected_share(self) -> float:
        """Return the share of all tuples that sites list together without any effect, for columns of median levels."""
        from scipy.special import chdtrc

        median = int(np.median([max(column.n_levels, 2) for column in self.columns]))
        shares = self.shares()
        df = min((len(self.classes) - 1) * (median - 1) ** self.dimensions, len(shares) - 1)
        return float(1 - (1 - chdtrc(df, shares[df])) ** len(self.sites))

    def __repr__(self) -> str:
        return self.summary()


def checked_plan(entries: dict[str, Any]) -> SitePlan:
    """Make a plan of the entries of `SitePlan.to_dict`, or say what is wrong with them."""
    sites = _texts("sites", entries["sites"])
    if not 2 <= len(sites) <= MAX_LEVELS:
        raise ValueError(f"sites must name 2 to {MAX_LEVELS} sites, not {len(sites)}")
    classes = _texts("classes", entries["classes"])
    if len(classes) < 2:
        raise ValueError(f"classes must name two classes at least, not {shown(classes)}")
    if len({plain_label(label) for label in classes}) < len(classes):
        raise ValueError(f"classes repeat one: {shown(classes)}")
    target = entries["target"]
    if not (target is None or isinstance(target, str)):
        raise TypeError(f"target must be the name of the outcome, not {shown(target)}")
    columns = tuple(entries["columns"])
    names = [column.name for column in columns]
    check_encodable("the name of a column", names)
    if twice := {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set():
        raise ValueError(f"columns has {shown(sorted(twice)[0])} twice: rename one")
    dimensions = check_int("dimensions", entries["dimensions"], low=2)
    if dimensions > len(columns):
        raise ValueError(f"dimensions={dimensions} needs as many columns, and the plan has {len(columns)}")
    max_p = entries["max_p"]
    caps = PValueCaps(
        method=check_listed_method(entries["p_adjust"]),
        level=check_real("level", entries["level"], low=0.0, high=1.0, low_open=True, high_open=True),
        n_tests=comb(len(columns), dimensions),
        max_p=None if max_p is None else check_real("max_p", max_p, low=0.0, high=1.0, low_open=True),
        top=None,
    )
    caps.check()
    list_up_to = entries["list_up_to"]
    if list_up_to is None:
        list_up_to = caps.first() if caps.max_p is not None else max(caps.first(), caps.significant_up_to(_ROOM))
    list_up_to = check_real("list_up_to", list_up_to, low=0.0, high=1.0, low_open=True)
    if list_up_to < caps.first():
        raise ValueError(f"list_up_to must be at least {caps.first():.3g}, up to which tuples are wanted")
    return SitePlan(
        sites=tuple(sorted(sites)),
        target=target,
        classes=tuple(classes),
        columns=columns,
        dimensions=dimensions,
        missing=check_choice("missing", entries["missing"], MISSING_AT_SITES),
        p_adjust=caps.method,
        level=caps.level,
        max_p=caps.max_p,
        list_up_to=list_up_to,
        random_state=check_int("random_state", entries["random_state"], low=0, high=2**32 - 1),
    )


def read_plan(plan: SitePlan | str | os.PathLike[str]) -> SitePlan:
    """Return a plan, which may be in a file."""
    if isinstance(plan, SitePlan):
        return plan
    path = check_file("plan", plan)
    wrong = f"{os.fspath(plan)!r} is not a plan of a search over sites"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(f"{wrong}: it is no valid JSON") from None
    if not isinstance(entries, dict) or entries.get("interplay") != _KIND:
        raise ValueError(wrong)
    if entries.get("version") != _VERSION:
        raise ValueError(
            f"{os.fspath(plan)!r} is a plan of another version of interplay: {shown(entries.get('version'))}"
        )
    wanted = {field.name for field in fields(SitePlan)}
    if missing := sorted(wanted - set(entries)):
        raise ValueError(f"{os.fspath(plan)!r} lacks the entry {missing[0]!r}")
    if unknown := sorted(set(entries) - wanted - {"interplay", "version", "about"}):
        raise ValueError(f"{os.fspath(plan)!r} has an unknown entry {shown(unknown[0])}")
    if not isinstance(entries["columns"], list):
        raise ValueError(f"{os.fspath(plan)!r}: columns must be a list")
    try:
        columns = [PlannedColumn.of_dict(entry) for entry in entries["columns"]]
        return checked_plan({name: entries[name] for name in wanted} | {"columns": columns})
    except (ValueError, TypeError) as error:
        raise ValueError(f"{os.fspath(plan)!r}: {error}") from None


def _texts(name: str, values: Any) -> list[str]:
    """Return names as texts that a line can hold, all different."""
    if isinstance(values, str) or not isinstance(values, list | tuple):
        raise TypeError(f"{name} must be a list of names, not {shown(values)}")
    texts = [str(value) for value in values]
    check_encodable(f"an entry of {name}", texts)
    if odd := [text for text in texts if not text.strip() or not text.isprintable()]:
        raise ValueError(f"{name} has {shown(odd[0])}, which is no name")
    if len(set(texts)) < len(texts):
        raise ValueError(f"{name} has an entry twice: {shown(texts)}")
    return texts


@dataclass(frozen=True)
class PlannedColumn:
    """A column that every site has."""

    name: str
    #: The numbers, ascending, or the labels that are its levels; empty for a column that is cut.
    levels: tuple[float, ...] | tuple[str, ...] = ()
    #: Where numbers are cut, ascending: a value belongs to the level after all thresholds below it.
    thresholds: tuple[float, ...] = ()

    @property
    def is_cut(self) -> bool:
        return len(self.thresholds) > 0

    @property
    def has_labels(self) -> bool:
        return len(self.levels) > 0 and isinstance(self.levels[0], str)

    @property
    def n_levels(self) -> int:
        """Levels without that of missing values."""
        return len(self.thresholds) + 1 if self.is_cut else len(self.levels)

    def cuts(self, variable: int, *, missing_level: bool) -> VariableCuts:
        """Return the definition of the levels, by which codes are made."""
        thresholds = np.array([self.thresholds]) if self.is_cut else np.empty((0, 0))
        values = np.array(() if self.is_cut or self.has_labels else self.levels, dtype=np.float64)
        labels = [str(level) for level in self.levels] if self.has_labels else []
        return VariableCuts(variable, thresholds, values, labels, missing_level)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the plan's file."""
        if self.is_cut:
            return {"name": self.name, "thresholds": [_plain(value) for value in self.thresholds]}
        return {"name": self.name, "levels": [_plain(level) for level in self.levels]}

    @classmethod
    def of_dict(cls, entry: Any) -> PlannedColumn:
        """Take a column from the entry of a plan's file, or say what is wrong with it."""
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise ValueError(f"each column must have a name, and levels or thresholds, not {shown(entry)}")
        if set(entry) not in ({"name", "levels"}, {"name", "thresholds"}):
            raise ValueError(f"column {shown(entry['name'])} must have either levels or thresholds, and nothing else")
        if "thresholds" in entry:
            return cut_column(entry["name"], entry["thresholds"])
        return column_of_levels(entry["name"], entry["levels"])


def column_of_levels(name: str, levels: Any) -> PlannedColumn:
    """Return a column of these levels, numbers in ascending order, or labels as they are given; checked."""
    given = list(levels) if isinstance(levels, list | tuple) else []
    if not given:
        raise ValueError(f"levels of {shown(name)} must be a list of numbers or labels, not {shown(levels)}")
    if len(given) >= MAX_LEVELS:
        raise ValueError(f"levels of {shown(name)} are {len(given)}, and at most {MAX_LEVELS - 1} can be searched")
    if all(isinstance(level, str) for level in given):
        check_encodable(f"a level of {shown(name)}", given)
        if len({plain_label(level) for level in given}) < len(given):
            raise ValueError(f"levels of {shown(name)} repeat one: {shown(given)}")
        return PlannedColumn(name, levels=tuple(given))
    values = _numbers(given)
    if values is None:
        raise ValueError(f"levels of {shown(name)} must be all numbers or all labels, not {shown(given)}")
    return PlannedColumn(name, levels=tuple(sorted(set(values))))


def cut_column(name: str, thresholds: Any) -> PlannedColumn:
    """Return a column that is cut at these thresholds, checked."""
    given = list(thresholds) if isinstance(thresholds, list | tuple | np.ndarray) else [thresholds]
    numbers = _numbers(given)
    if not numbers or any(b <= a for a, b in pairwise(numbers)):
        raise ValueError(
            f"thresholds of {shown(name)} must be numbers that grow, one at least, not {shown(thresholds)}"
        )
    if len(numbers) >= MAX_LEVELS - 1:
        raise ValueError(
            f"thresholds of {shown(name)} are {len(numbers)}, and at most {MAX_LEVELS - 2} can be searched"
        )
    return PlannedColumn(name, thresholds=tuple(numbers))


def _numbers(given: list[Any]) -> list[float] | None:
    """Return finite numbers as floats; None if there is anything else."""
    plain = [entry.item() if isinstance(entry, np.generic) else entry for entry in given]
    if any(isinstance(entry, bool) or not isinstance(entry, int | float) for entry in plain):
        return None
    try:
        numbers = [float(entry) for entry in plain]
    except OverflowError:
        return None
    return numbers if all(map(math.isfinite, numbers)) else None


def _plain(value: Any) -> Any:
    """Return whole numbers without a fraction: 1, not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
