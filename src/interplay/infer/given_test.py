"""Scores of samples and their classes → p-values of a difference between classes given other, strong variables.

A variable of a small effect of its own is easier to see once the effects of stronger ones are taken out of the classes.
Scores and class indicators are replaced by their residuals from a linear regression on the scores of the strong
variables, and compared by the test of `score_test`. Under chance a variable is independent of the classes and of all
other variables alike, so that it does not matter how the others are chosen. A strong variable is tested given the other
strong ones. The scores of a number outcome take the place of class indicators: a test of partial correlation.

Strong variables in a model of covariates, offset and times → p-values of other variables given these.

What `given_test` is for an outcome as it was given: the strong variables are columns of the model, whose residuals the
others are compared with. A strong variable is tested given the other strong ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.data.models.linear import independent_places
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import NothingLeft
from interplay.infer.correlation_test import fourth_moment, tail_freedom
from interplay.infer.residual_test import ResidualTarget
from interplay.infer.score_test import Moments, score_log_p

#: Upper limits of the variables that are given: in all, and per sample.
_MAX_GIVEN = 200
_GIVEN_PER_SAMPLE = 0.1

#: A variable is strong if its own p-value is below this and below 1/n_vars, which one variable reaches by chance.
_STRONG_P = 0.01

#: If others leave less than this share of a variable's variance, they determine it.
_NOTHING_LEFT = 1e-6


def choose_strong(log_p: FloatArray, n_samples: int) -> IntArray:
    """Return the numbers of the variables to be given, the strongest first.

    `log_p` (n_vars,): of each variable alone; NaN where it has no scores.

    Examples
    --------
    >>> import numpy as np
    >>> choose_strong(np.log([0.5, 1e-6, 1e-9]), n_samples=100).tolist()
    [2, 1]
    """
    order = np.argsort(log_p, kind="stable")[: int(min(_MAX_GIVEN, _GIVEN_PER_SAMPLE * n_samples))]
    limit = np.log(min(_STRONG_P, 1.0 / max(len(log_p), 1)))
    return np.asarray(order[log_p[order] < limit])


@dataclass(frozen=True, eq=False)
class GivenOthers:
    """Residuals of the classes, and of other variables, after a regression on strong variables."""

    #: (n_targets, n_samples): of the class indicators, or of the scores of a number outcome.
    residuals: FloatArray
    #: (n_strong,): strong variables that are not a sum of stronger ones.
    is_kept: BoolArray
    #: Degrees of freedom that the strong variables, and the strata, take.
    n_fitted: int
    _strata: IntArray
    _targets: FloatArray  # (n_targets, n_samples), centred within strata
    _basis: FloatArray  # (n_kept, n_samples), orthonormal
    _kept: FloatArray  # (n_kept, n_samples), centred within strata

    @classmethod
    def of(cls, strong: FloatArray, targets: FloatArray, strata: IntArray | None = None) -> Self:
        """Fit the strong variables.

        - `strong` (n_strong, n_samples): their scores, the strongest first.
        - `targets` (n_targets, n_samples): as `class_targets` gives them, or the scores of numbers.
        - `strata` (n_samples,): scores and targets are centred within strata.
        """
        codes = np.zeros(targets.shape[1], dtype=np.int64) if strata is None else strata
        centred = centred_within(strong, codes)
        is_kept = np.zeros(len(strong), dtype=bool)
        if len(strong):
            # In QR, the diagonal is the length of a column beyond the columns before it.
            left = np.abs(np.diag(np.linalg.qr(centred.T, mode="r"))) ** 2
            is_kept[: len(left)] = left > _NOTHING_LEFT * np.maximum((centred**2).sum(axis=1)[: len(left)], 1e-300)
        kept = centred[is_kept]
        basis = np.linalg.qr(kept.T)[0].T if len(kept) else np.empty((0, targets.shape[1]))
        of_classes = centred_within(targets, codes)
        n_fitted = len(kept) + int(codes.max(initial=0))
        return cls(_without(of_classes, basis), is_kept, n_fitted, codes, of_classes, basis, kept)

    def log_p(self, scores: FloatArray) -> FloatArray:
        """Return ln p of other variables, (n_vars,), from their scores, (n_vars, n_samples)."""
        centred = centred_within(scores, self._strata)
        of_basis = np.einsum("vk,vk->v", along := centred @ self._basis.T, along)
        squares = np.einsum("vs,vs->v", centred, centred)
        left = squares - of_basis
        left[left <= _NOTHING_LEFT * squares] = 0.0
        # Residuals are orthogonal to the basis, so that scores need not be projected here.
        statistic = np.where(left[:, np.newaxis] > 0, centred @ self.residuals.T, 0.0)
        return self._log_p(statistic, left, centred, self.residuals, self.n_fitted)

    def _log_p(
        self, statistic: FloatArray, left: FloatArray, centred: FloatArray, targets: FloatArray, n_fitted: int
    ) -> FloatArray:
        """Return ln p; `left` are sums of squares of the scores that others leave, `centred` the scores themselves."""
        return _moments(statistic, left, centred, targets, n_fitted).log_p()

    def log_p_of_kept(self) -> FloatArray:
        """Return ln p of the strong variables that are kept, each given the others, (n_kept,)."""
        if not len(self._kept):
            return np.empty(0)
        inverse = np.linalg.inv(self._kept @ self._kept.T)
        # Residuals of each from the others.
        own = (inverse / np.diag(inverse)[:, np.newaxis]) @ self._kept
        log_p = np.empty(len(own))
        for k, row in enumerate(own):
            # Where a variable is part of the basis, its own share is missing from the residuals of the classes.
            length = float(row @ row)
            targets = self.residuals + np.outer(self._targets @ row, row) / length
            log_p[k] = self._log_p_of_one(row, targets)
        return log_p

    def _log_p_of_one(self, row: FloatArray, targets: FloatArray) -> float:
        """Return ln p of a strong variable by its residuals from the others, (n_samples,)."""
        return float(score_log_p(row[np.newaxis], targets, n_fitted=self.n_fitted - 1)[0])


class GivenNumbers(GivenOthers):
    """The same for scores of numbers, whose tails are those of a correlation."""

    def _log_p(
        self, statistic: FloatArray, left: FloatArray, centred: FloatArray, targets: FloatArray, n_fitted: int
    ) -> FloatArray:
        n_samples = centred.shape[1]
        squares, fourths = (centred**2).sum(axis=1), (centred**4).sum(axis=1)
        of_squares, of_fourths = float((targets**2).sum()), float((targets**4).sum())
        variance = squares * of_squares / max(n_samples - 1, 1)
        fourth = fourth_moment(squares, fourths, of_squares, of_fourths, n_samples)
        kurtosis = np.where(variance > 0, fourth / np.where(variance > 0, variance, 1.0) ** 2, 3.0)
        # Each given variable takes a degree of freedom from what the kurtosis says.
        freedom = tail_freedom(kurtosis, float(max(n_samples - 2, 1)))
        freedom = np.where(np.isfinite(freedom) & (freedom > 0), np.maximum(freedom - n_fitted, 1.0), freedom)
        return replace(_moments(statistic, left, centred, targets, n_fitted), freedom=freedom).log_p()

    def _log_p_of_one(self, row: FloatArray, targets: FloatArray) -> float:
        alone, length = row[np.newaxis], np.array([float(row @ row)])
        return float(self._log_p(alone @ targets.T, length, alone, targets, self.n_fitted - 1)[0])


def _moments(
    statistic: FloatArray, left: FloatArray, centred: FloatArray, targets: FloatArray, n_fitted: int
) -> Moments:
    return Moments.none(len(statistic), len(targets)).with_stratum(
        statistic=statistic,
        squares=left,
        cubes=np.einsum("vs,vs,vs->v", centred, centred, centred),
        products=targets @ targets.T,
        target_cubes=(targets**3).sum(axis=1),
        n_samples=centred.shape[1],
        n_fitted=n_fitted,
    )


def centred_within(scores: FloatArray, strata: IntArray) -> FloatArray:
    """Return scores, (n_rows, n_samples), less their mean in each stratum."""
    n_strata = int(strata.max(initial=0)) + 1
    if n_strata == 1:
        return np.asarray(scores - scores.mean(axis=1, keepdims=True))
    centred = scores.copy()
    for stratum in range(n_strata):
        inside = np.flatnonzero(strata == stratum)
        centred[:, inside] -= scores[:, inside].mean(axis=1, keepdims=True)
    return centred


def _without(rows: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the residuals of the rows after projection on the basis."""
    return np.asarray(rows - (rows @ basis.T) @ basis)


#: From this kurtosis on, few samples carry a variable (a flag of one sample in ten has 8), and standard errors are not
#: to be trusted; nor are they worth it for p-values above this.
_FEW_CARRIERS, _MAX_P = 6.0, 0.05


@dataclass(frozen=True, eq=False)
class GivenInModel:
    """Residuals of a model with strong variables."""

    residuals: FloatArray  #: (1, n_samples)
    #: (n_strong,): strong variables that are not a sum of stronger ones and of covariates; without the last of them
    #: where they determine the outcome.
    is_kept: BoolArray
    #: Columns of the model beyond its constant.
    n_fitted: int
    _target: ResidualTarget
    _model: FullModel
    _kept: FloatArray  # (n_kept, n_samples)

    @classmethod
    def of(cls, strong: FloatArray, model: FullModel) -> GivenInModel:
        """Fit the model with strong variables; `strong` are their scores, (n_strong, n_samples)."""
        columns = model.columns()
        places = independent_places(np.hstack([columns, strong.T]))
        is_kept = np.zeros(len(strong), dtype=bool)
        is_kept[places[places >= columns.shape[1]] - columns.shape[1]] = True
        while True:
            kept = strong[is_kept]
            try:
                target = ResidualTarget.of(model.residuals(kept.T))
            except NothingLeft:  # these variables determine the outcome: fewer of them do not
                if not is_kept.any():
                    raise
                is_kept[np.flatnonzero(is_kept)[-1]] = False
            else:
                return cls(target.residuals[np.newaxis], is_kept, target.n_fitted, target, model, kept)

    def log_p(self, scores: FloatArray) -> FloatArray:
        """Return ln p of other variables, (n_vars,), from their scores, (n_vars, n_samples)."""
        return self._target.log_p(scores)

    def log_p_of_kept(self) -> FloatArray:
        """Return ln p of the strong variables that are kept, each given the others, (n_kept,).

        Those of coefficients, by their standard errors; of variables that few samples carry, by their scores in the
        model of the others.
        """
        log_p = self._model.coefficient_log_p(self._kept.T)
        centred = self._kept - self._kept.mean(axis=1, keepdims=True)
        few = (centred**4).mean(axis=1) > _FEW_CARRIERS * (centred**2).mean(axis=1) ** 2
        for k in np.flatnonzero(few & (log_p < np.log(_MAX_P))).tolist():
            others = ResidualTarget.of(self._model.residuals(np.delete(self._kept, k, axis=0).T))
            log_p[k] = others.log_p(self._kept[k : k + 1])[0]
        return log_p
