"""Scores of the members of a tuple → the test of their product beside smooth effects of the members, not cut.

Members that are numbers have ranks, splines of normal scores and their values; members of few values have these values,
and an effect of each level. The larger model adds one column, the product of the centred scores. Of more than two
members both models have products of all proper subsets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.ranks import mid_ranks
from interplay.base.tails import log_chi2_tail, log_f_tail
from interplay.data.models.linear import cell_columns, spline_columns
from interplay.data.study.full_model import FullModel
from interplay.infer.interaction.beside_test import (
    NestedModels,
    TupleSamples,
    cells_of,
    covariate_products,
    models_of,
)
from interplay.infer.interaction.model_test import ModelTest, model_test
from interplay.infer.smooth_columns import smooth_columns

#: Splines have as many columns as leave the model this number of samples (of the rarest class, events, or all of
#: numbers) for each of its columns; with fewer than the second number nothing is tested.
_SAMPLES_PER_COLUMN, _FEWEST_PER_COLUMN = 8, 5

#: Numbers that are uniform between −½ and ½ have a standard deviation of one by this.
_UNIFORM_SCALE = math.sqrt(12)

#: Columns of the spline of a member, beside its values.
_SPLINE_COLUMNS = 4


class Member(NamedTuple):
    """A variable as a product has it.

    Attributes
    ----------
    score : (n_samples,) float64
        Ranks of a number that is not cut, with mean 0 and standard deviation 1; values of a number with few values;
        levels of two labels; 0 where missing.
    main : (n_samples, n_columns) float64, or None
        The smooth effect of a number; None of a variable of few values, whose levels have effects of their own.
    """

    score: FloatArray
    main: FloatArray | None

    @classmethod
    def of_number(cls, values: FloatArray, n_columns: int) -> Member:
        """Return a number that is not cut: splines of its normal scores, with more than one column also its values.

        Products of normal scores are large in few samples: of three members, one sample of 500 may have a leverage of
        0.4. Products of ranks are bounded, lose 1 point of power where the effect is a product of normal scores, and
        win 10 to 30 where it is a step, a slope from a threshold on or the larger of two.
        """
        from scipy.special import ndtri

        is_known = ~np.isnan(values)
        share = np.full(len(values), np.nan)
        share[is_known] = (mid_ranks(values[is_known]) - 0.5) / max(int(is_known.sum()), 1)
        main = np.hstack([spline_columns(ndtri(share), n_columns), spline_columns(values, 1)[:, : n_columns - 1]])
        return cls(np.nan_to_num(_UNIFORM_SCALE * (share - 0.5), nan=0.0), main)

    def of_samples(self, rows: IntArray) -> Member:
        """Return the member in some samples."""
        return Member(self.score[rows], None if self.main is None else self.main[rows])


def n_spline_columns(n_informative: int, dimensions: int) -> int:
    """Return how many columns the spline of a member has.

    Examples
    --------
    >>> n_spline_columns(300, 2), n_spline_columns(70, 2), n_spline_columns(45, 2)
    (4, 2, 1)
    """
    for n_columns in range(_SPLINE_COLUMNS, 1, -1):
        of_model = 2 + dimensions * (n_columns + 1)  # a constant, the product, and values beside splines
        if n_informative >= _SAMPLES_PER_COLUMN * of_model:
            return n_columns
    return 1


def product_models(
    members: Sequence[Member], samples: TupleSamples, model: FullModel | None = None
) -> tuple[NestedModels, FloatArray]:
    """Return models with and without the product of the members, and the product.

    Effects of proper subsets may differ between strata, that of the product is one.

    Parameters
    ----------
    members : sequence of Member
        In these samples.
    samples : TupleSamples
        Levels of numbers that are not cut are not used.
    model : FullModel, optional
        With covariates, whose products with members are in both models as well.
    """
    constant = np.ones((len(samples.known), 1))
    if not len(samples.known):  # no sample has values of all members: no test
        return models_of(constant, constant, samples.known), constant[:, 0]
    product = np.prod([one.score - one.score.mean() for one in members], axis=0)
    smaller = np.hstack([constant, main_effects(members, samples)])
    if model is not None:
        scored = samples._replace(dosages=[one.score for one in members])
        smaller = np.hstack([smaller, covariate_products(model, scored, smaller.shape[1])])
    return models_of(smaller, product[:, np.newaxis], samples.known), product


def main_effects(members: Sequence[Member], samples: TupleSamples) -> FloatArray:
    """Return the columns of the effects of proper subsets; arguments as in `product_models`."""
    levels, stratum = samples.levels, samples.stratum
    parts = [smooth_columns([one.main for one in members], levels, stratum)]
    few = [place for place, one in enumerate(members) if one.main is None]
    for some in combinations(few, min(len(few), len(members) - 1)):
        parts.append(cell_columns(cells_of(levels[list(some)], stratum)))
    return np.hstack(parts)


def product_log_p(models: NestedModels, responses: FloatArray) -> float:
    """Return ln p of the product in a linear model of responses, (n_samples, n), with the design's columns left out."""
    if not models.df:
        return 0.0
    basis = np.linalg.qr(models.columns)[0]
    values = responses[models.rows]
    left = values - basis[:, :-1] @ (basis[:, :-1].T @ values)
    basis_of_values = np.linalg.qr(left)[0]
    share = float(((basis[:, -1] @ basis_of_values) ** 2).sum())
    n_free = len(values) - models.columns.shape[1]
    return float(log_chi2_tail(n_free * share / max(1 - share, 1e-12), values.shape[1]))


def product_test(
    model: FullModel,
    models: NestedModels,
    product: FloatArray,
    *,
    max_log_p: float = 0.0,
    groups: IntArray | None = None,
) -> ModelTest:
    """Test the product by the full model; p = 1 where samples are too few for the columns of the models.

    A likelihood ratio is compared with F at as many degrees of freedom as there are samples, or events, beyond columns:
    by χ² 4 of 40 tables of 60 samples in two classes had a false pair.
    """
    if not models.df:
        return ModelTest(0.0, 0, 0.0)
    n_columns = model.columns().shape[1] + models.columns.shape[1]
    part = model if len(models.rows) == model.n_samples else model.of_samples(models.rows)
    if part.outcome.n_informative < _FEWEST_PER_COLUMN * n_columns:
        return ModelTest(0.0, 0, 0.0)
    found = model_test(model, models, product, max_log_p=max_log_p, groups=groups)
    if found.df_residual or not found.df:
        return found
    n_free = max(model.outcome.n_counted(models.rows) - n_columns, 1)
    return found._replace(log_p=max(found.log_p, float(log_f_tail(found.chi2 / found.df, found.df, n_free))))


def on_other_scale(model: FullModel, models: NestedModels) -> float | None:
    """Return ln p of the product on the other scale of the outcome; None where it has no other."""
    columns = np.hstack([model.columns()[models.rows], models.columns])
    nested = models_of(columns[:, :-1], columns[:, -1:], models.rows)
    found = model.outcome.ratio_on_other_scale(nested.columns, nested.n_smaller, nested.rows, model.design.offset)
    if found is None:
        return None
    return float(log_chi2_tail(*found)) if found[1] else 0.0
