"""Tuples, sample by sample → tests by the full model, which take the place of tests without covariates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.targets import Target
from interplay.infer.interaction.beside_test import (
    ModelTest,
    TupleSamples,
    covariate_products,
    model_test,
    nested_models,
)
from interplay.infer.interaction.product_test import SecondTest
from interplay.infer.interaction.tuple_tests import METHODS, SPARSE, TupleTests


def tuple_in_model(
    model: FullModel,
    outcome: Target,
    samples: TupleSamples,
    n_levels: IntArray,
    *,
    max_log_p: float = 0.0,
    groups: IntArray | None = None,
) -> ModelTest:
    """Test the interaction of one tuple by the full model; effects are left out where ln p is above `max_log_p`.

    Without products of covariates with members and beside them: the test with the larger p-value counts.

    Parameters
    ----------
    model : FullModel
        Of all samples.
    outcome : ClassTarget or ScoreTarget
        Of all samples, as it is shown.
    n_levels : (k,) int64
        Of the members.
    groups : (n_samples,) int64, optional
        Of times: samples that belong together, for robust variances and intervals.
    """

    def beside(columns: FloatArray) -> ModelTest:
        models = nested_models(outcome, samples, columns)
        product = _product(samples, models.rows, n_levels)
        return model_test(model, models, product, max_log_p=max_log_p, groups=groups)

    without = beside(np.empty((len(samples.known), 0)))
    if not without.df or without.log_p > max_log_p:  # as most tuples of a search
        return without
    products = covariate_products(model, samples, 0)
    return max(without, beside(products), key=lambda one: one.log_p) if products.shape[1] else without


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


def with_model_tests(
    tested: TupleTests,
    found: Sequence[ModelTest],
    model: FullModel,
    outcome: Target,
    alone: Callable[[TupleTests], FloatArray],
    *,
    n_discretizations: int = 1,
) -> TupleTests:
    """Put tests by the full model in the place of tests without covariates.

    Parameters
    ----------
    tested : TupleTests
        Tests of residuals or of the outcome as it is shown.
    found : sequence of ModelTest
        One for each tuple.
    alone : callable
        Returns the effects of members by themselves, (n, k); called where residuals are searched in any case.
    n_discretizations : int
        p-values are multiplied by it.
    """
    log_p = np.array([one.log_p for one in found]).reshape(-1) + np.log(n_discretizations)
    chi2, effect, f = (
        np.array([getattr(one, name) for one in found], dtype=np.float64) for name in ("chi2", "effect", "f")
    )
    df = np.array([one.df for one in found], dtype=np.int64)
    common: dict[str, Any] = {
        "df": df,
        "log_p": np.minimum(log_p, 0.0),
        "statistic": chi2,
        "estimate": effect,
        "ci_low": np.array([one.low for one in found], dtype=np.float64),
        "ci_high": np.array([one.high for one in found], dtype=np.float64),
        "method": np.where(df > 0, METHODS.index("model"), METHODS.index("sparse")),
    }
    robust_log_p = np.array([one.robust_log_p for one in found], dtype=np.float64) + np.log(n_discretizations)
    unknown = np.full(len(tested), np.nan)
    robust = {"robust_log_p": np.minimum(robust_log_p, 0.0), "robust_adjusted": unknown}
    if tested.words.counts_classes:
        # Excess risks of counts are not those given covariates.
        return replace(tested, **common, reri=unknown, reri_low=unknown, reri_high=unknown)
    if model.outcome.words is not tested.words:
        # Differences of mean scores are no effects in the model.
        none = {"cell_effect": unknown, "cell_low": unknown, "cell_high": unknown}
        kind = model.outcome.words.kind
        return tested.of_other_kind(kind, **common, **robust, **none, estimate_alone=alone(tested))
    of_f = {"statistic": f, "method": tested.method, "estimate_sd": outcome.in_sd(effect)}
    df_residual = np.array([one.df_residual for one in found], dtype=np.int64)
    return replace(tested, **common | robust | of_f, df_residual=df_residual)


def with_product_tests(
    of_levels: TupleTests, found: Sequence[ModelTest], model: FullModel, outcome: Target, way: IntArray
) -> TupleTests:
    """Put tests of products by the full model in the place of tests of the levels of the same tuples.

    Samples and gains stay those of levels; what describes single cells is left out.
    """
    unknown = np.full(of_levels.tuples.shape, np.nan)
    tests = with_model_tests(of_levels, found, model, outcome, lambda _: unknown)
    how = "model" if tests.df_residual is None else "f"
    left_out = ["residual", "cell_effect", "cell_low", "cell_high", *["other_log_p"] * (tests.other_log_p is not None)]
    nothing: dict[str, Any] = dict.fromkeys(left_out, unknown[:, 0])
    return tests.with_fields(
        **nothing,
        method=np.where(tests.df > 0, METHODS.index(how), METHODS.index(SPARSE)),
        residual_cell=np.full(unknown.shape, -1),
        estimate_alone=unknown,
        way=way,
    )


def with_second_tests(tests: TupleTests, rows: IntArray, found: Sequence[SecondTest]) -> TupleTests:
    """Put tests of products beside flexible effects into some rows."""
    smooth_log_p = tests.smooth_log_p.copy()
    smooth_log_p[rows] = [one.log_p for one in found]
    if tests.other_log_p is None:
        return tests.with_fields(smooth_log_p=smooth_log_p)
    other_log_p = tests.other_log_p.copy()
    other_log_p[rows] = [one.other_log_p for one in found]
    return tests.with_fields(smooth_log_p=smooth_log_p, other_log_p=other_log_p)


def effects_alone(
    tested: TupleTests, model: FullModel, n_levels: Callable[[int], int], levels_of: Callable[[int, int], IntArray]
) -> FloatArray:
    """Return the effect of each member of two levels by itself in the model, (n, k), in samples that have a level.

    Parameters
    ----------
    n_levels : callable
        Returns the number of levels of a variable.
    levels_of : callable
        Returns the levels of a variable in a discretisation, (n_samples,); others than 0 and 1 are none.
    """
    alone = np.full(tested.tuples.shape, np.nan)
    known: dict[tuple[int, int], float] = {}
    for row, members in enumerate(tested.tuples.tolist()):
        d = int(tested.discretization[row])
        for place, v in enumerate(members):
            if n_levels(v) != 2:
                continue
            if (v, d) not in known:
                levels = levels_of(v, d)
                rows = np.flatnonzero((levels >= 0) & (levels < 2))
                here = model if len(rows) == model.n_samples else model.of_samples(rows)
                column = levels[rows, np.newaxis].astype(np.float64)
                known[v, d] = float(here.coefficients(column).estimate[0])
            alone[row, place] = known[v, d]
    return alone
