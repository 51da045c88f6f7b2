"""Counts of all sites → tables of tuples with the site as a stratum, in the levels that occur at any site."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from interplay.base.arrays import BitPlanes, IntArray, places_of_each
from interplay.data.codes.cuts import VariableCuts
from interplay.search.engines.tables import TupleTables
from interplay.sites.plan import SitePlan
from interplay.sites.site_counts import SiteCounts, starts_of_tables


class PooledTables(TupleTables):
    """Tables of the listed tuples: (n, n_sites, levels …, n_classes), as one table of all samples would give them.

    Parameters
    ----------
    plan : SitePlan
    sites : list of SiteCounts
        Of all sites of the plan, in its order, for the same tuples.

    Attributes
    ----------
    tuples : (n, k) int64
        The tuples that were counted.
    classes : (n_classes,) int64
        Numbers of the plan's classes that have samples.
    """

    def __init__(self, plan: SitePlan, sites: Sequence[SiteCounts]) -> None:
        self._plan, self._sites = plan, sites
        self.tuples = sites[0].tuples
        self.classes: IntArray = np.flatnonzero(np.sum([one.class_sizes for one in sites], axis=0))
        self._start = starts_of_tables(plan, self.tuples)
        self._row = {tuple(members): row for row, members in enumerate(self.tuples.tolist())}
        n_levels = np.full(len(plan.columns), 2, dtype=np.int64)
        n_omitted = np.zeros(len(plan.columns), dtype=np.int64)
        self._levels_of: dict[int, IntArray] = {}
        self._cuts: dict[int, VariableCuts] = {}
        for v in np.unique(self.tuples).tolist():
            occurs, n_planned = np.any([one.occurs[v] for one in sites], axis=0), plan.columns[v].n_levels
            # Levels between thresholds exist whether or not they have samples.
            observed = np.arange(n_planned) if plan.columns[v].is_cut else np.flatnonzero(occurs[:n_planned])
            has_missing = plan.has_missing_level and bool(occurs[n_planned])
            n_levels[v], n_omitted[v] = len(observed) + has_missing, has_missing and plan.omits_missing
            is_level = has_missing and not plan.omits_missing
            self._levels_of[v] = np.append(observed, n_planned) if is_level else observed
            self._cuts[v] = _cuts_of(plan, v, observed, missing_level=has_missing)
        super().__init__(
            _no_planes,
            n_levels,
            n_classes=len(self.classes),
            n_strata=len(sites),
            n_omitted=n_omitted if plan.omits_missing else None,
        )
        # A table that is withheld is an empty stratum.
        self.omits_samples |= any(one.is_withheld.any() for one in sites)
        self._pattern = self._patterns()

    def cuts_of(self, variable: int) -> VariableCuts:
        """Return the definition of a column's levels: those that occur at any site."""
        return self._cuts[variable]

    def _patterns(self) -> IntArray:
        """Return a number for each column, the same for columns that keep the same levels of equally many."""
        numbers: dict[tuple[int, ...], int] = {}
        pattern = np.full(len(self._plan.columns), -1, dtype=np.int64)
        for v, levels in self._levels_of.items():
            key = (self._plan.table_levels[v], int(self._n_levels[v]), *levels.tolist())
            pattern[v] = numbers.setdefault(key, len(numbers))
        return pattern

    def _count(self, tuples: IntArray, places: IntArray, at_most: int) -> Iterator[tuple[IntArray, IntArray]]:
        for of_pattern in places_of_each(self._pattern[tuples[places]]):
            for begin in range(0, len(of_pattern), at_most):
                some = places[of_pattern[begin : begin + at_most]]
                yield some, self._tables(tuples[some])

    def _tables(self, tuples: IntArray) -> IntArray:
        """Return the tables of tuples of one pattern."""
        rows = np.array([self._row[tuple(members)] for members in tuples.tolist()], dtype=np.int64)
        members = tuples[0].tolist()
        planned = [self._plan.table_levels[v] for v in members]
        size = int(np.prod(planned)) * len(self._plan.classes)
        entries = self._start[rows][:, np.newaxis] + np.arange(size)
        by_site = np.stack([one.counts[entries] for one in self._sites], axis=1)
        tables = by_site.reshape(len(rows), len(self._sites), *planned, len(self._plan.classes))
        for axis, v in enumerate(members, start=2):
            tables = np.take(tables, self._levels_of[v], axis=axis)
            # A column with one value counts as two levels, one of them empty.
            more = int(self._n_levels[v]) - tables.shape[axis]
            if more > 0:
                tables = np.pad(tables, [(0, more if place == axis else 0) for place in range(tables.ndim)])
        return np.ascontiguousarray(np.take(tables, self.classes, axis=-1))


def _cuts_of(plan: SitePlan, variable: int, observed: IntArray, *, missing_level: bool) -> VariableCuts:
    planned = plan.columns[variable].cuts(variable, missing_level=missing_level)
    if planned.is_cut:
        return planned
    labels = [planned.labels[level] for level in observed.tolist()] if planned.labels else []
    return replace(planned, values=planned.values[observed] if len(planned.values) else planned.values, labels=labels)


def _no_planes(_: IntArray) -> BitPlanes:
    raise AssertionError("sites send tables, not samples")
