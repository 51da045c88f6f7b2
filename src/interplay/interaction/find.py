"""Screen → tests → adjustment → Interactions; again with a wider screen where the first could list too little."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from interplay.base.arrays import DecisionClasses, IntArray
from interplay.base.progress import Progress, show_progress
from interplay.codes.coder import Coder
from interplay.codes.coders import Coders
from interplay.codes.cuts import outcome_cuts, variable_cuts
from interplay.codes.interaction_tables import TupleTables, has_missing_level
from interplay.codes.tuple_counts import MAX_KEPT, TupleCounter, TupleCounts
from interplay.engines.choice import EngineChoice
from interplay.interaction.beside_covariates import as_the_search, beside_covariates
from interplay.interaction.data import InteractionData
from interplay.interaction.p_value_caps import PValueCaps
from interplay.interaction.screen import ScreenedTuples, cap_beside_gaps, screen_tuples
from interplay.interaction.tests import make_tuple_tests
from interplay.results.interactions import Interactions
from interplay.search.checkpoint import Checkpoint, keeping
from interplay.search.loop import Shard
from interplay.search.plan import about_search
from interplay.search.settings import SearchSettings
from interplay.statistics.interaction.covariate_tests import CovariateTests
from interplay.statistics.interaction.listed_p_values import adjust_listed
from interplay.statistics.interaction.null_model import n_null_columns
from interplay.statistics.interaction.table_tests import MIN_PER_COLUMN
from interplay.statistics.interaction.tested_tuples import METHODS, TestedTuples
from interplay.statistics.interaction.two_level_fit import is_two_level
from interplay.study.covariates import Covariates
from interplay.study.provenance import versions

#: p-values of χ² up to this one are corrected by a bootstrap where there is no exact test, whether or not they could be
#: significant: those of sparse tables can be too small by a factor of ten.
_BOOTSTRAP_BELOW = 1e-3

#: The share of the progress that is the search's; the rest is that of the tests.
_SHARE_OF_SCREEN = 0.9

#: From so many tests on it is worth while to show how far they have come.
_MANY_TESTS = 1000


def find_interactions(
    data: InteractionData,
    settings: SearchSettings,
    caps: PValueCaps,
    choice: EngineChoice,
    *,
    asked: dict[str, Any],
    shard: Shard | None,
    checkpoint: Checkpoint | None,
    progress: Progress,
    covariates: Covariates | None = None,
) -> Interactions:
    """Search all tuples of the family, test what may be wanted, and list what is.

    `asked` are the arguments of `interactions` beyond the `settings` of its search, for the record.
    """
    started = time.perf_counter()
    recorded, settings = settings, replace(settings, discrete=data.discrete(settings.discrete))
    coders = Coders(settings, n_threads=choice.n_threads)
    omit_missing = asked["missing"] == "omit"

    coder = coders.of(data.comparison.table)
    n_levels = coder.n_levels - (has_missing_level(coder) if omit_missing else 0)
    _warn_of_sparse_tuples(data, n_levels, settings.dimensions)

    fingerprint = cache(partial(data.fingerprint, n_threads=choice.n_threads))

    def about() -> dict[str, Any]:
        search = about_search(data.table, data.classes, recorded, fingerprint=fingerprint())
        return search | {name: value for name, value in asked.items() if name not in ("decision", "decision_divisions")}

    with keeping(checkpoint, about):
        cap, n_screens = caps.first(), 0
        while True:
            screened = screen_tuples(
                data.comparison,
                settings,
                coders,
                choice,
                max_p=cap_beside_gaps(cap, data.comparison, coders.of(data.comparison.table), settings.dimensions)
                if omit_missing
                else cap,
                asked_for=data.family.asked_for,
                require=data.family.require,
                shard=shard,
                checkpoint=checkpoint,
                name=f"screen{n_screens}",
                progress=_part(progress, 0.0, _SHARE_OF_SCREEN),
            )
            test = _Tests(data, settings, coders, caps, screened, omit_missing)
            found = test.adjusted(cap, _part(progress, _SHARE_OF_SCREEN, 1.0))
            wider = caps.following(cap, found, is_part=shard is not None)
            if wider is None:
                break
            cap, n_screens = wider, n_screens + 1
    wanted = wanted_tuples(found, caps, is_part=shard is not None)
    return named_result(
        data,
        wanted,
        coders,
        caps,
        with_covariates=None
        if covariates is None
        else beside_covariates(
            data,
            coders,
            covariates,
            wanted,
            level=caps.level,
            omit_missing=omit_missing,
            judge=as_the_search(caps, settings.discretizations),
        ),
        settings={name: value for name, value in recorded.to_dict().items() if name != "pseudocount"} | asked,
        provenance={
            **data.record(fingerprint()),
            "engine": screened.engine,
            "searchers": screened.searched,
            "searched_up_to_p": cap,
            "tested": len(screened.tuples),
            "layout": screened.layout,
            "seconds": round(time.perf_counter() - started, 3),
            "versions": versions(),
        },
    )


class _Tests:
    """The tests of the tuples that one screen has left."""

    def __init__(
        self,
        data: InteractionData,
        settings: SearchSettings,
        coders: Coders,
        caps: PValueCaps,
        screened: ScreenedTuples,
        omit_missing: bool,
    ) -> None:
        inside = data.family.holds(screened.tuples)
        tuples, where = screened.tuples[inside], screened.discretization[inside]
        self._tuples = [tuples[where == d] for d in range(settings.discretizations)]
        variables = np.unique(tuples)
        comparison = data.comparison
        coder = coders.of(comparison.table, variables)
        self._tables = [
            TupleTables(
                coder,
                comparison.classes,
                strata=comparison.strata,
                discretization=d,
                variables=variables,
                omit_missing=omit_missing,
            )
            for d in range(settings.discretizations)
        ]
        self._caps, self._seed, self._has_strata = caps, settings.random_state, comparison.strata is not None

    def adjusted(self, cap: float, progress: Progress) -> TestedTuples:
        """Return all tuples with p up to `cap`, adjusted for all that were searched."""
        caps = self._caps
        bootstrap_below = max(_BOOTSTRAP_BELOW, caps.significant_up_to(), cap if caps.is_default else 0.0)
        found = self._adjust(self._test(self._tuples, cap, bootstrap_below, progress))
        # Where very many are significant, so are p-values that were not thought of.
        rough = found.is_significant(caps.level) & (found.method == METHODS.index("chi2"))
        if rough.any() and bootstrap_below < caps.level:
            again = found.chosen(np.flatnonzero(found.p_value <= caps.level))
            tuples = [again.tuples[again.discretization == d] for d in range(len(self._tables))]
            rest = found.chosen(np.flatnonzero(found.p_value > caps.level))
            corrected = self._test(tuples, cap, caps.level, progress)
            found = self._adjust(TestedTuples.joined([corrected, rest]).by_p_value())
        return found

    def _test(self, tuples: list[IntArray], cap: float, bootstrap_below: float, progress: Progress) -> TestedTuples:
        n_tuples = sum(map(len, tuples))
        n_done = 0
        what = f"testing {n_tuples} tuples"
        with show_progress(progress, n_tuples=max(2 * n_tuples, 1), what=what, min_tuples=_MANY_TESTS) as show:

            def tell(more: int) -> None:
                nonlocal n_done
                n_done += more
                if show is not None:
                    show(n_done)

            found = make_tuple_tests(
                self._tables,
                tuples,
                max_p=cap,
                bootstrap_below=bootstrap_below,
                seed=self._seed,
                has_strata=self._has_strata,
                tell=tell,
            )
            if show is not None:
                show(max(2 * n_tuples, 1))
            return found

    def _adjust(self, found: TestedTuples) -> TestedTuples:
        return found.adjusted(partial(adjust_listed, method=self._caps.method, n_tests=self._caps.n_tests))


def wanted_tuples(found: TestedTuples, caps: PValueCaps, *, is_part: bool = False) -> TestedTuples:
    """Leave out what was found and not asked for; of a part nobody knows yet what is significant in the whole."""
    if caps.top is not None:
        return found.chosen(np.arange(min(caps.top, len(found))))
    if caps.max_p is not None or is_part:
        return found
    return found.chosen(np.flatnonzero(found.is_significant(caps.level)))


def named_result(
    data: InteractionData,
    tested: TestedTuples,
    coders: Coders,
    caps: PValueCaps,
    *,
    settings: dict[str, Any],
    provenance: dict[str, Any],
    with_covariates: CovariateTests | None = None,
) -> Interactions:
    """Give the tuples names, cells and cuts."""
    coder = coders.of(data.comparison.table, np.unique(tested.tuples))
    cuts = [variable_cuts(coder, v) for v in np.unique(tested.tuples).tolist()]
    labels, omit = outcome_cuts(data.y, data.classes), settings["missing"] == "omit"
    return Interactions(
        names=list(data.table.names),
        tested=replace(tested, tuples=data.numbers(tested.tuples)),
        n_tests=caps.n_tests,
        outcome=labels,
        class_sizes=dict(zip(labels.labels, data.classes.sizes.tolist(), strict=True)),
        cuts=tuple(replace(cut, variable=int(data.numbers(np.array(cut.variable)))) for cut in cuts),
        counts=tuple(
            _with_numbers(data, counts) for counts in kept_counts(coder, data.classes, tested, omit_missing=omit)
        ),
        settings=settings,
        provenance=provenance if with_covariates is None else provenance | {"covariates": with_covariates.about},
        with_covariates=with_covariates,
    )


def _with_numbers(data: InteractionData, counts: TupleCounts) -> TupleCounts:
    return replace(counts, members=data.numbers(counts.members))


def kept_counts(
    coder: Coder, classes: DecisionClasses, tested: TestedTuples, *, omit_missing: bool
) -> Iterator[TupleCounts]:
    """Count the first tuples again, to be looked at."""
    counter = TupleCounter(coder, classes)
    for members, d in zip(tested.tuples[:MAX_KEPT], tested.discretization[:MAX_KEPT].tolist(), strict=True):
        counts = counter.count(members, run=0, discretization=d)
        if counts is not None:
            yield _without_missing(counts) if omit_missing else counts


def _without_missing(counts: TupleCounts) -> TupleCounts:
    """Leave the last level of each member out that stands for missing values."""
    names = [levels[:-1] if levels[-1] == "missing" and len(levels) > 1 else levels for levels in counts.level_names]
    kept = tuple(slice(len(levels)) for levels in names)
    return replace(counts, level_names=names, counts=np.ascontiguousarray(counts.counts[kept]))


def _warn_of_sparse_tuples(data: InteractionData, n_levels: IntArray, dimensions: int) -> None:
    """Say that tuples with many levels cannot be tested, before the search; two levels and two classes always can."""
    levels = np.sort(np.maximum(n_levels, 2))[-dimensions:].tolist()
    n_strata = 1 if data.strata is None else data.strata.n_strata
    needed = MIN_PER_COLUMN * n_null_columns((*levels, data.classes.n_classes)) * n_strata
    n_samples = data.table.n_samples
    if is_two_level((*levels, data.classes.n_classes)) or n_samples >= needed:
        return
    warnings.warn(
        f"tuples of {' × '.join(map(str, levels))} levels{' in each stratum' * (n_strata > 1)} need {needed} samples "
        f"to be tested, and there are {n_samples}: they get p = 1; lower divisions or dimensions, or merge levels",
        UserWarning,
        stacklevel=4,
    )


def _part(progress: Progress, begin: float, end: float) -> Progress:
    """Let a function that is told the share done hear of one part of the work."""
    if not callable(progress):
        return progress
    tell = progress
    return lambda done: tell(begin + (end - begin) * done)
