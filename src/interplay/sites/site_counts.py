"""Round two: count_at_site(), the samples of one site in the cells of all listed tuples → SiteCounts, a text file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import check_int, shown
from interplay.base.jobs import resolve_n_jobs
from interplay.base.text import tuples_in_words
from interplay.sites.plan import SitePlan, read_plan
from interplay.sites.site_list import (
    SiteData,
    check_tuples,
    lines_for_plan,
    make_site_data,
    names_in_lines,
    union_of,
    write_lines,
    written_name,
)

KIND = "count file of a site"
_HEADER: dict[str, type] = {
    "plan": str, "site": str, "samples": int, "samples of classes": list, "smallest cell": int, "columns": int,
    "tuples": int,
}  # fmt: skip

#: Fields of lines: what a line is about, and what stands for counts that the site keeps to itself.
_LEVELS, _LISTED, _OTHER, _WITHHELD = "levels", "listed", "-", "withheld"

#: Counts are whole numbers of samples; larger ones are a slip.
_MOST_SAMPLES = 10**12
_COUNTS = re.compile("[0-9]{1,12}( [0-9]{1,12})*")


@dataclass(frozen=True, eq=False)
class SiteCounts:
    """What a site counts in round two.

    Attributes
    ----------
    plan : SitePlan
    site : str
    tuples : (n, k) int64
        All listed tuples, sorted.
    is_listed : (n,) bool
        Tuples that this site has listed in round one.
    is_withheld : (n,) bool
        Tuples with a cell of fewer than `min_cell` samples of a class, but not 0, whose counts stay at the site.
    counts : (total,) int64
        Tables of the tuples, one after the other; entries by the levels of member 1, …, and the class, the last of
        which varies fastest. 0 where withheld.
    class_sizes : (n_classes,) int64
    occurs : dict of int to bool arrays
        By the number of each column in the tuples: which of its levels the site has, missing values last.
    min_cell : int
    """

    plan: SitePlan
    site: str
    tuples: IntArray
    is_listed: BoolArray
    is_withheld: BoolArray
    counts: IntArray
    class_sizes: IntArray
    occurs: dict[int, BoolArray]
    min_cell: int

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def n_samples(self) -> int:
        return int(self.class_sizes.sum())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a text file, which says what it contains."""
        plan = self.plan
        small = f"Tables with a count from 1 to {self.min_cell - 1} are withheld. " if self.min_cell > 1 else ""
        prose = [
            f"This file leaves the site. It contains numbers of samples: by class, and by the cells of {len(self)} "
            f"{tuples_in_words(plan.dimensions)} of columns and class.",
            f"It contains no rows. {small}It is not anonymous: counts of smaller groups, down to one person,",
            "can follow from these, most easily from tables of one column that leave out different missing values; and",
            "to somebody who knows the values of a person, many counts can tell whether that person is in the study.",
            "Lines 'levels': a column; whether each of its levels occurs at this site; the same for missing values.",
            "Other lines: 'listed' if this site has asked for the tuple; its columns; samples, of which the class "
            "varies fastest, then the level of the last column.",
        ]
        header = {
            "plan": plan.digest,
            "site": self.site,
            "samples": self.n_samples,
            "samples of classes": self.class_sizes.tolist(),
            "smallest cell": self.min_cell,
            "columns": len(self.occurs),
            "tuples": len(self),
        }
        write_lines(path, KIND, prose, header, self._lines())

    def _lines(self) -> Iterator[str]:
        names = [written_name(name) for name in self.plan.names]
        for v, flags in sorted(self.occurs.items()):
            yield f"{_LEVELS}\t{names[v]}\t{' '.join(str(int(flag)) for flag in flags)}"
        begin = 0
        for members, is_listed, is_withheld in zip(
            self.tuples.tolist(), self.is_listed.tolist(), self.is_withheld.tolist(), strict=True
        ):
            end = begin + self.plan.table_size(tuple(members))
            counts = _WITHHELD if is_withheld else " ".join(map(str, self.counts[begin:end].tolist()))
            begin = end
            yield "\t".join([_LISTED if is_listed else _OTHER, *(names[v] for v in members), counts])

    def __repr__(self) -> str:
        kept = int(self.is_withheld.sum())
        withheld = f", {kept:,} withheld (cells below {self.min_cell})" if self.min_cell > 1 else ""
        return f"Counts of site {self.site!r}: {self.n_samples:,} samples, {len(self):,} tuples{withheld}"


def count_at_site(
    plan: SitePlan | str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    site: str,
    lists: Iterable[Any],
    min_cell: int = 0,
    n_jobs: int | None = None,
) -> SiteCounts:
    """Round two at one site: count the tuples that any site has listed.

    Parameters
    ----------
    plan, X, y, site
        As in `list_at_site`; the same table.
    lists : list of SiteList or path-like
        The lists of all sites, this one among them.
    min_cell : int
        Tables with a count below this, but above 0, stay at the site. The tuple is then tested in the other sites only,
        and the result says so. 0 sends all counts.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    SiteCounts
        ``.save(path)`` writes the file that leaves the site: counts, from which counts of smaller groups, down to one
        person, can follow, also with `min_cell`.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.sites import count_at_site, list_at_site, plan_sites
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (800, 20))
    >>> y = X[:, 3] ^ X[:, 11] ^ (rng.random(800) < 0.2)
    >>> plan = plan_sites(X[:400], y[:400], sites=["Basel", "Turku"])
    >>> rows = {"Basel": slice(0, 400), "Turku": slice(400, 800)}
    >>> lists = [list_at_site(plan, X[some], y[some], site=name) for name, some in rows.items()]
    >>> count_at_site(plan, X[:400], y[:400], site="Basel", lists=lists)
    Counts of site 'Basel': 400 samples, 6 tuples
    """
    agreed = read_plan(plan)
    min_cell = check_int("min_cell", min_cell, low=0, high=10**9)
    n_threads = resolve_n_jobs(n_jobs)
    tuples, listed = union_of(agreed, lists)
    data = make_site_data(agreed, X, y, site, n_threads=n_threads)
    _check_classes(data, min_cell)
    counts, small = _counted(data, tuples, min_cell)
    return SiteCounts(
        plan=agreed,
        site=site,
        tuples=tuples,
        is_listed=np.array([tuple(members) in listed[site] for members in tuples.tolist()], dtype=bool),
        is_withheld=small,
        counts=counts,
        class_sizes=data.class_sizes,
        occurs={v: data.occurs[v] for v in np.unique(tuples).tolist()},
        min_cell=min_cell,
    )


def _check_classes(data: SiteData, min_cell: int) -> None:
    """Refuse a class that is itself a small cell: its size stands in the file, and all its tables would be withheld."""
    for label, n in zip(data.plan.classes, data.class_sizes.tolist(), strict=True):
        if 0 < n < min_cell:
            raise ValueError(
                f"min_cell is {min_cell}, and class {shown(label)} has fewer samples at this site: leave them out, or "
                "lower min_cell"
            )


def starts_of_tables(plan: SitePlan, tuples: IntArray) -> IntArray:
    """Return where the table of each tuple begins among all counts, and where the last one ends, (n + 1,)."""
    levels = np.array(plan.table_levels, dtype=np.int64)
    sizes = levels[tuples].prod(axis=1) * len(plan.classes)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _counted(data: SiteData, tuples: IntArray, min_cell: int) -> tuple[IntArray, BoolArray]:
    plan = data.plan
    start = starts_of_tables(plan, tuples)
    counts, small = np.zeros(start[-1], dtype=np.int64), np.zeros(len(tuples), dtype=bool)
    for places, tables in data.tables().counted(tuples):
        # Classes that the site does not have are empty.
        whole = np.zeros((*tables.shape[:-1], len(plan.classes)), dtype=np.int64)
        whole[..., data.present] = tables
        flat = whole.reshape(len(places), -1)
        small[places] = ((flat > 0) & (flat < min_cell)).any(axis=1)
        flat[small[places]] = 0
        counts[start[places][:, np.newaxis] + np.arange(flat.shape[1])] = flat
    return counts, small


def read_counts(plan: SitePlan, given: SiteCounts | str | os.PathLike[str]) -> SiteCounts:
    """Return the counts of a site, which may be in a file, of this plan."""
    if isinstance(given, SiteCounts):
        if given.plan.digest != plan.digest:
            raise ValueError(f"counts: those of {given.site!r} are of another plan")
        return given
    name, header, lines = lines_for_plan(plan, "counts", given, KIND, _HEADER)
    try:
        read = _parsed(plan, header, lines)
    except (KeyError, ValueError, IndexError, OverflowError):
        raise ValueError(f"{name!r} has lines that are no counts of the plan's columns") from None
    check_tuples(read.tuples, header["tuples"], name)
    if len(read.occurs) != header["columns"] or read.n_samples != header["samples"]:
        raise ValueError(f"{name!r} does not hold the columns and samples that its header announces")
    return read


def _parsed(plan: SitePlan, header: dict[str, Any], lines: list[str]) -> SiteCounts:
    number_of = names_in_lines(plan.names)
    occurs: dict[int, BoolArray] = {}
    tuples: list[list[int]] = []
    is_listed: list[bool] = []
    is_withheld: list[bool] = []
    parts: list[str] = []
    for line in lines:
        about, *fields = line.split("\t")
        if about == _LEVELS:
            v, flags = number_of[fields[0]], fields[1].split(" ")
            if len(flags) != plan.columns[v].n_levels + plan.has_missing_level or not set(flags) <= {"0", "1"}:
                raise ValueError
            occurs[v] = np.array([flag == "1" for flag in flags], dtype=bool)
            continue
        if about not in (_LISTED, _OTHER) or len(fields) != plan.dimensions + 1:
            raise ValueError
        members = [number_of[field] for field in fields[:-1]]
        size = plan.table_size(tuple(members))
        withheld = fields[-1] == _WITHHELD
        counts = " ".join(["0"] * size) if withheld else fields[-1]
        if _COUNTS.fullmatch(counts) is None or counts.count(" ") != size - 1:
            raise ValueError
        tuples.append(members)
        is_listed.append(about == _LISTED)
        is_withheld.append(withheld)
        parts.append(counts)
    class_sizes = header["samples of classes"]
    if len(class_sizes) != len(plan.classes) or not all(_is_count(size) for size in class_sizes):
        raise ValueError
    return SiteCounts(
        plan=plan,
        site=header["site"],
        tuples=np.array(tuples, dtype=np.int64).reshape(len(tuples), plan.dimensions),
        is_listed=np.array(is_listed, dtype=bool),
        is_withheld=np.array(is_withheld, dtype=bool),
        counts=np.array(" ".join(parts).split(), dtype=np.int64),
        class_sizes=np.array(class_sizes, dtype=np.int64),
        occurs=occurs,
        min_cell=header["smallest cell"],
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_SAMPLES
