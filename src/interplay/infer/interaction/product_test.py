"""Scores of the members of a tuple → the test of their product or shape, beside smooth effects of the members.

Members that are numbers are not cut: they have ranks, and as smooth effects splines of normal scores. Members of few
values have these values, and an effect of each level. The larger model adds one column, the product of the centred
scores z; for the shape of a pair also q_i·z_j and z_i·q_j, q the absolute normal score. These find an effect that
bends, or is largest in the middle or at both ends. Of more than two members both models have products of all proper
subsets.

A significant product is tested again beside flexible effects (longer splines, squares, cubes and the values
themselves), on both scales of the outcome: effects that add up bend in the tails, or on the other scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, mid_ranks
from interplay.base.tails import log_chi2_tail, log_f_tail
from interplay.data.models.linear import cell_columns, spline_columns
from interplay.data.study.full_model import FullModel
from interplay.infer.interaction.beside_test import (
    ModelTest,
    NestedModels,
    TupleSamples,
    cells_of,
    covariate_products,
    model_test,
    models_of,
)
from interplay.infer.smooth_columns import smooth_columns

#: Splines have as many columns as leave the model this number of samples (of the rarest class, events, or all of
#: numbers) for each of its columns; with fewer than the second number nothing is tested.
_SAMPLES_PER_COLUMN, _FEWEST_PER_COLUMN = 8, 5

#: Numbers that are uniform between −½ and ½ have a standard deviation of one by this.
_UNIFORM_SCALE = math.sqrt(12)


class Freedom(NamedTuple):
    """How many columns the effect of a member has.

    Attributes
    ----------
    spline : int
        Of the spline.
    is_flexible : bool
        Whether flexible effects have longer splines, squares and cubes; else they have the values alone beside.
    """

    spline: int
    is_flexible: bool

    @classmethod
    def of(cls, n_informative: int, dimensions: int) -> Freedom:
        """Return what these samples (of the rarest class, events, or all of numbers) allow for.

        Examples
        --------
        >>> Freedom.of(300, 2), Freedom.of(50, 2)
        (Freedom(spline=3, is_flexible=True), Freedom(spline=2, is_flexible=False))
        """

        def is_enough(n_columns: int) -> bool:
            return n_informative >= _SAMPLES_PER_COLUMN * (2 + dimensions * n_columns)

        longest = next((n for n in range(_SPLINE_COLUMNS, 1, -1) if is_enough(n)), 1)
        return cls(longest, is_enough(_FLEXIBLE_COLUMNS))


#: Columns of the spline of a member, and of its flexible effect.
_SPLINE_COLUMNS, _FLEXIBLE_COLUMNS = 3, 7


class Member(NamedTuple):
    """A variable as a product has it.

    Attributes
    ----------
    score : (n_samples,) float64
        Ranks of a number that is not cut, with mean 0 and standard deviation 1; values of a number with few values;
        levels of two labels; 0 where missing.
    main, flexible : (n_samples, n_columns) float64, or None
        The smooth effect of a number; None of a variable of few values, whose levels have effects of their own.
    bend : (n_samples,) float64, or None
        The absolute normal score of a number, with mean 0; 0 where missing.
    """

    score: FloatArray
    main: FloatArray | None
    flexible: FloatArray | None = None
    bend: FloatArray | None = None

    @classmethod
    def of_number(cls, values: FloatArray, freedom: Freedom, *, is_flexible: bool = True) -> Member:
        """Return a number that is not cut, with its flexible effect if that is needed.

        Products of normal scores are large in few samples: of three members, one sample of 500 may have a leverage of
        0.4. Products of ranks are bounded, lose 1 point of power where the effect is a product of normal scores, and
        win 10 to 30 where it is a step, a slope from a threshold on or the larger of two. Of the squares of normal
        scores, of ranks and of what lies between, absolute normal scores are nearest to the best in all of these.
        """
        from scipy.special import ndtri

        is_known = ~np.isnan(values)
        share = np.full(len(values), np.nan)
        share[is_known] = (mid_ranks(values[is_known]) - 0.5) / max(int(is_known.sum()), 1)
        z = ndtri(share)
        main, bend = spline_columns(z, freedom.spline), _centred(np.abs(z))
        if not is_flexible:
            return cls(_centred(_UNIFORM_SCALE * share), main, None, bend)
        flexible = [spline_columns(z, 4 if freedom.is_flexible else freedom.spline), spline_columns(values, 1)]
        if freedom.is_flexible:
            flexible += [_centred(power)[:, np.newaxis] for power in (z**2, z**3)]
        return cls(_centred(_UNIFORM_SCALE * share), main, np.hstack(flexible), bend)

    def of_samples(self, rows: IntArray) -> Member:
        """Return the member in some samples."""
        return Member(self.score[rows], *(None if one is None else one[rows] for one in self[1:]))


def _centred(values: FloatArray) -> FloatArray:
    """Return values less their mean; 0 where missing."""
    is_known = ~np.isnan(values)
    return np.where(is_known, values - values[is_known].sum() / max(int(is_known.sum()), 1), 0.0)


def product_models(
    members: Sequence[Member],
    samples: TupleSamples,
    model: FullModel | None = None,
    *,
    is_shape: bool = False,
    is_flexible: bool = False,
    more: FloatArray | None = None,
) -> tuple[NestedModels, FloatArray]:
    """Return models with and without the product of the members, or the shape of a pair, and the product.

    Effects of proper subsets may differ between strata, that of the product is one.

    Parameters
    ----------
    members : sequence of Member
        In these samples.
    samples : TupleSamples
        Levels of numbers that are not cut are not used.
    model : FullModel, optional
        With covariates, whose products with members are in both models as well.
    more : (n_known, n_columns) float64, optional
        Effects of other columns of the table, in both models.
    """
    constant = np.ones((len(samples.known), 1))
    if not len(samples.known):  # no sample has values of all members: no test
        return models_of(constant, constant, samples.known), constant[:, 0]
    columns = product_columns(members, is_shape=is_shape)
    smaller = np.hstack(
        [constant, main_effects(members, samples, is_flexible=is_flexible), *([] if more is None else [more])]
    )
    if model is not None:
        scored = samples._replace(dosages=[one.score for one in members])
        smaller = np.hstack([smaller, covariate_products(model, scored, smaller.shape[1])])
    return models_of(smaller, columns, samples.known), columns[:, 0]


def product_columns(members: Sequence[Member], *, is_shape: bool) -> FloatArray:
    """Return the product of the members, and of a shape the columns with a bend, (n_samples, n)."""
    lines = [one.score - one.score.mean() for one in members]
    columns = [np.prod(lines, axis=0)]
    if is_shape:
        (a, b), (p, q) = lines, (None if one.bend is None else one.bend - one.bend.mean() for one in members)
        columns += [bend * line for bend, line in ((p, b), (q, a)) if bend is not None]
    return np.column_stack(columns)


def main_effects(members: Sequence[Member], samples: TupleSamples, *, is_flexible: bool = False) -> FloatArray:
    """Return the columns of the effects of proper subsets; arguments as in `product_models`."""
    levels, stratum = samples.levels, samples.stratum
    parts = [smooth_columns([one.flexible if is_flexible else one.main for one in members], levels, stratum)]
    few = [place for place, one in enumerate(members) if one.main is None]
    for some in combinations(few, min(len(few), len(members) - 1)):
        parts.append(cell_columns(cells_of(levels[list(some)], stratum)))
    return np.hstack(parts)


def product_log_p(models: NestedModels, responses: FloatArray) -> float:
    """Return ln p of the product in a linear model of responses, (n_samples, n), with the design's columns left out."""
    if not models.df:
        return 0.0
    basis = np.linalg.qr(models.columns)[0]
    smaller, more = basis[:, : models.n_smaller], basis[:, models.n_smaller :]
    values = responses[models.rows]
    basis_of_values = np.linalg.qr(values - smaller @ (smaller.T @ values))[0]
    # Pillai's trace
    share = float(((more.T @ basis_of_values) ** 2).sum())
    n_free = len(values) - models.columns.shape[1]
    return float(log_chi2_tail(n_free * share / max(1 - share, 1e-12), models.df * values.shape[1]))


def product_test(
    model: FullModel,
    models: NestedModels,
    product: FloatArray | None,
    *,
    max_log_p: float = 0.0,
    groups: IntArray | None = None,
) -> ModelTest:
    """Test the product, or the shape, by the full model; p = 1 where samples are too few for the columns of the models.

    A likelihood ratio is compared with F at as many degrees of freedom as there are samples, or events, beyond columns:
    by χ² 4 of 40 tables of 60 samples in two classes had a false pair.
    """
    if not models.df:
        return ModelTest(0.0, 0, 0.0)
    n_columns = model.columns().shape[1] + models.columns.shape[1]
    part = model if len(models.rows) == model.n_samples else model.of_samples(models.rows)
    if part.outcome.n_informative < fewest_samples(n_columns):
        return ModelTest(0.0, 0, 0.0)
    found = model_test(model, models, product if models.df == 1 else None, max_log_p=max_log_p, groups=groups)
    if found.df_residual or not found.df:
        return found
    n_free = max(model.outcome.n_counted(models.rows) - n_columns, 1)
    return found._replace(log_p=max(found.log_p, float(log_f_tail(found.chi2 / found.df, found.df, n_free))))


def fewest_samples(n_columns: Any) -> Any:
    """Return the samples (of the rarest class, events, or all of numbers) that models of so many columns need."""
    return _FEWEST_PER_COLUMN * n_columns


class SecondTest(NamedTuple):
    """A product beside flexible effects of its members.

    Attributes
    ----------
    log_p : float
        The larger one of both scales of the outcome.
    other_log_p : float
        On the other scale; NaN where there is none.
    """

    log_p: float
    other_log_p: float


def second_test(model: FullModel, models: NestedModels, groups: IntArray | None = None) -> SecondTest:
    """Test a product, or a shape, on both scales of the outcome; models are those of flexible effects."""
    first = product_test(model, models, None, groups=groups)
    columns = np.hstack([model.columns()[models.rows], models.columns])
    nested = models_of(
        columns[:, : columns.shape[1] - models.df], columns[:, columns.shape[1] - models.df :], models.rows
    )
    found = model.outcome.ratio_on_other_scale(nested.columns, nested.n_smaller, nested.rows, model.design.offset)
    if found is None:
        return SecondTest(first.log_p, np.nan)
    other = float(log_chi2_tail(*found)) if found[1] else 0.0
    return SecondTest(max(first.log_p, other), other)
