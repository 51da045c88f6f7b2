"""combine_sites(): counts of all sites → Interactions, those of one table of all samples with the site as a stratum."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from interplay.ask.interaction.find import TestsOfScreen, wanted_tuples
from interplay.ask.interaction.prospects import never_tested
from interplay.ask.interaction.screen_limits import most_df
from interplay.base.arrays import IntArray
from interplay.base.jobs import resolve_n_jobs
from interplay.base.progress import Progress, check_progress
from interplay.data.codes.cuts import OutcomeCuts
from interplay.data.codes.tuple_counts import MAX_KEPT, MAX_NUMBERS, TupleCounts
from interplay.data.study.outcomes.classes import MIN_CLASS_SIZE, DecisionClasses
from interplay.data.study.outcomes.targets import ClassTarget
from interplay.data.study.strata import Strata
from interplay.infer.interaction.interaction_test import g2_thresholds
from interplay.infer.interaction.listed_p_values import adjust_listed
from interplay.infer.interaction.survivors import may_be_significant
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import search_record
from interplay.sites.checked_counts import checked_counts
from interplay.sites.plan import SitePlan, read_plan
from interplay.sites.pooled_tables import PooledTables
from interplay.sites.site_counts import SiteCounts

#: Thresholds are computed up to this number of degrees of freedom, as in the search of one table.
_MAX_DF = 100_000


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
        tests = TestsOfScreen(
            [tables], [tuples], caps, seed=plan.random_state, n_samples=n_samples, n_threads=n_threads
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
    thresholds = g2_thresholds(cap, min(max_df, _MAX_DF))
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
