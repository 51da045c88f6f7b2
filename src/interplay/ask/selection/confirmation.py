"""Variables that a search of scores found → tests by the full model, and of sparse tuples, which have the last word.

Residuals stand for an outcome with covariates, an offset or times. What they show must show in the full model as well:
linear, logistic or Cox's, with and without the variable, in the way in which it was found. The p-value of the way takes
the place of the p-value that the search gave it, where it is larger, and all else is as before: weights of the arms,
null distributions of maxima, adjustment for all variables. So nothing is found that the full model does not show, and
the error rate is that of the search.

Scores with long tails (an outcome that is mostly zero, few events) and a tuple with a cell of few samples have sums of
squares that no fitted distribution of maxima knows. There the tuple's own test (`Claims.of_levels`), times the number
of tuples that the variable could have been best in, is asked as well, or the variable's own, the better one of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb

import numpy as np

from interplay.ask.selection.settings import SelectionSettings
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_chi2_tail
from interplay.data.codes.coded import CodedComparison, CodedStudy
from interplay.data.codes.rank_scores import RankScores
from interplay.data.models.linear import cell_columns
from interplay.data.study.comparisons import Comparison
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.times import Survival
from interplay.infer.arms import ArmPValues, log_p_of_all
from interplay.infer.claims import claims_of
from interplay.infer.model_tests import ModelTests
from interplay.infer.null_fit import NullFit
from interplay.infer.p_values import CHI2_PER_UNIT, adjust, relevant_mask
from interplay.infer.survival.hazard_effects import hazard_effects
from interplay.show.results.run import Run

#: Statistic and degrees of freedom of a likelihood ratio.
_Ratio = tuple[float, int]

#: Excess kurtosis of scores from which on their tails are long, and that of the sum over a cell from which on its tail
#: is.
_LONG_TAILS, _LONG_IN_CELL = 1.0, 0.25


def has_long_tails(comparison: Comparison) -> bool:
    """Say whether the scores of an outcome have long tails; classes have no scores."""
    return _excess(comparison) > _LONG_TAILS


def _excess(comparison: Comparison) -> float:
    """Return the excess kurtosis of the scores of an outcome; 0 with groups, which change places."""
    return 0.0 if comparison.groups is not None else comparison.outcome.excess


class Confirmation:
    """Tests of variables by the full models of a selection's comparisons.

    `comparisons`: those of a selection, with their models.
    """

    def __init__(self, coded: CodedStudy, comparisons: Sequence[Comparison], settings: SelectionSettings) -> None:
        self._coded, self._comparisons, self._settings = coded, comparisons, settings
        self._ratios: dict[int, _Ratio] = {}  # by variable: the test that decided

    def over_arms(self, tests: tuple[ArmPValues, ...]) -> tuple[ArmPValues, ...]:
        """Return the tests of several dimensions with the p-values of full models, of all variables that are relevant.

        Of each relevant variable the strongest test is repeated; of a variable that stays relevant by another test, the
        other one, too.
        """
        level, method = self._settings.level, self._settings.p_adjust
        confirmed: set[tuple[int, int]] = set()
        while True:
            p_adjusted = adjust(np.exp(log_p_of_all(tests)), method, level=level)
            relevant = np.flatnonzero(relevant_mask(p_adjusted, level=level))
            strongest = _strongest(tests)
            due = [(int(strongest[v]), int(v)) for v in relevant if (int(strongest[v]), int(v)) not in confirmed]
            if not due:
                return tests
            confirmed.update(due)
            tests = tuple(
                self._repeated(test, np.array([v for which, v in due if which == number], dtype=np.int64))
                for number, test in enumerate(tests)
            )

    def _repeated(self, test: ArmPValues, variables: IntArray) -> ArmPValues:
        log_p = test.log_p.copy()
        n_comparisons = len(self._comparisons)
        for number, comparison in enumerate(self._comparisons):
            here = variables[test.comparison[variables] == number]
            if not len(here):
                continue
            coded = self._coded.of(comparison, np.unique(test.tuples[here][test.tuples[here] >= 0]))
            null_fit = test.null_fits[number] if test.null_fits else None
            of_here = _OneComparison(coded, discretization=0)
            for v in here.tolist():
                members = test.tuples[v][test.tuples[v] >= 0]
                if comparison.model is not None:
                    ratio, of_model = of_here.log_p(test.name, v, members, null_fit, n_vars=len(log_p))
                    self._ratios[v] = ratio
                    log_p[v] = max(log_p[v], min(of_model + np.log(n_comparisons), 0.0))
                if test.name.startswith(("gain", "synergy")):
                    log_p[v] = max(log_p[v], of_here.of_sparse(v, members, n_vars=len(log_p), n_tests=n_comparisons))
        return replace(test, log_p=log_p)

    def of_runs(self, runs: Sequence[Run], variables: IntArray) -> FloatArray:
        """Return ln p of variables found in tuples of one size, by the null distribution of the search, (n,)."""
        best_run = np.argmin([run.null_fit.log_p_values() for run in runs], axis=0)
        log_p = np.full(len(variables), -np.inf)
        for number, (run, comparison) in enumerate(zip(runs, self._comparisons, strict=True)):
            places = np.flatnonzero(best_run[variables] == number)
            if not len(places):
                continue
            tuples = run.gains.tuples[variables[places]]
            coded = self._coded.of(comparison, np.unique(tuples))
            for place, members in zip(places.tolist(), tuples, strict=True):
                v = int(variables[place])
                of_here = _OneComparison(coded, discretization=int(run.gains.discretization[v]))
                n_tests = self._settings.discretizations * len(runs)
                log_p[place] = of_here.of_sparse(v, members, n_vars=run.gains.n_vars, n_tests=n_tests)
                if comparison.model is None:
                    continue
                ratio = of_here.beyond_others(v, members)
                self._ratios[v] = ratio
                exact = len(run.null_fit.exact_log_p) > 0
                plain = _log_tail(ratio) + np.log(self._settings.discretizations)
                of_run = plain if exact else _log_p_by(run.null_fit, ratio)
                log_p[place] = max(log_p[place], min(of_run + np.log(len(runs)), 0.0))
        return log_p

    def record(self, kind: str, about: list[str], variables: IntArray, p_adjusted: FloatArray) -> ModelTests:
        """Return the tests that decided on these variables."""
        ratios = [self._ratios.get(int(v), (0.0, 0)) for v in variables]
        return ModelTests(
            kind=kind,
            about=about,
            variable=variables,
            chi2=np.array([chi2 for chi2, _ in ratios], dtype=np.float64),
            df=np.array([df for _, df in ratios], dtype=np.int64),
            p_value=np.exp([_log_tail(ratio) for ratio in ratios]) if ratios else np.empty(0),
            p_adjusted=p_adjusted[variables],
            **self._of_times(variables),
        )

    def _of_times(self, variables: IntArray) -> dict[str, FloatArray]:
        """Return concordance and the test of proportional hazards of variables with an order; nothing but of times."""
        comparison = self._comparisons[0]
        model = comparison.model
        if model is None or not isinstance(model.outcome, Survival):
            return {}
        values = np.full((2, len(variables)), np.nan)
        coded = self._coded.of(comparison, np.sort(variables))
        scores = RankScores(coded.coder, None if comparison.strata is None else comparison.strata.codes)
        places = np.flatnonzero(scores.is_ordered[variables])
        if len(places):
            rows = [scores.read_normal(slice(v, v + 1))[0] for v in variables[places].tolist()]
            times = model.outcome
            found = hazard_effects(
                np.array(rows),
                times.time,
                times.event,
                design=model.design.known,
                entry=times.entry,
                strata=model.design.stratum,
                offset=model.design.offset,
                n_threads=coded.coder.n_jobs,
            )
            values[:, places] = found.concordance, found.p_proportional
        return {"concordance": values[0], "p_proportional": values[1]}


class _OneComparison:
    """Likelihood ratios of variables in the full model of one comparison, and tests of sparse tuples."""

    def __init__(self, coded: CodedComparison, *, discretization: int) -> None:
        self._coded, self._discretization = coded, discretization
        strata = coded.comparison.strata
        self._scores = RankScores(coded.coder, None if strata is None else strata.codes)

    def log_p(
        self, name: str, variable: int, members: IntArray, null_fit: NullFit | None, *, n_vars: int
    ) -> tuple[_Ratio, float]:
        """Repeat a test of a variable by the model; return the likelihood ratio, and ln p as the test has it."""
        kind = name.split()[0]
        if kind in ("rank", "given"):
            # Given others, the p-value is that of a model of all of these already.
            ratio = self._added([], [self._normal(variable)])
            return ratio, _log_tail(ratio) if kind == "rank" else -np.inf
        if kind == "spread":
            ratio = self._added([], [self._normal(variable) ** 2])
            return ratio, _log_tail(ratio)
        if kind == "product":
            own = [self._normal(v) for v in members.tolist()]
            ratio = self._added(own, [np.prod(own, axis=0)])
            return ratio, min(_log_tail(ratio) + np.log(max(n_vars - 1, 1)), 0.0)
        ratio = self.beyond_others(variable, members)
        if kind == "synergy":
            alone = self.beyond_others(variable, np.array([variable]))
            ratio = max(ratio[0] - alone[0], 0.0), max(ratio[1] - alone[1], 0)
        if null_fit is None or not ratio[1]:
            return ratio, _log_tail(ratio)
        return ratio, _log_p_by(null_fit, ratio)

    def of_sparse(self, variable: int, members: IntArray, *, n_vars: int, n_tests: int) -> float:
        """Return ln p of the tuple's own test, times all tuples and tests; −inf where no cell has few samples."""
        comparison = self._coded.comparison
        if len(members) < 2 or not has_long_tails(comparison):
            return -np.inf
        own, part, whole = (
            self._within_strata(self._coded.cells(self._discretization, some))
            for some in (members[members == variable], members[members != variable], members)
        )
        sizes = np.bincount(whole)
        if _excess(comparison) < _LONG_IN_CELL * float(sizes[sizes > 0].min()):
            return -np.inf
        strata = None if comparison.strata is None else comparison.strata.codes
        claims = claims_of(comparison.outcome, strata=strata, model=comparison.model)
        n_tuples = comb(n_vars - 1, len(members) - 1)
        # An effect of the variable alone shows in every tuple, and needs no search for the best one.
        in_tuple, alone = claims.of_levels(own, part) + float(np.log(n_tuples)), claims.of_levels(own)
        return min(min(in_tuple, alone) + float(np.log(2 * n_tests)), 0.0)

    @property
    def _model(self) -> FullModel:
        assert self._coded.comparison.model is not None
        return self._coded.comparison.model

    def beyond_others(self, variable: int, members: IntArray) -> _Ratio:
        """Compare cells of a tuple with cells of its other members, in each stratum."""
        part, cells = (
            cell_columns(self._within_strata(self._coded.cells(self._discretization, some)))
            for some in (members[members != variable], members)
        )
        return self._model.likelihood_ratio(part, cells)

    def _added(self, smaller: list[FloatArray], more: list[FloatArray]) -> _Ratio:
        none = np.empty((self._model.n_samples, 0))
        return self._model.likelihood_ratio(np.column_stack(smaller) if smaller else none, np.column_stack(more))

    def _normal(self, variable: int) -> FloatArray:
        return np.asarray(self._scores.read_normal(slice(variable, variable + 1))[0])

    def _within_strata(self, cells: IntArray) -> IntArray:
        strata = self._coded.comparison.strata
        return cells if strata is None else cells * strata.n_strata + strata.codes


def _strongest(tests: tuple[ArmPValues, ...]) -> IntArray:
    """Return the test by which each variable is relevant: the one with the smallest weighted p-value."""
    weighted = np.stack([np.where(np.isnan(test.log_p), np.inf, test.log_p - np.log(test.weight)) for test in tests])
    return np.asarray(np.argmin(weighted, axis=0))


def _log_tail(ratio: _Ratio) -> float:
    chi2, df = ratio
    return float(log_chi2_tail(np.array([chi2]), df)[0]) if df else 0.0


def _log_p_by(null_fit: NullFit, ratio: _Ratio) -> float:
    """Return ln p of a likelihood ratio by a null distribution of gains, which knows the choice of the best tuple."""
    chi2, df = ratio
    if not df:
        return 0.0
    return float(null_fit.log_p_values(np.array([chi2 / CHI2_PER_UNIT["bits"]]), df=np.array([float(df)]))[0])
