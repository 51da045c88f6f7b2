"""An outcome with covariates, an offset or times → the model of these, and its residuals, which are searched.

The search compares residuals, as it compares an outcome of numbers, on every engine. What it finds is tested by the
full model: covariates, offset, and the variable or the interaction beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, in_unit
from interplay.models.classes import fit_classes
from interplay.models.cox import martingale_residuals
from interplay.models.linear import fit_linear, independent_columns
from interplay.study.outcomes.classes import DecisionClasses
from interplay.study.outcomes.numbers import NumberOutcome, ResidualModel, number_outcome
from interplay.study.outcomes.times import Survival
from interplay.study.strata import Strata

#: Residuals with less than this share of the variance of the outcome leave nothing to search.
_NOTHING_LEFT = 1e-6

#: The same of values whose ranks are compared: a few outliers may have nearly all of the variance.
_NO_VALUES_LEFT = 1e-12

#: Names of the models, by kind, as sentences have them.
MODEL_NAMES = {"linear": "linear", "logistic": "logistic", "cox": "Cox"}


@dataclass(frozen=True, eq=False)
class FullModel:
    """Outcome, covariates and offset of the samples of a comparison: the data of the models that have the last word.

    Attributes
    ----------
    outcome : DecisionClasses, NumberOutcome or Survival
        As it is modelled: an offset of numbers is subtracted already.
    design : (n_samples, n_columns) float64
        Covariates, without a constant; there may be none.
    offset : (n_samples,) float64, optional
        Known log odds of the second class, or log hazards.
    strata : Strata, optional
        Each has a constant, or a baseline hazard, of its own.
    """

    outcome: DecisionClasses | NumberOutcome | Survival
    design: FloatArray
    offset: FloatArray | None = None
    strata: Strata | None = None

    @property
    def kind(self) -> str:
        """The model: "linear", "logistic" (multinomial for several classes) or "cox"."""
        if isinstance(self.outcome, Survival):
            return "cox"
        return "linear" if isinstance(self.outcome, NumberOutcome) else "logistic"

    @property
    def n_samples(self) -> int:
        return len(self.design)

    def columns(self, more: FloatArray | None = None) -> FloatArray:
        """Return the columns of the model: a constant for each stratum, covariates, and some more."""
        return self._columns if more is None else independent_columns(np.hstack([self._columns, more]))

    @cached_property
    def _columns(self) -> FloatArray:
        codes = np.zeros(self.n_samples, dtype=np.int64) if self.strata is None else self.strata.codes
        constants = np.asarray(codes[:, np.newaxis] == np.arange(int(codes.max(initial=0)) + 1), dtype=np.float64)
        return independent_columns(np.hstack([constants, self.design]))

    def residuals(self, more: FloatArray | None = None) -> NumberOutcome:
        """Return the residuals of the model, with some more columns, (n_samples, n), if given, as an outcome."""
        try:
            return self._residuals(more)
        except NothingLeft as error:
            if more is None:
                raise ValueError(str(error)) from None
            raise

    def _residuals(self, more: FloatArray | None) -> NumberOutcome:
        columns = self.columns(more)
        outcome = self.outcome
        if isinstance(outcome, NumberOutcome):
            left = fit_linear(outcome.scores, columns).residuals
            _check_left(left, outcome.scores)
            if more is None and outcome.scale == "ranks":
                # Ranks of a sum of covariates are no such sum.
                values, _ = in_unit(outcome.values)
                _check_left(fit_linear(values, columns).residuals, values, share=_NO_VALUES_LEFT)
            found = number_outcome(left, self.strata, scale=outcome.scale)
            n = len(left)
            model = ResidualModel("linear", columns, np.ones(n), np.zeros(n))
            return NumberOutcome(left, found.scores, outcome.scale, model)
        if isinstance(outcome, Survival):
            return self._of_times(outcome, columns)
        assert outcome.n_classes == 2  # several classes are compared one by one
        p = fit_classes(outcome.codes, columns, 2, offset=self.offset).probabilities[:, 1]
        left = outcome.codes - p
        _check_left(left, outcome.codes.astype(np.float64))
        variances = p * (1 - p)
        return _standardised("logistic", left, columns, variances, variances * (1 - 2 * p))

    def _of_times(self, survival: Survival, columns: FloatArray) -> NumberOutcome:
        strata = None if self.strata is None else self.strata.codes
        n_constants = 1 if strata is None else int(strata.max()) + 1
        left = martingale_residuals(
            survival.time,
            survival.event,
            columns=columns[:, n_constants:],  # hazards have no constant
            entry=survival.entry,
            strata=strata,
            offset=self.offset,
        )
        # Events of a sample are Poisson, given the hazard: expected events are their variance and third moment.
        expected = survival.event - left
        _check_left(left, survival.event.astype(np.float64))
        return _standardised("cox", left, columns, expected, expected)


def null_residuals(survival: Survival, strata: Strata | None) -> NumberOutcome:
    """Return the residuals of times in a model without covariates, as an outcome."""
    return FullModel(survival, np.empty((len(survival.time), 0)), None, strata).residuals()


def _standardised(
    kind: str, left: FloatArray, columns: FloatArray, variances: FloatArray, thirds: FloatArray
) -> NumberOutcome:
    """Return residuals as an outcome by values, with moments in units of its scores."""
    spread = float(left.std())
    model = ResidualModel(kind, columns, variances / spread**2, thirds / spread**3)
    return NumberOutcome(left, np.asarray((left - left.mean()) / spread), "values", model)


class NothingLeft(ValueError):
    """More columns of a model determine the outcome; the model without them does not."""


def _check_left(left: FloatArray, outcome: FloatArray, *, share: float = _NOTHING_LEFT) -> None:
    if float(left.var()) <= share * float(outcome.var()):
        raise NothingLeft(
            "covariates determine y: with them in a model nothing is left for the variables to explain; leave out the "
            "covariate that is the outcome itself, or a consequence of it"
        )


def of_samples(model: FullModel, rows: IntArray) -> FullModel:
    """Return the model of some samples."""
    outcome = model.outcome
    part: DecisionClasses | NumberOutcome | Survival
    if isinstance(outcome, DecisionClasses):
        part = DecisionClasses(outcome.codes[rows], outcome.labels, outcome.kind)
    elif isinstance(outcome, Survival):
        part = outcome.of_samples(rows)
    else:
        part = number_outcome(outcome.values[rows], None, scale=outcome.scale)
    return FullModel(
        part,
        model.design[rows],
        None if model.offset is None else model.offset[rows],
        None if model.strata is None else model.strata.of_samples(rows),
    )
