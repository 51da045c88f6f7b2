"""The table of a site, as planned; round one: tuples whose G² there reaches its share → SiteList, a text file."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.ask.tuple_tests.class_tests import ClassSurvivors, least_gains
from interplay.ask.tuple_tests.prospects import MAX_LISTED
from interplay.ask.tuple_tests.screen import most_cells, screen_tuples
from interplay.base.arrays import BoolArray, CodeArray, IntArray
from interplay.base.checks import check_file, check_list, shown
from interplay.base.progress import Progress, check_progress
from interplay.base.text import name_among, tuples_in_words
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import NO_LEVEL, CutCoder, VariableCuts, plain_label
from interplay.data.study.columns import Column, ColumnKind, check_length, decision_column
from interplay.data.study.comparisons import Comparison
from interplay.data.study.named_columns import take_named
from interplay.data.study.outcomes.classes import DecisionClasses, check_not_missing
from interplay.data.study.table import Table, as_table
from interplay.files.whole_file import whole_file
from interplay.search.engines.choice import AsEngine, check_engine
from interplay.search.engines.tables import TupleTables
from interplay.search.settings import SearchSettings
from interplay.sites.plan import SitePlan, read_plan

#: Columns that are read at once.
_READ_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class SiteData:
    """The table of a site, coded as the plan says."""

    plan: SitePlan
    site: str
    #: The columns of the plan, with the classes that the site has.
    coded: CodedComparison
    #: (n,): numbers of these classes in the plan.
    present: IntArray
    #: (n_classes,): samples of all classes of the plan.
    class_sizes: IntArray
    #: list of (n_levels,): of each column, which of its levels the site has; missing values last.
    occurs: list[BoolArray]

    @property
    def n_samples(self) -> int:
        return int(self.class_sizes.sum())

    def tables(self) -> TupleTables:
        """Return what counts tuples, with the classes of the site."""
        coder, plan = self.coded.coder, self.plan
        return TupleTables(
            partial(self.coded.planes_of, 0),
            coder.n_levels,
            n_classes=len(self.present),
            n_omitted=np.ones(len(coder.n_levels), dtype=np.int64) if plan.omits_missing else None,
        )

    def settings(self) -> SearchSettings:
        """Return the settings of the search in this table."""
        return SearchSettings(
            dimensions=self.plan.dimensions,
            divisions=1,
            discretizations=1,
            range_=0.0,
            pseudocount=0.0,
            discrete="all",
            missing="error",
            random_state=self.plan.random_state,
        )


def make_site_data(plan: SitePlan, X: Any, y: Any, site: Any, *, n_threads: int) -> SiteData:
    """Check the table of a site against the plan, and code it."""
    if not isinstance(site, str) or site not in plan.sites:
        raise ValueError(f"site must be one of the plan's, {', '.join(map(repr, plan.sites[:8]))}, not {shown(site)}")
    if y is None and plan.target is None:
        raise TypeError("y must hold the outcome, or be the name of its column: the plan does not name one")
    table, (outcome,) = take_named(X, y=plan.target if y is None else y)
    class_codes = _class_codes(plan, outcome, table.n_samples)
    class_sizes = np.bincount(class_codes, minlength=len(plan.classes)).astype(np.int64)
    present = np.flatnonzero(class_sizes)
    if len(present) < 2:
        raise ValueError(
            f"y has one class only, {shown(plan.classes[int(present[0])])}: a site without a second class adds nothing "
            "to the search; make a plan without it"
        )
    codes = _codes(plan, table)
    n_levels = np.array([column.n_levels + plan.has_missing_level for column in plan.columns], dtype=np.int64)
    occurs = [np.bincount(row, minlength=n)[:n] > 0 for row, n in zip(codes, n_levels.tolist(), strict=True)]
    labels = [plan.classes[q] for q in present.tolist()]
    classes = DecisionClasses(np.searchsorted(present, class_codes).astype(np.int64), labels)
    coded_table = as_table(codes.T)
    comparison = Comparison("all classes", coded_table, classes)
    no_others = np.zeros(len(codes), dtype=bool)
    coder = CutCoder.of_codes(coded_table, plan.cuts(), codes, n_levels, no_others, n_threads)
    return SiteData(plan, site, CodedComparison(comparison, lambda: coder), present, class_sizes, occurs)


def _class_codes(plan: SitePlan, y: Any, n_samples: int) -> IntArray:
    column = decision_column(y)
    values = column.read()
    check_length("y", values, n_samples)
    check_not_missing(values)
    number_of = {plain_label(label): number for number, label in enumerate(plan.classes)}
    levels = sorted(set(values.tolist()))
    codes = []
    for value in levels:
        label = plain_label(value if column.levels is None else column.levels[int(value)])
        if label not in number_of:
            raise ValueError(
                f"y has the class {shown(label)}, which the plan does not have (it has "
                f"{', '.join(plan.classes[:6])}): leave those samples out, rename it, or make a plan with it"
            )
        codes.append(number_of[label])
    return np.array(codes, dtype=np.int64)[np.searchsorted(levels, values)]


def _codes(plan: SitePlan, table: Table) -> CodeArray:
    """Return the level of every sample in every column of the plan, (n_columns, n_samples)."""
    number_of = {name: number for number, name in enumerate(table.names)}
    if missing := [name for name in plan.names if name_among(number_of, name) not in number_of]:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(f"X lacks the column {shown(missing[0])}{more}, which the plan has")
    where = np.array([number_of[name_among(number_of, name)] for name in plan.names], dtype=np.int64)
    codes = np.empty((len(where), table.n_samples), dtype=np.uint8)
    cuts = plan.cuts()
    for begin in range(0, len(where), _READ_AT_ONCE):
        some = where[begin : begin + _READ_AT_ONCE]
        block = table.columns(some)
        for place, (v, values) in enumerate(zip(some.tolist(), block, strict=True), start=begin):
            column = table.column(v) if table.is_label[v] else None
            codes[place] = _column_codes(plan, cuts[place], _of_values(column, values))
    return codes


def _of_values(column: Column | None, values: npt.NDArray[Any]) -> Column:
    """Return a column whose values were read already; None for one of numbers."""
    if column is None:
        return Column(ColumnKind.NUMBER, values.dtype, lambda: values)
    return replace(column, read=lambda: values)


def _column_codes(plan: SitePlan, cuts: VariableCuts, column: Column) -> IntArray:
    name = shown(plan.names[cuts.variable])
    if column.kind == ColumnKind.LABEL and not cuts.labels:
        wanted = "cut at thresholds" if cuts.is_cut else "levels that are numbers"
        raise ValueError(f"column {name} of X holds labels, and the plan has {wanted}")
    codes = cuts.codes(column, 0)
    unknown = np.flatnonzero(codes == NO_LEVEL)
    if len(unknown):
        values = column.read()
        value = values[unknown[0]]
        if value != value:
            raise ValueError(
                f"column {name} of X has {len(unknown)} missing values, and the plan refuses them: make a plan with "
                "missing='level' or missing='omit'"
            )
        label = value.item() if column.levels is None else column.levels[int(value)]
        raise ValueError(
            f"column {name} of X has the value {shown(label)}, which is no level of the plan: make a plan with it, or "
            "make it missing"
        )
    return codes


KIND = "list file of a site"
_HEADER: dict[str, type] = {"plan": str, "site": str, "tuples": int}


@dataclass(frozen=True, eq=False)
class SiteList:
    """The tuples that a site asks all sites to count.

    Attributes
    ----------
    plan : SitePlan
    site : str
    tuples : (n, k) int64
        Numbers of columns of the plan, ascending; sorted.
    """

    plan: SitePlan
    site: str
    tuples: IntArray

    def __len__(self) -> int:
        return len(self.tuples)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list to a text file, which says what it contains."""
        prose = [
            f"This file leaves the site. It names {tuples_in_words(self.plan.dimensions)} of columns whose interaction "
            "at this site is large enough that",
            "their interaction over all sites may be significant. It contains no counts and no rows.",
            "One tuple per line, names of columns separated by tabs.",
        ]
        header = {"plan": self.plan.digest, "site": self.site, "tuples": len(self)}
        names = [written_name(name) for name in self.plan.names]
        write_lines(path, KIND, prose, header, ("\t".join(names[v] for v in t) for t in self.tuples.tolist()))

    def __repr__(self) -> str:
        share = len(self) / self.plan.n_tuples
        return f"List of site {self.site!r}: {len(self):,} of {self.plan.n_tuples:,} tuples ({share:.2%})"


def list_at_site(
    plan: SitePlan | str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    site: str,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
) -> SiteList:
    """Round one at one site: list the tuples whose own G² reaches the share of this site.

    Parameters
    ----------
    plan : SitePlan or path-like
        The plan, or its file.
    X : table-like
        The table of the site; it may have more columns than the plan.
    y : array-like or str, optional
        The outcome, or the name of its column; by default the target of the plan.
    site : str
        The name of this site in the plan.
    engine, n_jobs, progress
        As in `interplay.interactions`. The list does not depend on them.

    Returns
    -------
    SiteList
        ``.save(path)`` writes the file that leaves the site: names of columns, no counts.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.sites import list_at_site, plan_sites
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (400, 20))
    >>> y = X[:, 3] ^ X[:, 11] ^ (rng.random(400) < 0.2)
    >>> plan = plan_sites(X, y, sites=["Basel", "Turku"])
    >>> list_at_site(plan, X, y, site="Basel")
    List of site 'Basel': 5 of 190 tuples (2.63%)
    """
    agreed = read_plan(plan)
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs, kind="screen")
    data = make_site_data(agreed, X, y, site, n_threads=choice.n_threads)
    screened = screen_tuples(
        data.coded,
        data.settings(),
        choice,
        _survivors(data, n_threads=choice.n_threads),
        progress=progress,
    )
    return SiteList(agreed, site, screened.tuples)


def _survivors(data: SiteData, *, n_threads: int) -> ClassSurvivors:
    """Keep the tuples whose G² may reach the thresholds, however few samples they have: a site knows a part of them."""
    plan, thresholds = data.plan, data.plan.shares()
    asked = thresholds.copy()
    if plan.omits_missing:
        # Engines count missing values as a level: G² there is no smaller, at more degrees of freedom.
        asked[1:] = thresholds[1:].min()
    n_cells = most_cells(np.maximum(data.coded.coder.n_levels, 2), 1, plan.dimensions)
    gains = least_gains(asked, class_sizes=data.coded.comparison.classes.sizes, n_cells=n_cells)
    return ClassSurvivors(thresholds, gains, MAX_LISTED, [data.tables()], sys.maxsize, n_threads)


def read_list(plan: SitePlan, given: SiteList | str | os.PathLike[str]) -> SiteList:
    """Return the list of a site, which may be in a file, of this plan."""
    if isinstance(given, SiteList):
        if given.plan.digest != plan.digest:
            raise ValueError(f"lists: the list of {given.site!r} is of another plan")
        return given
    name, header, lines = lines_for_plan(plan, "lists", given, KIND, _HEADER)
    number_of = names_in_lines(plan.names)
    try:
        rows = [[number_of[field] for field in line.split("\t")] for line in lines]
        tuples = np.array(rows, dtype=np.int64).reshape(len(rows), plan.dimensions)
    except (KeyError, ValueError):
        raise ValueError(f"{name!r} names tuples that the plan does not have") from None
    check_tuples(tuples, header["tuples"], name)
    return SiteList(plan, header["site"], tuples)


def union_of(plan: SitePlan, lists: Iterable[Any]) -> tuple[IntArray, dict[str, set[tuple[int, ...]]]]:
    """Return the tuples of all lists, sorted, and those of each site; every site of the plan must be there once."""
    given: Sequence[Any] = check_list("lists", lists, of="lists of sites or their files")
    listed: dict[str, set[tuple[int, ...]]] = {}
    for one in given:
        read = read_list(plan, one)
        if read.site in listed:
            raise ValueError(f"lists has two lists of site {read.site!r}: leave one out")
        listed[read.site] = set(map(tuple, read.tuples.tolist()))
    if missing := [site for site in plan.sites if site not in listed]:
        raise ValueError(f"lists lacks the list of {', '.join(map(repr, missing[:6]))}: all sites must list first")
    together = sorted(set().union(*listed.values()))
    return np.array(together, dtype=np.int64).reshape(len(together), plan.dimensions), listed


def lines_for_plan(
    plan: SitePlan, argument: str, given: Any, kind: str, wanted: Mapping[str, type]
) -> tuple[str, dict[str, Any], list[str]]:
    """Read a file that a site sent: its name, its header and its lines; refuse other plans and unknown sites."""
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"{argument} must hold {argument} of sites or their files, not {shown(given)}")
    header, lines = read_lines(given, kind, wanted)
    name = os.fspath(given)
    if header["plan"] != plan.digest:
        raise ValueError(
            f"{name!r} is of another plan ({header['plan'][:16]}) than this one ({plan.digest[:16]}): all sites must "
            "use one plan file, unchanged"
        )
    if header["site"] not in plan.sites:
        raise ValueError(f"{name!r} is of site {shown(header['site'])}, which the plan does not have")
    return name, header, lines


def check_tuples(tuples: IntArray, n_tuples: int, name: str) -> None:
    """Refuse tuples that are not as many as the header says, or not in order."""
    ascending = bool((tuples[:, 1:] > tuples[:, :-1]).all())
    order = np.lexsort(tuples.T[::-1])
    is_sorted = np.array_equal(order, np.arange(len(tuples)))
    repeats = bool((tuples[1:] == tuples[:-1]).all(axis=1).any()) if len(tuples) > 1 else False
    if len(tuples) != n_tuples or not (ascending and is_sorted) or repeats:
        raise ValueError(f"{name!r} does not hold the tuples that its header announces")


_VERSION = 1

#: The last line of every file, before its hash.
_CHECKSUM = "# checksum: "


def write_lines(
    path: str | os.PathLike[str], kind: str, prose: Iterable[str], header: Mapping[str, Any], lines: Iterable[str]
) -> None:
    """Write a file of a site: what it is, what it contains in words, entries of the header, lines, checksum."""
    first = [f"# interplay: {kind}, version {_VERSION}", *(f"# {line}" for line in prose)]
    entries = [f"# {name}: {json.dumps(value, ensure_ascii=True)}" for name, value in header.items()]
    checksum = hashlib.sha256()
    with whole_file(path) as file:
        for line in (*first, *entries, *lines):
            content = f"{line}\n".encode()
            checksum.update(content)
            file.write(content)
        file.write(f"{_CHECKSUM}{checksum.hexdigest()}\n".encode())


def read_lines(path: str | os.PathLike[str], kind: str, wanted: Mapping[str, type]) -> tuple[dict[str, Any], list[str]]:
    """Read a file of a site, or say in one line why not: its header, with these entries, and its lines.

    Ends of lines may have changed on the way.
    """
    file = check_file("path", path)
    name = repr(os.fspath(path))
    *whole, rest = file.read_bytes().split(b"\n")
    lines = [*(line.removesuffix(b"\r") for line in whole), rest]
    while lines and not lines[-1]:
        lines.pop()
    if not lines or not lines[0].startswith(b"# interplay: "):
        raise ValueError(f"{name} is not a {kind}: it does not begin as one")
    try:
        texts = [line.decode() for line in lines]
    except UnicodeDecodeError:
        raise ValueError(f"{name} is damaged: it is no text") from None
    is_of = texts[0].removeprefix("# interplay: ")
    if not is_of.startswith(f"{kind}, version "):
        raise ValueError(f"{name} is a {is_of.partition(',')[0]}, not a {kind}")
    if is_of != f"{kind}, version {_VERSION}":
        raise ValueError(f"{name} was written by another version of interplay ({is_of}): write it again")
    checksum = hashlib.sha256()
    for line in lines[:-1]:
        checksum.update(line + b"\n")
    if texts[-1] != _CHECKSUM + checksum.hexdigest():
        raise ValueError(f"{name} is damaged, or was changed: its checksum does not fit; ask the site to send it again")
    header = dict(_entries(texts[1:-1], wanted))
    if missing := [entry for entry in wanted if not _is_of_type(header.get(entry), wanted[entry])]:
        raise ValueError(f"{name} has no valid entry {missing[0]!r} in its header")
    return header, [line for line in texts[1:-1] if not line.startswith("#")]


def _entries(lines: Iterable[str], wanted: Mapping[str, type]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        if not line.startswith("# "):
            continue
        entry, found, value = line[2:].partition(": ")
        if found and entry in wanted:
            try:
                yield entry, json.loads(value)
            except (ValueError, RecursionError):
                continue


def _is_of_type(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def written_name(name: str) -> str:
    r"""Return the name of a column as a field of a line; names that a line cannot hold as they are come quoted.

    Examples
    --------
    >>> written_name("rs7"), written_name("dose\t(mg)")
    ('rs7', '"dose\\t(mg)"')
    """
    is_plain = name.isprintable() and name.strip() == name and name[:1] not in ("", "#", '"')
    return name if is_plain else json.dumps(name)


def names_in_lines(names: list[str]) -> dict[str, int]:
    """Return the number of each column by its name as lines have it."""
    return {written_name(name): number for number, name in enumerate(names)}
