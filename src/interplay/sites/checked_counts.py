"""Counts of all sites → checked against each other, so that no site counts another table, or other tuples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, places_of_each
from interplay.base.checks import check_list
from interplay.infer.interaction.survivors import may_be_significant
from interplay.sites.plan import SitePlan
from interplay.sites.site_counts import SiteCounts, read_counts, starts_of_tables

#: Tuples are listed by G² on the machine of the site; here it may differ by rounding.
_NEAR = 1e-6


def checked_counts(plan: SitePlan, counts: Iterable[Any]) -> list[SiteCounts]:
    """Return the counts of all sites, in the order of the plan, or say what does not fit."""
    read: dict[str, SiteCounts] = {}
    for given in check_list("counts", counts, of="counts of sites or their files"):
        one = read_counts(plan, given)
        if one.site in read:
            raise ValueError(f"counts has two files of site {one.site!r}: leave one out")
        read[one.site] = one
    if missing := [site for site in plan.sites if site not in read]:
        raise ValueError(f"counts lacks those of {', '.join(map(repr, missing[:6]))}: all sites must count")
    sites = [read[site] for site in plan.sites]
    for one in sites[1:]:
        if not np.array_equal(one.tuples, sites[0].tuples):
            raise ValueError(
                f"counts: sites {sites[0].site!r} and {one.site!r} counted different tuples: both must count the lists "
                "of all sites"
            )
    nowhere = np.flatnonzero(~np.any([one.is_listed for one in sites], axis=0))
    if len(nowhere):
        members = ", ".join(plan.names[v] for v in sites[0].tuples[nowhere[0]].tolist())
        raise ValueError(f"counts: no site has listed ({members}), which all have counted: count the lists again")
    start = starts_of_tables(plan, sites[0].tuples)
    thresholds = plan.shares()
    for one in sites:
        _check_columns(one)
        _check_tables(one, start, thresholds)
    return sites


def _check_columns(one: SiteCounts) -> None:
    if set(one.occurs) != set(np.unique(one.tuples).tolist()):
        raise ValueError(f"counts of site {one.site!r} do not say which levels its columns have: count again")


def _check_tables(one: SiteCounts, start: IntArray, thresholds: FloatArray) -> None:
    """Refuse tables that cannot be of one table of samples, or whose tuples do not belong in the list of the site."""
    plan = one.plan
    levels = np.array(plan.table_levels, dtype=np.int64)[one.tuples]
    margins: dict[int, IntArray] = {}
    for row_of_shape in places_of_each(levels):
        shape = (*levels[row_of_shape[0]].tolist(), len(plan.classes))
        rows = row_of_shape[~one.is_withheld[row_of_shape]]
        if not len(rows):
            continue
        entries = start[rows][:, np.newaxis] + np.arange(int(np.prod(shape)))
        tables = one.counts[entries].reshape(len(rows), *shape)
        sizes = tables.reshape(len(rows), -1, shape[-1]).sum(axis=1)
        fits = (sizes <= one.class_sizes) if plan.omits_missing else (sizes == one.class_sizes)
        if not fits.all():
            raise ValueError(f"counts of site {one.site!r} do not add up to its samples of each class")
        if not plan.omits_missing:
            _check_margins(one, tables, rows, margins)
        _check_listed(one, tables, rows, thresholds)


def _check_margins(one: SiteCounts, tables: IntArray, rows: IntArray, margins: dict[int, IntArray]) -> None:
    """Refuse a column that has other samples by level and class in some of its tuples, or other levels than it names.

    `margins` are those of the columns that were looked at before, and of these columns afterwards.
    """
    k = one.tuples.shape[1]
    for member in range(k):
        axes = tuple(1 + other for other in range(k) if other != member)
        margin, columns = tables.sum(axis=axes), one.tuples[rows, member]
        used, first, place = np.unique(columns, return_index=True, return_inverse=True)
        differs = (margin != margin[first[place]]).any(axis=(1, 2))
        wrong = columns[differs].tolist()
        for v, of_first in zip(used.tolist(), margin[first], strict=True):
            occurs = one.occurs[v]
            if not np.array_equal(margins.setdefault(v, of_first), of_first):
                wrong.append(v)
            if not np.array_equal(of_first.sum(axis=1)[: len(occurs)] > 0, occurs):
                raise ValueError(
                    f"counts of site {one.site!r}: column {one.plan.names[v]!r} has not the levels it names"
                )
        if wrong:
            raise ValueError(
                f"counts of site {one.site!r}: column {one.plan.names[wrong[0]]!r} has different samples in different "
                "tuples, so that they are not of one table"
            )


def _check_listed(one: SiteCounts, tables: IntArray, rows: IntArray, thresholds: FloatArray) -> None:
    """Say whether the list of round one has the tuples that these counts would list, and no others."""
    if thresholds[1:].max() <= 0:
        return
    has_samples = one.class_sizes > 0
    present = np.ascontiguousarray(tables[..., has_samples])
    surely = may_be_significant(present, thresholds * (1 + _NEAR))
    perhaps = may_be_significant(present, thresholds * (1 - _NEAR))
    wrong = (surely & ~one.is_listed[rows]) | (one.is_listed[rows] & ~perhaps)
    if wrong.any():
        members = ", ".join(one.plan.names[v] for v in one.tuples[rows[np.flatnonzero(wrong)[0]]].tolist())
        raise ValueError(
            f"site {one.site!r}: its list and its counts are of different tables (the first tuple in doubt is "
            f"{members}): list and count the same table"
        )
