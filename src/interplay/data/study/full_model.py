"""An outcome in a design of covariates, offset and strata → its model, which has the last word, and its residuals.

The search compares residuals, as it compares an outcome of numbers, on every engine. What it finds is tested by the
full model: covariates, offset, and the variable or the interaction beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_chi2_tail, log_f_tail
from interplay.data.models.linear import independent_places
from interplay.data.study.design import Design
from interplay.data.study.outcomes.outcome import Coefficients, Fits, NothingLeft, Outcome
from interplay.data.study.outcomes.targets import ScoreTarget


@dataclass(frozen=True, eq=False)
class FullModel:
    """The data of the models that have the last word."""

    #: As it is modelled: an offset of numbers is subtracted already.
    outcome: Outcome
    design: Design

    @classmethod
    def of(cls, outcome: Outcome, design: Design) -> FullModel:
        """Return the model of an outcome as it was given."""
        return cls(*outcome.beyond(design.smoothed(outcome.n_informative)))

    @property
    def n_samples(self) -> int:
        return self.design.n_samples

    def columns(self, more: FloatArray | None = None) -> FloatArray:
        """Return the columns of the model: a constant for each stratum, covariates, and some more."""
        return self.design.columns(more)

    def residuals(self, more: FloatArray | None = None) -> ScoreTarget:
        """Return the residuals of the model, with some more columns, (n_samples, n), if given, as a target."""
        try:
            return self.outcome.residuals(self.columns(more), self.design, has_more=more is not None)
        except NothingLeft as error:
            if more is None:
                raise ValueError(str(error)) from None
            raise

    def fits(self, rows: IntArray | None = None) -> Fits:
        """Return what fits models to the outcome in some samples."""
        return self.outcome.fits(self.design, rows)

    def coefficients(self, more: FloatArray) -> Coefficients:
        """Fit the model with more columns, (n_samples, n), and return their coefficients."""
        known = self.columns()
        found = self.outcome.coefficients(np.hstack([known, more]), self.design)
        return found.of_columns(slice(known.shape[1], None))

    def effects(self, more: FloatArray, clusters: IntArray | None = None) -> Coefficients | None:
        """Return the same in the unit of the outcome; None where a column has no one effect."""
        known = self.columns()
        found = self.outcome.effects(np.hstack([known, more]), self.design, clusters)
        return None if found is None else found.of_columns(slice(known.shape[1], None))

    def coefficient_log_p(self, more: FloatArray) -> FloatArray:
        """Return ln p of columns, (n_samples, n), each given the others, by their standard errors, (n,)."""
        if not more.shape[1]:
            return np.empty(0)
        fit = self.coefficients(more)
        variance = np.diag(fit.covariance)
        usable = np.isfinite(variance) & (variance > 0)
        ratio = np.where(usable, fit.estimate**2 / np.where(usable, variance, 1.0), 0.0)
        if fit.df_residual is None:
            return np.where(usable, log_chi2_tail(ratio, 1), 0.0)
        return np.where(usable, log_f_tail(ratio, 1, max(fit.df_residual, 1)), 0.0)

    def likelihood_ratio(
        self, smaller: FloatArray, larger: FloatArray, rows: IntArray | None = None
    ) -> tuple[float, int]:
        """Compare the model with the columns of `larger`, which contain those of `smaller`, and with these alone.

        - `smaller`, `larger` (n, n_columns): columns beside those of the model.
        - `rows` (n,): the samples; all if not given.

        Returns
        -------
        chi2 : float
            Twice the difference of log-likelihoods; of numbers, F on the scale of χ².
        df : int
        """
        return self.compared(smaller, larger, rows)[1]

    def compared(
        self, smaller: FloatArray, larger: FloatArray, rows: IntArray | None = None
    ) -> tuple[Fits | None, tuple[float, int]]:
        """Return the same beside the fits, which know its p-value; None where the larger model has no more columns."""
        known = self.columns() if rows is None else self.columns()[rows]
        columns = np.hstack([known, smaller, larger])
        places = independent_places(columns)
        n_smaller = int(np.count_nonzero(places < known.shape[1] + smaller.shape[1]))
        if len(places) == n_smaller:
            return None, (0.0, 0)
        fits = self.fits(rows)
        less = fits.fit(columns[:, places[:n_smaller]])
        return fits, fits.ratio(less, fits.fit(columns[:, places], less))

    def of_samples(self, rows: IntArray) -> FullModel:
        """Return the model of some samples."""
        return FullModel(self.outcome.of_samples(rows), self.design.of_samples(rows))
