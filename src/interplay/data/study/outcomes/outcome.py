"""An outcome, of whatever kind: its models, as tests ask for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_chi2_tail, log_f_tail
from interplay.data.models.per_unit import PerUnit
from interplay.data.study.design import Design, Strata
from interplay.data.study.outcomes.targets import ClassTarget, ResidualModel, ScoreTarget, Target
from interplay.data.study.outcomes.words import Words

#: A coefficient with a larger standard error has no finite estimate.
NO_ESTIMATE = 10.0

#: Residuals with less than this share of the variance of the outcome leave nothing to search.
_NOTHING_LEFT = 1e-6


class Coefficients(NamedTuple):
    """Coefficients of columns of a model, with their covariance."""

    #: (n,): differences of means, log odds ratios (of the second class) or log hazard ratios; NaN for a column that is
    #: a sum of others.
    estimate: FloatArray
    covariance: FloatArray  #: (n, n)
    #: Of a linear model.
    df_residual: int | None = None
    #: (n, n): of times, where clusters are given: Lin and Wei's covariance.
    robust: FloatArray | None = None
    #: Estimates are multiples of it.
    unit: float = 1.0

    def of_columns(self, chosen: slice) -> Coefficients:
        """Keep some columns."""
        robust = None if self.robust is None else self.robust[chosen, chosen]
        return self._replace(estimate=self.estimate[chosen], covariance=self.covariance[chosen, chosen], robust=robust)


class Fitted(NamedTuple):
    """A model of some columns, fitted."""

    #: Log-likelihood; of numbers, the sum of squares that is left.
    value: float
    #: Columns with a coefficient of their own.
    rank: int
    #: (n_classes − 1, n_columns): coefficients of classes, where a larger model begins.
    start: FloatArray


class Fits(ABC):
    """Fits of an outcome in some samples, each of columns of its own, by likelihood.

    Covariates and constants are among the columns that are given; offset, entries and baseline hazards are known.
    """

    #: Coefficients of each column.
    n_each = 1

    @abstractmethod
    def fit(self, columns: FloatArray, smaller: Fitted | None = None) -> Fitted:
        """Fit the columns, none of which is a sum of others; `smaller` is a fit of the first ones, where to begin."""

    def df(self, smaller: Fitted, larger: Fitted) -> int:
        """Return the degrees of freedom; 0 where no sample is left over."""
        return max(larger.rank - smaller.rank, 0) * self.n_each

    def ratio(self, smaller: Fitted, larger: Fitted) -> tuple[float, int]:
        """Return twice the difference of log-likelihoods (of numbers, F on the scale of χ²) and its df."""
        df = self.df(smaller, larger)
        return (max(2.0 * (larger.value - smaller.value), 0.0), df) if df else (0.0, 0)

    def log_p(self, smaller: Fitted, larger: Fitted) -> float:
        """Return ln p of the columns that the larger model adds; 0 where it adds none."""
        chi2, df = self.ratio(smaller, larger)
        return self.ratio_log_p(chi2, df, larger.rank) if df else 0.0

    def ratio_log_p(self, chi2: float, df: int, n_columns: int) -> float:
        """Return ln p of a likelihood ratio, whose larger model has so many columns."""
        return float(log_chi2_tail(chi2, df))


def effective_size(codes: IntArray) -> float:
    """Return the number of samples of a number that classes say as much as (Harrell's): n − Σ n_class³/n².

    Examples
    --------
    >>> effective_size(np.repeat([0, 1], 300)), effective_size(np.repeat([0, 1], [570, 30]))
    (450.0, 85.5)
    """
    sizes = np.bincount(codes).astype(np.float64)
    return float(len(codes) - (sizes**3).sum() / max(len(codes), 1) ** 2)


def log_p_of_classes(chi2: float, df: int, n_effective: float, n_columns: int) -> float:
    """Return ln p of a likelihood ratio of classes, as a linear model of so many samples has it: by F.

    χ² does not know how many columns were fitted. Of two classes, 120 to 250 samples and 6 to 15 columns, p-values
    below .01 are 1.2 to 2.3 times too frequent by χ², and .5 to 1.5 times by F (11,500 tables, covariates with and
    without effects).
    """
    n_left = max(n_effective - n_columns, 1.0)
    f = float(np.expm1(min(chi2 / max(n_effective, 1.0), 700.0))) * n_left / df
    return float(log_f_tail(f, df, n_left))


class NothingLeft(ValueError):
    """More columns of a model determine the outcome; the model without them does not."""


def check_left(left: FloatArray, outcome: FloatArray, *, share: float = _NOTHING_LEFT) -> None:
    """Refuse columns of a model whose residuals have hardly any of the variance of the outcome."""
    if float(left.var()) <= share * float(outcome.var()):
        raise NothingLeft(
            "covariates determine y: with them in a model nothing is left for the variables to explain; leave out the "
            "covariate that is the outcome itself, or a consequence of it"
        )


def standardised(
    kind: str, left: FloatArray, columns: FloatArray, variances: FloatArray, thirds: FloatArray
) -> ScoreTarget:
    """Return residuals as a target by values, with moments in units of its scores."""
    spread = float(left.std())
    model = ResidualModel(kind, columns, variances / spread**2, thirds / spread**3)
    return ScoreTarget(left, np.asarray((left - left.mean()) / spread), "values", model)


class SecondTest(NamedTuple):
    """Beside the likelihood ratio of columns: F of a linear model, and Wald's test with variances that assume less."""

    f: float = 0.0
    robust_log_p: float = np.nan
    df_residual: int = 0


class CellTests(NamedTuple):
    """Interactions of many tuples, tested at once: arrays of one row each, with NaN where a model has no maximum."""

    #: `chi2`, `log_p`, `robust_log_p`, (n,): as in a test of one tuple.
    chi2: FloatArray
    log_p: FloatArray
    robust_log_p: FloatArray
    #: (n, n_cells): effects of cells, relative to the first.
    estimate: FloatArray
    #: (n, n_cells, n_cells): of these.
    covariance: FloatArray


class Outcome(ABC):
    """An outcome of one kind."""

    #: The model with the last word: "linear", "logistic" or "cox", and its name in sentences.
    model_kind: ClassVar[str]
    model_name: ClassVar[str]

    #: What tables, summaries, reports and plots say.
    words: ClassVar[Words]

    #: Whether the outcome is a target as it is, to be shown and counted, or only its residuals are.
    is_target: ClassVar[bool] = True

    #: Whether residuals of its model are searched, and the model has the last word, also without covariates.
    needs_model: ClassVar[bool] = False

    #: What a test needs enough of: "samples", or "events" of times.
    counted: ClassVar[str] = "samples"

    @property
    @abstractmethod
    def n_informative(self) -> int:
        """What the number of columns of a model is measured by: samples of the rarest class, events, or samples."""

    @abstractmethod
    def of_samples(self, rows: IntArray) -> Outcome:
        """Return the outcome of some samples, as it is compared here: classes, say, stay the same."""

    @abstractmethod
    def made_again(
        self, rows: IntArray, y: Any, strata: Strata | None, compared: Target
    ) -> tuple[Any, Outcome, Target]:
        """Return y, the outcome and what is compared of some samples; numbers are cut or ranked anew."""

    def compared(self, strata: Strata | None, divisions: int | None = None) -> Target:
        """Return what is compared without covariates: the outcome as it is, or residuals, which may be cut."""
        assert isinstance(self, ClassTarget | ScoreTarget)
        return self

    def as_compared(self, compared: Target) -> Outcome:
        """Return the outcome of a comparison: of two classes, say."""
        return self

    def searches_residuals(self, compared: Target) -> bool:
        """Say whether residuals of the model are searched, and not what is compared without one."""
        return True

    @abstractmethod
    def check_part(self, holdout: Any, rows: IntArray, what: str) -> None:
        """Refuse a part of the samples, to search in or to test in, that is too small."""

    def check_offset(self) -> None:
        """Refuse an offset where the outcome cannot have one."""
        return

    @abstractmethod
    def alone(self) -> FloatArray:
        """Return the outcome as targets of linear models without a design, (n_targets, n_samples)."""

    @abstractmethod
    def measured(self) -> dict[str, Any]:
        """Return the arrays by which effects of single variables are measured, as fields of `Target` there."""

    def about(self) -> dict[str, Any]:
        """Return the entries of a record beside those of what is compared."""
        return {}

    def arrays(self) -> list[FloatArray]:
        """Return what tells the outcome from others with the same residuals."""
        return []

    def beyond(self, design: Design) -> tuple[Outcome, Design]:
        """Return the outcome as it is modelled, and what is left of the design: numbers lose the offset."""
        return self, design

    @abstractmethod
    def residuals(self, columns: FloatArray, design: Design, *, has_more: bool = False) -> ScoreTarget:
        """Return the residuals of a model of columns, those of the design first; `has_more` than these or not."""

    def slopes(self, columns: FloatArray, design: Design) -> tuple[FloatArray, FloatArray]:
        """Return slopes of the log-likelihood in each sample's known part, the offset, and minus the second derivative.

        They are those of the model of columns, fitted beside the offset: residuals and their variances, in the unit of
        the outcome.
        """
        found = self.residuals(columns, design)
        assert found.model is not None
        return found.values, found.model.variances * float(found.values.std()) ** 2

    def in_unit(self) -> tuple[Outcome, float]:
        """Return the outcome in a unit in which squares neither overflow nor vanish, and that unit; see `slopes`."""
        return self, 1.0

    def responses(self, design: Design) -> FloatArray:
        """Return columns that linear models explain about as well as the model of this kind, (n_samples, n)."""
        return self.residuals(design.columns(), design).scores[:, np.newaxis]

    @abstractmethod
    def fits(self, design: Design, rows: IntArray | None = None) -> Fits:
        """Return what fits models to the outcome in some samples."""

    @abstractmethod
    def coefficients(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients:
        """Fit a model of columns, those of the design first; with `clusters`, times have a robust covariance, too."""

    def effects(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients | None:
        """Return coefficients in the unit of the outcome; None where a column has no one effect."""
        return self.coefficients(columns, design, clusters)

    def per_unit(self, variables: FloatArray, design: Design) -> PerUnit | None:
        """Return the change of the outcome per unit of each variable, (n, n_samples) with gaps, beside the design.

        None where an outcome of this kind has no one change.
        """
        return None

    def second_test(
        self, design: Design, smaller: FloatArray, larger: FloatArray, rows: IntArray, groups: IntArray | None
    ) -> SecondTest:
        """Test the columns that `larger` adds to a model of `smaller` and the design, in some samples, once more.

        `groups` are those of all samples; variances of times account for them.
        """
        return SecondTest()

    def nested_ratio(self, columns: FloatArray, n_smaller: int, rows: IntArray) -> tuple[float, int]:
        """Compare models of columns and of the first ones, in some samples, without a design: χ² and its df."""
        fits = self.fits(Design(len(rows)), rows)
        smaller = fits.fit(columns[:, :n_smaller])
        return fits.ratio(smaller, fits.fit(columns, smaller))

    def ratio_on_other_scale(
        self, columns: FloatArray, n_smaller: int, rows: IntArray, offset: FloatArray | None
    ) -> tuple[float, int] | None:
        """Compare the same on a scale that bends sums of effects otherwise; None where there is no other."""
        return None

    def tests_of_cells(self, design: Design) -> Callable[[IntArray, FloatArray], CellTests] | None:
        """Return what tests the interactions of many tuples at once, in all samples; None where each needs a fit.

        It is given the cell of each sample, (n, n_samples), none of them empty, and columns of the models without
        interaction, (n_cells, n_columns), without a constant; those with it have a column for each cell.
        """
        return None

    def n_counted(self, rows: IntArray) -> int:
        """Return how many samples, or events, there are among some samples."""
        return len(rows)
