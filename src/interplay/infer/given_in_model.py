"""Strong variables in a model of covariates, offset and times → p-values of other variables given these.

What `given_test` is for an outcome as it was given: the strong variables are columns of the model, whose residuals the
others are compared with. A strong variable is tested given the other strong ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray
from interplay.data.models.linear import independent_places
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import NothingLeft
from interplay.infer.residual_test import ResidualTarget

#: From this kurtosis on, few samples carry a variable (a flag of one sample in ten has 8), and standard errors are not
#: to be trusted; nor are they worth it for p-values above this.
_FEW_CARRIERS, _MAX_P = 6.0, 0.05


@dataclass(frozen=True, eq=False)
class GivenInModel:
    """Residuals of a model with strong variables.

    Attributes
    ----------
    residuals : (1, n_samples) float64
    is_kept : (n_strong,) bool
        Strong variables that are not a sum of stronger ones and of covariates; without the last of them where they
        determine the outcome.
    n_fitted : int
        Columns of the model beyond its constant.
    """

    residuals: FloatArray
    is_kept: BoolArray
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
