"""combine_sites(): counts of all sites → Interactions, those of one table of all samples with the site as a stratum."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from interplay.ask.interaction.listed_tests import TestsOfScreen, wanted_tuples
from interplay.ask.tuple_tests.class_tests import MAX_DF, tests_of_tables
from interplay.ask.tuple_tests.prospects import never_tested
from interplay.ask.tuple_tests.screen import most_df
from interplay.base.arrays import FloatArray, IntArray, places_of_each
from interplay.base.checks import check_list
from interplay.base.jobs import resolve_n_jobs
from interplay.base.planes import BitPlanes
from interplay.base.progress import Progress, check_progress
from interplay.data.codes.cuts import OutcomeCuts, VariableCuts
from interplay.data.codes.tuple_counts import MAX_KEPT, MAX_NUMBERS, TupleCounts
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.classes import MIN_CLASS_SIZE, DecisionClasses
from interplay.data.study.outcomes.targets import ClassTarget
from interplay.infer.interaction.interaction_test import g2_thresholds
from interplay.infer.interaction.table_tests import may_be_significant
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed
from interplay.search.engines.tables import TupleTables
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import search_record
from interplay.sites.plan import SitePlan, read_plan
from interplay.sites.site_counts import SiteCounts, read_counts, starts_of_tables


def combine_sites(
    plan: SitePlan | str | os.PathLike[str],
    counts: Iterable[Any],
    *,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Interactions:
    """Combine the counts of all sites: the interactions of all samples together, with the site as a stratum.

    The table equals that of ``interactions(X, y, strata=site)`` with all samples in one table, byte for byte: the same
    tuples, statistics, p-values and adjusted p-values. Exceptions are tuples whose counts a site has withheld, which
    are tested in the other sites only, and tests beside smooth effects of numbers that were cut, which need samples.

    Parameters
    ----------
    plan : SitePlan or path-like
        The plan, or its file.
    counts : list of SiteCounts or path-like
        The counts of all sites of the plan.
    n_jobs : int, optional
        Threads.
    progress
        As in `interplay.interactions`.

    Returns
    -------
    Interactions
        ``.provenance["sites"]`` has samples and withheld tuples of each site.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites
    >>> rng = np.random.default_rng(1)
    >>> X = rng.integers(0, 2, (800, 20))
    >>> y = X[:, 3] ^ X[:, 11] ^ (rng.random(800) < 0.3)
    >>> plan = plan_sites(X[:400], y[:400], sites=["Basel", "Turku"])
    >>> rows = {"Basel": slice(0, 400), "Turku": slice(400, 800)}
    >>> lists = [list_at_site(plan, X[some], y[some], site=name) for name, some in rows.items()]
    >>> counts = [count_at_site(plan, X[some], y[some], site=name, lists=lists) for name, some in rows.items()]
    >>> combine_sites(plan, counts).significant
    [('x3', 'x11')]
    """
    started = time.perf_counter()
    agreed = read_plan(plan)
    check_progress(progress)
    n_threads = resolve_n_jobs(n_jobs)
    sites = checked_counts(agreed, counts)
    tables = PooledTables(agreed, sites)
    classes, strata = _samples(agreed, sites, tables.classes)
    classes.check_strata(strata)
    found, cap, n_tested = _found(agreed, tables, classes, n_threads, progress)
    caps = agreed.caps
    wanted = wanted_tuples(found, caps)
    adjust = partial(adjust_listed, method=caps.method, n_tests=caps.n_tests)
    tested = wanted.smooth_judged(adjust, caps.level)
    labels = [str(label) for label in classes.labels]
    return Interactions(
        names=agreed.names,
        tested=tested,
        n_tests=agreed.n_tuples,
        outcome=OutcomeCuts(labels, np.empty(0)),
        class_sizes=dict(zip(labels, classes.sizes.tolist(), strict=True)),
        cuts=tuple(tables.cuts_of(v) for v in np.unique(tested.tuples).tolist()),
        counts=tuple(_kept_counts(agreed, tables, tested.tuples[:MAX_KEPT])),
        settings=_settings(agreed),
        provenance={
            "target": agreed.target,
            "n_samples": int(classes.sizes.sum()),
            "samples_left_out": 0,
            "n_vars": len(agreed.columns),
            "strata": dict(zip(strata.labels, strata.sizes.tolist(), strict=True)),
            **search_record({"name": "sites"}, {}, started=started),
            "searched_up_to_p": cap,
            "tested": n_tested,
            "counted": len(tables.tuples),
            "untested": int(np.all([one.is_withheld for one in sites], axis=0).sum()),
            "plan": agreed.digest,
            "sites": {
                one.site: {
                    "n_samples": one.n_samples,
                    "n_listed": int(one.is_listed.sum()),
                    "min_cell": one.min_cell,
                    "n_withheld": int(one.is_withheld.sum()),
                }
                for one in sites
            },
        },
    )


def _samples(plan: SitePlan, sites: list[SiteCounts], present: IntArray) -> tuple[DecisionClasses, Strata]:
    """Return classes and sites of as many samples as there are, in no order of their own."""
    sizes = np.stack([one.class_sizes[present] for one in sites])
    labels = [plan.classes[q] for q in present.tolist()]
    if small := [label for label, n in zip(labels, sizes.sum(axis=0), strict=True) if n < MIN_CLASS_SIZE]:
        raise ValueError(f"the class {small[0]!r} has fewer than {MIN_CLASS_SIZE} samples in all sites: leave it out")
    site, of_class = (np.repeat(numbers.ravel(), sizes.ravel()) for numbers in np.indices(sizes.shape))
    return DecisionClasses(of_class.astype(np.int64), labels), Strata(site.astype(np.int64), list(plan.sites))


def _found(
    plan: SitePlan, tables: PooledTables, classes: ClassTarget, n_threads: int, progress: Progress
) -> tuple[TupleTests, float, int]:
    """Test the tuples as a search of one table does: again up to larger p-values, where it would go on."""
    caps, n_samples = plan.caps, int(classes.sizes.sum())
    cap = caps.first()
    while True:
        tuples = _survivors(plan, tables, cap, n_samples)
        of_tables = partial(tests_of_tables, [tables])
        tests = TestsOfScreen(
            of_tables,
            [tuples],
            caps,
            seed=plan.random_state,
            n_samples=n_samples,
            n_threads=n_threads,
        )
        found = tests.adjusted(cap, progress)
        wider = caps.following(cap, found)
        if wider is None:
            return found, cap, len(tuples)
        if wider > plan.list_up_to:
            n_significant = int(found.is_significant(caps.level).sum())
            raise ValueError(
                f"{n_significant} of {plan.n_tuples} tuples are significant, more than the lists have room for: make a "
                f"plan with list_up_to={min(caps.level, 4 * wider):.2g}, and list and count again"
            )
        cap = wider


def _survivors(plan: SitePlan, tables: PooledTables, cap: float, n_samples: int) -> IntArray:
    """Keep the tuples that the screen of one table would keep, by the same bounds."""
    levels = np.maximum([column.n_levels + plan.has_missing_level for column in plan.columns], 2)
    max_df = most_df(levels, tables.n_classes, tables.n_strata, plan.dimensions)
    thresholds = g2_thresholds(cap, min(max_df, MAX_DF))
    if thresholds[1:].max() <= 0:
        return tables.tuples
    may_be = ~never_tested(tables, tables.tuples, n_samples)
    left = np.flatnonzero(may_be)
    for places, counted in tables.counted(tables.tuples[left]):
        may_be[left[places]] = may_be_significant(counted, thresholds, strata=True)
    return np.asarray(tables.tuples[may_be])


def _kept_counts(plan: SitePlan, tables: PooledTables, tuples: IntArray) -> list[TupleCounts]:
    """Return the tables of tuples, sites added up, that are small enough to be looked at."""
    kept = []
    for members in tuples:
        if prod(tables.shapes(members).tolist()) * tables.n_classes > MAX_NUMBERS:
            continue
        ((_, counted),) = tables.counted(members[np.newaxis])
        names = [tables.cuts_of(v).level_names(0) for v in members.tolist()]
        if plan.omits_missing:
            names = [levels[:-1] if levels[-1] == "missing" and len(levels) > 1 else levels for levels in names]
        pooled = counted[0].sum(axis=0)
        pooled = np.ascontiguousarray(pooled[tuple(slice(len(levels)) for levels in names)])
        kept.append(TupleCounts(np.array(members, dtype=np.int64), 0, 0, names, pooled))
    return kept


def _settings(plan: SitePlan) -> dict[str, Any]:
    """Return the arguments of the search of one table with the same result."""
    cut = [len(column.thresholds) for column in plan.columns if column.is_cut]
    return {
        "dimensions": plan.dimensions,
        "divisions": max(cut, default=1),
        "discretizations": 1,
        "range_": 0.0,
        "discrete": "auto",
        "random_state": plan.random_state,
        "missing": plan.missing,
        "decision": "classes",
        "decision_divisions": None,
        "coding": "levels",
        "variables": None,
        "require": "any",
        "partners": None,
        "min_distance": None,
        "p_adjust": plan.p_adjust,
        "level": plan.level,
        "max_p": plan.max_p,
        "top": None,
        "holdout": None,
        "shard": None,
    }


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


class PooledTables(TupleTables):
    """Tables of the listed tuples: (n, n_sites, levels …, n_classes), as one table of all samples would give them.

    `sites`: of all sites of the plan, in its order, for the same tuples.

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
