"""A table, or definitions of columns → SitePlan: what all sites agree on before they look at their tables, as text."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
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
from interplay.base.seeds import resolve_seed
from interplay.base.text import tuples_in_words
from interplay.data.codes.coder import Discrete, make_coder
from interplay.data.codes.cuts import VariableCuts, plain_label, variable_cuts
from interplay.data.study.columns import Column
from interplay.data.study.named_columns import take_named
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.outcomes.numbers import is_number
from interplay.data.study.table import Table
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


def plan_sites(
    X: Any = None,
    y: Any = None,
    *,
    sites: Sequence[str],
    levels: Mapping[str, Sequence[Any]] | Sequence[float] | None = None,
    thresholds: Mapping[str, Sequence[float]] | None = None,
    classes: Sequence[Any] | None = None,
    target: str | None = None,
    dimensions: int = 2,
    divisions: int = 1,
    discrete: Discrete = "auto",
    missing: str = "error",
    merge_rare: float | None = None,
    p_adjust: str = "holm",
    level: float = 0.05,
    max_p: float | None = None,
    list_up_to: float | None = None,
    random_state: Any = 0,
) -> SitePlan:
    """Plan a search for interactions over sites that may not share their data.

    The plan fixes everything that the sites must agree on: columns, their levels and thresholds, classes, settings. It
    can be made from the table of one site, from a made-up table of the same form, or without a table.

    Parameters
    ----------
    X : table-like, optional
        A table with the columns of all sites. Its values become levels; numbers with more values are cut by rank, and
        these thresholds, which are values of the table, become part of the plan. `thresholds` replaces them.
    y : array-like or str, optional
        The outcome: classes only. Ranks of numbers in all samples together are not known to single sites.
    sites : list of str
        Names of the sites, 2 to 256.
    levels : dict or list, optional
        Levels of columns by name, which may be more than those in `X`; or a list of numbers, such as [0, 1, 2] for
        genotypes, which all columns of numbers that are not cut have. Levels that no site has do no harm.
    thresholds : dict, optional
        Where the numbers of a column are cut, by name.
    classes : list, optional
        The classes of the outcome in their order, where `y` has not all of them.
    target : str, optional
        Name of the outcome, the default of all sites; by default that of `y`.
    dimensions, divisions, discrete, p_adjust, level, max_p, random_state
        As in `interplay.interactions`; numbers are cut once.
    missing : {"error", "level", "omit"}
        Missing values: refused, a level of their own, or left out of the tests of the tuple.
    merge_rare : float, optional
        Numbers that are levels, such as genotypes, are merged with their neighbours where less than this share of `X`
        has them, down to two levels. The column is then cut at thresholds, at all sites and in all tables alike. With
        `min_cell`, fewer tables are withheld.
    list_up_to : float, optional
        The p-value up to which no tuple is missing from the lists of the sites. A larger one makes longer lists; it is
        needed where very many tuples are significant, which `combine_sites` says.

    Returns
    -------
    SitePlan
        ``.save(path)`` writes the file for the sites.

    Examples
    --------
    >>> from interplay.sites import plan_sites
    >>> plan = plan_sites(
    ...     sites=["Basel", "Turku"], levels={f"snp{i}": [0, 1, 2] for i in range(50)}, classes=["ill", "well"]
    ... )
    >>> plan.n_tuples
    1225
    """
    check_choice("missing", missing, MISSING_AT_SITES)
    if isinstance(sites, str):
        raise TypeError(f"sites must be a list of names, not {shown(sites)}: write [{shown(sites)}, …]")
    if isinstance(levels, str):
        raise TypeError(
            f"levels must be a dict of lists by the names of columns, or a list of numbers, not {shown(levels)}"
        )
    more = _by_column("levels", levels if isinstance(levels, Mapping) else None)
    cut_at = _by_column("thresholds", thresholds)
    if both := [name for name in more if name in cut_at]:
        raise ValueError(f"column {shown(both[0])} has levels and thresholds: give one of them")
    for_all = None if levels is None or isinstance(levels, Mapping) else column_of_levels("all columns", list(levels))
    if merge_rare is not None:
        check_real("merge_rare", merge_rare, low=0.0, high=0.5, low_open=True)
        if X is None:
            raise ValueError("merge_rare needs a table, whose shares decide: give X, or thresholds of the columns")
    if X is None:
        if not more and not cut_at:
            raise ValueError("a plan without a table needs the columns: give levels or thresholds by their names")
        if classes is None:
            raise ValueError("a plan without a table needs the classes of the outcome: give classes")
        columns = [column_of_levels(name, list(given)) for name, given in more.items()]
        columns += [cut_column(name, list(given)) for name, given in cut_at.items()]
        labels = list(classes)
    else:
        name_of_y = y if isinstance(y, str) else getattr(y, "name", None)
        target = str(name_of_y) if target is None and name_of_y is not None else target
        table, (y,) = take_named(X, y=y)
        labels = list(classes) if classes is not None else _classes(y, table.n_samples)
        if unknown := [name for name in (*more, *cut_at) if name not in table.names]:
            raise ValueError(f"levels or thresholds name {shown(unknown[0])}, which is not a column of X")
        columns = _columns(table, more, cut_at, for_all, divisions=divisions, discrete=discrete, missing=missing)
        if merge_rare is not None:
            columns = [_merged(column, table.column(v), merge_rare) for v, column in enumerate(columns)]
    return checked_plan(
        {
            "sites": list(sites),
            "target": target,
            "classes": [_label(label) for label in labels],
            "columns": columns,
            "dimensions": dimensions,
            "missing": missing,
            "p_adjust": p_adjust,
            "level": level,
            "max_p": max_p,
            "list_up_to": list_up_to,
            "random_state": resolve_seed(random_state),
        }
    )


def _classes(y: Any, n_samples: int) -> list[Any]:
    if is_number(y, "auto"):
        raise ValueError(
            "y is a number, and sites can only compare classes, because ranks in all samples together are not known to "
            "one site: cut it into classes at thresholds that all sites agree on"
        )
    return decision_classes(y, n_samples=n_samples, decision="classes").labels


def _columns(
    table: Table,
    more: Mapping[str, Any],
    cut_at: Mapping[str, Any],
    for_all: PlannedColumn | None,
    *,
    divisions: int,
    discrete: Discrete,
    missing: str,
) -> list[PlannedColumn]:
    """Return the columns of a table, with further levels and other thresholds."""
    coder = make_coder(
        table,
        divisions=check_int("divisions", divisions, low=1, high=250),
        discretizations=1,
        range_=0.0,
        seed=0,
        discrete=discrete,
        missing="error" if missing == "error" else "level",
    )
    columns = []
    for variable, name in enumerate(table.names):
        if name in cut_at:
            columns.append(cut_column(name, list(cut_at[name])))
        else:
            columns.append(_column(name, variable_cuts(coder, variable), list(more.get(name, ())), for_all))
    return columns


def _column(name: str, cuts: VariableCuts, more: list[Any], for_all: PlannedColumn | None) -> PlannedColumn:
    if cuts.is_cut and not more:
        return cut_column(name, sorted(set(cuts.thresholds[0].tolist())))
    if cuts.labels or (more and isinstance(more[0], str)):
        labels = list(dict.fromkeys([*cuts.labels, *map(str, more)]))
        # Texts are sorted, as they are in one table of all sites; categories of the user's keep their order.
        return column_of_levels(name, sorted(labels) if cuts.labels == sorted(cuts.labels) else labels)
    known = [] if cuts.is_cut else cuts.values.tolist()
    shared = list(for_all.levels) if for_all is not None else []
    return column_of_levels(name, [*known, *more, *shared] or [0.0])


def _merged(column: PlannedColumn, given: Column, least: float) -> PlannedColumn:
    """Cut a column of numbers between its levels, so that at least a share of the samples is in each part.

    The rarest part joins the rarer one of its neighbours, while there are more than two.
    """
    if column.is_cut or column.has_labels or column.n_levels <= 2:
        return column
    values = given.read().astype(np.float64)
    known = values[values == values]
    shares = [float((known == level).mean()) if len(known) else 0.0 for level in column.levels]
    ends: list[float] = [float(level) for level in column.levels]
    while len(shares) > 2 and min(shares) < least:
        rarest = shares.index(min(shares))
        beside = [place for place in (rarest - 1, rarest + 1) if 0 <= place < len(shares)]
        first = min(rarest, min(beside, key=shares.__getitem__))
        shares[first : first + 2] = [shares[first] + shares[first + 1]]
        del ends[first]
    return column if len(ends) == column.n_levels else cut_column(column.name, ends[:-1])


def _by_column(argument: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a dict of lists by the names of columns, not {shown(given)}")
    for name, values in given.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise TypeError(f"{argument} of {shown(name)} must be a list, not {shown(values)}")
    return {str(name): list(values) for name, values in given.items()}


def _label(label: Any) -> str:
    return str(label.item() if hasattr(label, "item") else label)
