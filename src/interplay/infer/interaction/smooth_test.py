"""One tuple with cut numbers → is it an interaction beside smooth effects of the numbers themselves?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.tails import chi2_of_log_tail
from interplay.data.study.design import Design
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.outcomes.targets import Target
from interplay.infer.interaction.beside_test import TupleSamples, covariate_products, nested_models
from interplay.infer.interaction.interaction_test import chi2_log_tail
from interplay.infer.smooth_columns import smooth_columns

#: The level on the other scale, as a share of the significance level. With 1, additive effects that one scale bends are
#: called an interaction in 3.3 % of tables, beside the errors that the search makes elsewhere.
OTHER_SCALE_SHARE = 0.1


def smooth_test(
    outcome: Target,
    samples: TupleSamples,
    splines: Sequence[FloatArray | None],
    *,
    model: FullModel | None = None,
    more: FloatArray | None = None,
    robust_in: Design | None = None,
) -> tuple[tuple[float, int], tuple[float, int] | None]:
    """Test the interaction of levels beside smooth effects of the members that are cut numbers.

    - `splines`, sequence of (n_known, n_columns): of each member, as `spline_columns` makes them; None for members that
      were not cut.
    - `outcome`, `samples`: as in `nested_models`.
    - `model`: with covariates, an offset or times, of all samples: its columns are in both models.
    - `more` (n_known, n_columns): effects of other columns of the table, in both models as well.
    - `robust_in`: for numbers: take the test with robust variances where its p-value is larger; the design of all
      samples.

    Returns
    -------
    (chi2, df) : (float, int)
        Of the classes, or of the scores of numbers.
    on_other_scale : (float, int) or None
        The same of the values of numbers, where scores are those of ranks, and of probits of two classes; None where
        the user has chosen the scale, and for more classes.
    """
    columns = smooth_columns(splines, samples.levels, samples.stratum)
    if more is not None:
        columns = np.hstack([columns, more])
    if model is not None:
        products = covariate_products(model, samples, columns.shape[1])
        columns = np.hstack([columns, model.columns()[samples.known], products])
    models = nested_models(outcome, samples, columns)
    smaller, larger = models.columns[:, : models.n_smaller], models.columns[:, models.n_smaller :]
    if model is not None:
        found = model.likelihood_ratio(smaller, larger, models.rows) if len(models.rows) else (0.0, 0)
        modelled, offset = model.outcome, model.design.offset
    else:
        modelled, offset = cast("Outcome", outcome), None  # without a model it is a target itself
        found = modelled.nested_ratio(models.columns, models.n_smaller, models.rows)
    if robust_in is not None and found[1]:
        second = modelled.second_test(robust_in, smaller, larger, models.rows, None).robust_log_p
        if np.isfinite(second):
            found = min(found[0], float(chi2_of_log_tail(second, found[1]))), found[1]
    return found, modelled.ratio_on_other_scale(models.columns, models.n_smaller, models.rows, offset)


def smooth_log_p(p_values: FloatArray, on_other_scale: Sequence[tuple[float, int] | None], level: float) -> FloatArray:
    """Return logarithms of p-values beside smooth effects, (n,), from those of one scale and tests on the other.

    Ranks bend a sum of effects, and log odds bend a sum of probits. So an interaction must show on the other scale as
    well: p < `level` / 10, not adjusted. Where it does not, the p-value is the larger one of both scales.
    """
    others = [(np.inf, 1) if other is None else other for other in on_other_scale]
    p_other = np.exp(chi2_log_tail(np.array([chi2 for chi2, _ in others]), np.array([df for _, df in others])))
    p = np.where(p_other >= OTHER_SCALE_SHARE * level, np.maximum(p_values, p_other), p_values)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(np.isnan(p), 1.0, p)))
