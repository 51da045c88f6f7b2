"""Tuples that a search of residuals left → their interactions in the full model, whose p-values count.

With covariates, an offset or times, the screen compares residuals, and lists more tuples than could be significant.
Each is then tested by the full model: linear, logistic, multinomial or Cox's, with and without the interaction. A tuple
that the screen left out has p = 1, so that p-values are valid whatever the screen does.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.codes.coded import CodedComparison
from interplay.interaction.tuple_samples import TupleSamples, tuple_samples
from interplay.statistics.interaction.beside_test import nested_models
from interplay.statistics.interaction.model_test import ModelTest, model_test
from interplay.statistics.interaction.tested_times import TestedTimes
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.interaction.tuple_tests import METHODS, TupleTests
from interplay.statistics.model_fit import coefficients_of
from interplay.statistics.number_interaction.tested_numbers import TestedNumbers
from interplay.study.full_model import of_samples
from interplay.study.survival import Survival

#: The screen lists p-values of residuals up to as many times the cap: more of small ones, which are far from those of
#: the full model where these are tiny. It lists these p-values, or as many tuples, in any case.
_TIMES_MORE, _TIMES_MORE_OF_SMALL, _SMALL = 3.0, 20.0, 0.01
_USUAL_P, _USUAL_TUPLES = 1e-3, 1000.0


def screen_cap(cap: float, n_tests: int) -> float:
    """Return the p-value of residuals up to which tuples are listed, where the full model's are wanted up to `cap`.

    Examples
    --------
    >>> screen_cap(1e-6, 100_000), screen_cap(1e-8, 10_000_000)
    (0.001, 0.0001)
    """
    more = max(_TIMES_MORE * cap, min(_TIMES_MORE_OF_SMALL * cap, _SMALL))
    return min(1.0, max(more, min(_USUAL_P, _USUAL_TUPLES / n_tests)))


def in_model(
    tested: TupleTests,
    coded: CodedComparison,
    *,
    max_p: float = 1.0,
    omit_missing: bool = False,
    coding: str = "levels",
    n_threads: int = 1,
) -> TestedTuples | TestedNumbers | TestedTimes:
    """Replace the tests of tuples by those of the full model of a comparison, and keep those with p ≤ `max_p`.

    `coded` has the outcome that is shown.
    """
    model = coded.comparison.model
    assert model is not None
    n_discretizations = coded.coder.discretizations
    bar = np.log(max_p / n_discretizations)
    # A missing value that is left out is no level.
    n_levels = coded.n_levels - coded.has_missing_level if omit_missing else coded.n_levels

    def test(row: int) -> ModelTest:
        members, d = tested.tuples[row], int(tested.discretization[row])
        samples = tuple_samples(coded, members, d, omit_missing=omit_missing, coding=coding)
        nothing = np.empty((len(samples.known), 0))
        models = nested_models(
            coded.comparison.outcome,
            samples.levels,
            nothing,
            known=samples.known,
            stratum=samples.stratum,
            dosages=samples.dosages,
        )
        return model_test(model, models, _product(samples, models.rows, n_levels[members]), max_log_p=bar)

    found = map_in_threads(test, range(len(tested)), n_threads)
    kept = [row for row, one in enumerate(found) if one.log_p <= bar]
    tested, found = tested.chosen(np.array(kept, dtype=np.int64)), [found[row] for row in kept]
    log_p = np.array([one.log_p for one in found]).reshape(-1) + np.log(n_discretizations)
    common: dict[str, Any] = {
        "df": np.array([one.df for one in found], dtype=np.int64),
        "log_p": np.minimum(log_p, 0.0),
        "ci_low": np.array([one.low for one in found], dtype=np.float64),
        "ci_high": np.array([one.high for one in found], dtype=np.float64),
    }
    chi2, effect = (np.array([getattr(one, name) for one in found], dtype=np.float64) for name in ("chi2", "effect"))
    is_tested = common["df"] > 0
    by_model = np.where(is_tested, METHODS.index("model"), METHODS.index("sparse"))
    if isinstance(tested, TestedTuples):
        return replace(tested, chi2=chi2, log_or=effect, method=by_model, **common)
    assert isinstance(tested, TestedNumbers)
    if isinstance(model.outcome, Survival):
        of_all = {field.name: getattr(tested, field.name) for field in fields(TupleTests)}
        alone = _alone(tested, coded, n_levels)
        return TestedTimes(**(of_all | common | {"method": by_model}), chi2=chi2, log_hr=effect, log_hr_alone=alone)
    df_residual = np.array([one.df_residual for one in found], dtype=np.int64)
    units = tested.effect / tested.effect_sd  # one number, where there is an effect
    spread = float(np.median(units[np.isfinite(units)])) if np.isfinite(units).any() else np.nan
    return replace(
        tested,
        f=np.array([one.f for one in found], dtype=np.float64),
        df_residual=df_residual,
        robust_log_p=np.minimum(
            np.array([one.robust_log_p for one in found], dtype=np.float64) + np.log(n_discretizations), 0.0
        ),
        effect=effect,
        effect_sd=effect / spread,
        **common,
    )


def _product(samples: TupleSamples, rows: IntArray, n_levels: IntArray) -> FloatArray | None:
    """Return the column of the interaction where it is one: of dosages, or of two levels each."""
    if samples.dosages is not None:
        columns = [x - x.mean() for x in samples.dosages]
    elif (n_levels == 2).all():
        columns = [levels.astype(np.float64) for levels in samples.levels]
    else:
        return None
    product = np.prod(columns, axis=0)
    return np.asarray(product[np.searchsorted(samples.known, rows)])


def _alone(tested: TupleTests, coded: CodedComparison, n_levels: IntArray) -> FloatArray:
    """Return the log hazard ratio of each member of two levels by itself, (n, k), in samples that have a level."""
    model = coded.comparison.model
    assert model is not None
    alone = np.full(tested.tuples.shape, np.nan)
    known: dict[tuple[int, int], float] = {}
    for row, members in enumerate(tested.tuples.tolist()):
        d = int(tested.discretization[row])
        for place, v in enumerate(members):
            if n_levels[v] != 2:
                continue
            if (v, d) not in known:
                levels = coded.coder.codes_of(d, np.array([v])).codes[0].astype(np.float64)
                rows = np.flatnonzero(levels < 2)
                here = model if len(rows) == model.n_samples else of_samples(model, rows)
                known[v, d] = float(coefficients_of(here, levels[rows, np.newaxis]).estimate[0])
            alone[row, place] = known[v, d]
    return alone
