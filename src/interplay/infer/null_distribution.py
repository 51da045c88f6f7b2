"""NullFit: the distribution of gains under chance, which turns gains into p-values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.checks import needing
from interplay.base.tails import log_chi2_tail
from interplay.files.types import Check
from interplay.infer.p_values import CHI2_PER_UNIT, NullTail, ShapePosterior, chi2_statistic, with_df

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MODES = ("auto", "raw", "lin", "exp")


@dataclass(frozen=True, eq=False, repr=False)
class NullFit:
    """The distribution of the maximum gain of an irrelevant variable.

    Attributes
    ----------
    alpha, alpha_error : float
        1/γ and its standard error (NaN where nothing was fitted).
    gamma, gamma_error : float
        Effective number of tests behind each maximum, if δ = 1; otherwise a scale that means little by itself.
    delta, delta_error : float
        Shape; 1 and NaN unless ``fit`` is "weibull" or "predictive".
    mode : str
        "exp": p = 1 − exp(−γ·(−ln(1 − V))^δ), that is 1 − (1 − V)^γ for δ = 1. "lin": p = γ·V, at most 1. "raw": p = V.
    fit : str
        "lsq", "mle", "weibull", "tail", "predictive" or "union".
    n_irrelevant, n_ignored : int
        Reference variables that were fitted, and those of lower gain that were left out.
    min_irrelevant, max_ignored : int
        Bounds of their search (0 where there was none).
    n_reference, n_contrast : int
        Reference variables with a gain in all, and how many of them are contrast variables: all or none.
    ks_p : float
        Kolmogorov–Smirnov p of the reference variables' p-values against the uniform distribution ("tail",
        "weibull" and "predictive": of those that were not censored). Small: the model does not fit. The parameters come
        from the same variables, so it errs on the lenient side. NaN with fewer than 6 of them.
    df : float or (n_vars,) float64
        Degrees of freedom.
    unit : str
        Unit of gains given to `p_values`.
    statistic : (n_vars,) float64
        Gains of the real variables in the scale of χ² (doubled nats); NaN where there is none.
    chi2_p : (n_vars,) float64
        V of the real variables.
    reference_p : float64 array
        p-values of the fitted reference variables; of all variables for "union" without contrast variables.
    sq_dev : float64 array
        What the search of "lsq" minimises, by window length; empty for other fits.
    exact_log_p : (n_vars + n_contrast,) float64
        Natural logarithms of exact p-values of the variables, and of the contrast variables after them, if these have
        any; `select` has them in 1D, where they take the place of the χ² tail, and from permutations. Empty elsewhere.
    permuted_max : (n_permutations,) float64
        Where p-values come from permutations, the largest −ln V of all variables in each of them; empty elsewhere.
    inflation : float
        Factor by which gains were divided before V was computed: it corrects for the similarity of samples of one
        group.
    n_uncensored : int
        Reference variables that were fitted by value, where the others were censored; 0 where there is no such thing.
    shapes : (3, n_shapes) float64
        Of "predictive", shapes δ, ln S of each (`ShapePosterior` says of what) and their probabilities: p-values are
        means over them. Empty for other fits.
    least_log_p : (n_vars,) float64
        Logarithms that p-values of the variables do not go below, where contrast variables contradict the fit; empty
        elsewhere. See `interplay.infer.null_fit`.
    """

    alpha: float
    alpha_error: float
    gamma: Annotated[float, Check(above=0)]
    gamma_error: float
    delta: float
    delta_error: float
    mode: Annotated[str, Check(among=MODES)]
    fit: str
    n_irrelevant: int
    n_ignored: int
    min_irrelevant: int
    max_ignored: int
    n_reference: int
    n_contrast: int
    ks_p: float
    df: Annotated[float | FloatArray, Check("n_fitted", above=0)]
    unit: Annotated[str, Check(among=CHI2_PER_UNIT)]
    statistic: Annotated[FloatArray, Check("n_fitted")]
    chi2_p: Annotated[FloatArray, Check("n_fitted")]
    reference_p: Annotated[FloatArray, Check("n")]
    sq_dev: FloatArray
    exact_log_p: Annotated[FloatArray, Check("n_exact", high=0)] = field(default_factory=lambda: np.empty(0))
    permuted_max: Annotated[FloatArray, Check("n_permutations")] = field(default_factory=lambda: np.empty(0))
    inflation: Annotated[float, Check(low=1)] = 1.0
    n_uncensored: int = 0
    shapes: Annotated[FloatArray, Check("3 n_shapes")] = field(default_factory=lambda: np.empty((3, 0)))
    least_log_p: Annotated[FloatArray, Check("n_fitted", high=0, may_be_empty=True)] = field(
        default_factory=lambda: np.empty(0)
    )

    def is_consistent(self) -> bool:
        """Say whether shapes have probabilities, and permutations p-values: a file may say anything."""
        has_p = not self.is_permuted or self.exact_log_p.size > 0
        return has_p and (self.posterior is None or self.posterior.is_consistent())

    @property
    def is_exact(self) -> bool:
        """Whether p-values of the variables come from an exact test of their counts."""
        return self.exact_log_p.size > 0 and not self.is_permuted

    @property
    def is_permuted(self) -> bool:
        """Whether p-values of the variables come from permutations."""
        return self.permuted_max.size > 0

    @property
    def label(self) -> str:
        """Source of the p-values, in a word or two."""
        if self.is_permuted:
            return f"{len(self.permuted_max)} permutations"
        if self.is_exact:
            return "exact conditional test"
        return self.fit if self.mode != "raw" else "χ², nothing fitted"

    def with_exact_p(self, log_p: FloatArray) -> NullFit:
        """Return the same with exact p-values of the variables and the contrast variables after them."""
        of_contrast = np.exp(log_p[len(self.statistic) :])
        ascending = np.exp(log_p[np.argsort(self.statistic, kind="stable")])
        ignored = self.n_ignored if self.n_irrelevant else 0
        reference_p = of_contrast if len(of_contrast) else ascending[ignored:][: self.n_irrelevant or None]
        # Exact p-values take few values, which Kolmogorov and Smirnov would take for a bad fit.
        return replace(self, exact_log_p=log_p, reference_p=reference_p, ks_p=math.nan)

    def p_values(self, gains: npt.ArrayLike | None = None, df: float | npt.ArrayLike | None = None) -> FloatArray:
        """Return p-values of `gains`, or of the real variables if none are given.

        Those of given gains are never exact: an exact p-value depends on the counts. From permutations, they are the
        probability that the gain of any variable is as large.

        Parameters
        ----------
        gains : (m,) array_like, optional
            In the unit given to `fit_null`.
        df : float or (m,) array_like, optional
            Degrees of freedom of these gains; those of the fit if not given.
        """
        if self.is_permuted or (gains is None and (self.is_exact or self.least_log_p.size)):
            return np.exp(self.log_p_values(gains, df))
        statistic, df_used = self._arguments(gains, df)
        return self._model.p_values(statistic, df_used)

    def log_p_values(self, gains: npt.ArrayLike | None = None, df: float | npt.ArrayLike | None = None) -> FloatArray:
        """Return natural logarithms of the p-values: they keep their order where p itself is below 1e-308."""
        if gains is None and self.exact_log_p.size:
            return self.exact_log_p[: len(self.statistic)]
        statistic, df_used = self._arguments(gains, df)
        if self.is_permuted:
            return self._log_permuted_p(-log_chi2_tail(statistic, df_used))
        log_p = self._model.log_p_values(statistic, df_used)
        return np.maximum(log_p, self.least_log_p) if gains is None and self.least_log_p.size else log_p

    @property
    def _model(self) -> NullTail:
        return NullTail(self.mode, self.gamma, self.delta, self.posterior)

    @property
    def posterior(self) -> ShapePosterior | None:
        """Posterior of the shape, where p-values are averaged over it."""
        if not self.shapes.size:
            return None
        delta, log_sum, weight = self.shapes
        return ShapePosterior(delta, log_sum, weight, self.n_uncensored)

    def _arguments(
        self, gains: npt.ArrayLike | None, df: float | npt.ArrayLike | None
    ) -> tuple[FloatArray, float | FloatArray]:
        statistic = self.statistic
        if gains is not None:
            statistic = chi2_statistic(gains, unit=self.unit) / self.inflation
        if df is not None:
            return with_df("df", statistic, df)
        if isinstance(self.df, np.ndarray) and len(self.df) != len(statistic):
            raise ValueError(
                "df is needed for these gains: the degrees of freedom of the fit are those of its own variables"
            )
        return statistic, self.df

    def _log_permuted_p(self, evidence: FloatArray) -> FloatArray:
        """Return the share of permutations, the data among them, whose largest −ln V reaches each of these."""
        ascending = np.sort(self.permuted_max)
        below = np.searchsorted(ascending, evidence - 1e-9 * np.maximum(1.0, evidence))
        return np.asarray(np.log((1 + len(ascending) - below) / (len(ascending) + 1)))

    @property
    def _has_shape(self) -> bool:
        return self.mode == "exp" and not math.isnan(self.delta_error)

    def summary(self) -> str:
        """Return the fit in a few lines of text."""
        if self.is_permuted:
            return f"{len(self.permuted_max)} permutations, step-down maxT; no null distribution was fitted"
        if self.is_exact:
            several = (
                "" if self.mode == "raw" else "; the smallest p of all discretisations is multiplied by their number"
            )
            return f"Exact conditional test; no null distribution was fitted{several}"
        kind = "contrast variables" if self.n_contrast else "variables"
        formula = {"raw": "p = V", "lin": "p = min(1, V/alpha)", "exp": "p = 1 - (1 - V)^(1/alpha)"}[self.mode]
        if self._has_shape:
            formula = "p = 1 - exp(-gamma * (-log(1 - V))^delta)"
            formula += "" if self.posterior is None else ", mean over the posterior of gamma and delta"
        lines = [f"Null fit: {self.fit}, mode {self.mode}: {formula}"]
        if self.mode != "raw":
            lines.append(f"  alpha  {_with_error(self.alpha, self.alpha_error)}")
            meaning = "   (effective number of tests)" if self.delta == 1 else ""
            lines.append(f"  gamma  {_with_error(self.gamma, self.gamma_error)}{meaning}")
        if self._has_shape:
            lines.append(f"  delta  {_with_error(self.delta, self.delta_error)}")
        if self.n_irrelevant:
            ignored = f", {self.n_ignored} of low gain ignored" if self.n_ignored else ""
            lines.append(f"  {self.n_irrelevant} of {self.n_reference} {kind} taken as irrelevant{ignored}")
        if self.inflation > 1:
            lines.append(f"  gains divided by {self.inflation:.4g}, because samples of one group resemble each other")
        if self.least_log_p.size:
            lines.append("  no p-value below the share of contrast variables with as large a gain: these have outliers")
        if not math.isnan(self.ks_p):
            lines.append(f"  Kolmogorov-Smirnov p of the fit {self.ks_p:.3g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()

    @property
    def title(self) -> str:
        """Title of a picture of the fit."""
        if self.is_permuted:
            return self.label
        return f"Null fit: {self.fit}" if not self.is_exact else "Exact conditional test"

    def qq_points(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the reference variables' p-values, ascending, against those of a perfect fit.

        Returns
        -------
        expected, observed, low, high : (n,) float64
            Between low and high lie 95 % of uniform samples.
        """
        from scipy.special import betaincinv

        observed = np.sort(self.reference_p)
        n = len(observed)
        rank = np.arange(1.0, n + 1.0)
        # Order statistics of a uniform sample are beta distributed.
        low, high = (np.asarray(betaincinv(rank, n + 1.0 - rank, share), dtype=np.float64) for share in (0.025, 0.975))
        return (rank - 0.5) / max(n, 1), observed, low, high

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the p-values of the reference variables against those a perfect fit would have, on log scales.

        Points below the diagonal are p-values that are too small: there the fit is too liberal.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes
        """
        with needing("matplotlib", "plot", "plots need"):
            import matplotlib.pyplot as plt
        if ax is None:
            ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")[1]
        expected, observed, low, high = self.qq_points()
        n = len(observed)
        ax.fill_between(expected, low, high, color="0.9", label="95 % of uniform samples")
        ax.plot([0.5 / max(n, 1), 1.0], [0.5 / max(n, 1), 1.0], color="0.5", linewidth=1)
        ax.plot(
            expected,
            observed,
            ".",
            color="#0072B2",
            label="contrast variables" if self.n_contrast else "irrelevant variables",
        )
        ax.set(
            xscale="log",
            yscale="log",
            xlabel="expected p",
            ylabel="fitted p" if not self.is_exact else "exact p",
            title=self.title,
        )
        ax.legend(loc="upper left", frameon=False)
        return ax


def _with_error(value: float, error: float) -> str:
    return f"{value:.6g}" if math.isnan(error) else f"{value:.6g} ± {error:.2g}"
