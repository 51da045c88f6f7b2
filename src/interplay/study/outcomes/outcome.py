"""An outcome, of whatever kind: what study, search and tests ask of it; and the two targets that engines know.

An outcome is read from y by its kind. Engines count classes, or sum the scores of numbers: `Target`. Classes and
numbers are targets themselves; of times, and of all that is adjusted for covariates or an offset, the residuals are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.chi_squared import log_chi2_tail
from interplay.study.design import Design
from interplay.study.outcomes.words import CLASSES, NUMBERS, Words

#: A coefficient with a larger standard error has no finite estimate.
NO_ESTIMATE = 10.0

#: Residuals with less than this share of the variance of the outcome leave nothing to search.
_NOTHING_LEFT = 1e-6

#: Cells of fewer samples are left out of the hypothesis; the spread within them still counts. Measured on pairs of
#: genotypes without an interaction, N = 200 and 1000: with normal scores of a continuous outcome F holds for cells of
#: any size. Where 80 % of the outcome is one value, p-values below 1e-5 are 15 times (cells of one sample), 5 times
#: (five) and twice (ten) as frequent as they should be. Variances that the variance of each cell enters need as many:
#: with cells of two samples, robust p-values below 1e-4 are 18 times as frequent, with five at most 3 times.
FEWEST_IN_CELL = 5

#: Of samples with another score than the most frequent one, so many are expected in a cell.
_FEWEST_OTHERS = 2.5


@dataclass(frozen=True)
class ClassTarget:
    """Classes numbered from 0: of the tuples, engines count the samples of each class.

    Attributes
    ----------
    codes : (n_samples,) int64
        Class of each sample, 0 … n_classes − 1.
    labels : list
        The user's names of the classes, in the order of the numbers.
    kind : str
        "classes" or "continuous" (then the classes are ranges of ranks).
    """

    codes: IntArray
    labels: list[Any]
    kind: str = "classes"
    words: ClassVar[Words] = CLASSES

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def df(self) -> int:
        """Degrees of freedom of the outcome: of a gain, times those of the variable and the cells of its partners."""
        return self.n_classes - 1

    @cached_property
    def sizes(self) -> IntArray:
        """Samples in each class, (n_classes,)."""
        return np.bincount(self.codes, minlength=self.n_classes).astype(np.int64)

    @property
    def fewest_in_cell(self) -> int:
        """Samples that a cell needs to be tested: any."""
        return 1

    @property
    def exchanged(self) -> IntArray:
        """What relabelings exchange, (n_samples,): the classes."""
        return self.codes


@dataclass(frozen=True, eq=False)
class ResidualModel:
    """A model of an outcome whose residuals are searched: what the chance of a score test depends on.

    Attributes
    ----------
    kind : str
        "linear", "logistic" or "cox".
    columns : (n_samples, n_columns) float64
        Of the model: a constant, strata, covariates; none is a sum of others.
    variances, thirds : (n_samples,) float64
        Variance and third central moment of each residual under the model, in units of the scores. Of a linear model
        variances are equal.
    """

    kind: str
    columns: FloatArray
    variances: FloatArray
    thirds: FloatArray


@dataclass(frozen=True)
class ScoreTarget:
    """Scores of numbers, or of residuals of an outcome of any kind: engines sum them in the cells of tuples.

    Attributes
    ----------
    values : (n_samples,) float64
        As they were given; residuals where there is a `model`.
    scores : (n_samples,) float64
        The values as tests compare them, higher for higher values: normal scores of ranks, within strata if there are
        any, or standardised values.
    scale : str
        "ranks" or "values": what the scores are made of.
    model : ResidualModel, optional
        The model of covariates, an offset or times whose residuals these are.
    """

    values: FloatArray
    scores: FloatArray
    scale: str = "ranks"
    model: ResidualModel | None = None
    kind: ClassVar[str] = "number"
    df: ClassVar[int] = 1
    words: ClassVar[Words] = NUMBERS

    @property
    def labels(self) -> list[Any]:
        """No classes, hence no labels."""
        return []

    @property
    def sizes(self) -> IntArray:
        """All samples, (1,)."""
        return np.array([len(self.values)], dtype=np.int64)

    @property
    def exchanged(self) -> IntArray:
        """What relabelings exchange, (n_samples,): the numbers of the distinct values, ascending."""
        return numbered(self.values)

    @cached_property
    def fewest_in_cell(self) -> int:
        """Samples that a cell needs to be tested: `FEWEST_IN_CELL`, and more where most samples have one value.

        With 80 % equal values, cells of ten samples have twice as many p-values below 1e-5 as they should, cells of
        five samples five times as many.

        Examples
        --------
        >>> [ScoreTarget(values, values).fewest_in_cell for values in (np.arange(10.0), np.array([0.0] * 8 + [1, 2]))]
        [5, 13]
        """
        others = 1 - float(np.unique(self.values, return_counts=True)[1].max()) / len(self.values)
        return max(FEWEST_IN_CELL, int(np.ceil(_FEWEST_OTHERS / others - 1e-9))) if others > 0 else FEWEST_IN_CELL


#: What engines know of an outcome.
Target = ClassTarget | ScoreTarget


class Coefficients(NamedTuple):
    """Coefficients of columns of a model, with their covariance.

    Attributes
    ----------
    estimate : (n,) float64
        Differences of means, log odds ratios (of the second class) or log hazard ratios; NaN for a column that is a
        sum of others.
    covariance : (n, n) float64
    df_residual : int or None
        Of a linear model.
    robust : (n, n) float64 or None
        Of times, where clusters are given: Lin and Wei's covariance.
    unit : float
        Estimates are multiples of it.
    """

    estimate: FloatArray
    covariance: FloatArray
    df_residual: int | None = None
    robust: FloatArray | None = None
    unit: float = 1.0

    def of_columns(self, chosen: slice) -> Coefficients:
        """Keep some columns."""
        robust = None if self.robust is None else self.robust[chosen, chosen]
        return self._replace(estimate=self.estimate[chosen], covariance=self.covariance[chosen, chosen], robust=robust)


class Fitted(NamedTuple):
    """A model of some columns, fitted.

    Attributes
    ----------
    value : float
        Log-likelihood; of numbers, the sum of squares that is left.
    rank : int
        Columns with a coefficient of their own.
    start : (n_classes − 1, n_columns) float64
        Coefficients of classes, where a larger model begins.
    """

    value: float
    rank: int
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


class Outcome(ABC):
    """An outcome of one kind."""

    #: The model with the last word: "linear", "logistic" or "cox", and its name in sentences.
    model_kind: ClassVar[str]
    model_name: ClassVar[str]

    #: What tables, summaries, reports and plots say.
    words: ClassVar[Words]

    #: What a test needs enough of: "samples", or "events" of times.
    counted: ClassVar[str] = "samples"

    @property
    @abstractmethod
    def n_informative(self) -> int:
        """What the number of columns of a model is measured by: samples of the rarest class, events, or samples."""

    @abstractmethod
    def of_samples(self, rows: IntArray) -> Outcome:
        """Return the outcome of some samples, as it is compared here: classes, say, stay the same."""

    def beyond(self, design: Design) -> tuple[Outcome, Design]:
        """Return the outcome as it is modelled, and what is left of the design: numbers lose the offset."""
        return self, design

    @abstractmethod
    def residuals(self, columns: FloatArray, design: Design, *, has_more: bool = False) -> ScoreTarget:
        """Return the residuals of a model of columns, those of the design first; `has_more` than these or not."""

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

    def second_test(
        self, design: Design, smaller: FloatArray, larger: FloatArray, rows: IntArray, groups: IntArray | None
    ) -> SecondTest:
        """Test the columns that `larger` adds to a model of `smaller` and the design, in some samples, once more.

        `groups` are those of all samples; variances of times account for them.
        """
        return SecondTest()

    def nested_ratio(self, columns: FloatArray, n_smaller: int, rows: IntArray) -> tuple[float, int]:
        """Compare models of columns and of the first ones, in some samples, without a design: χ² and its df."""
        raise NotImplementedError

    def ratio_on_other_scale(
        self, columns: FloatArray, n_smaller: int, rows: IntArray, offset: FloatArray | None
    ) -> tuple[float, int] | None:
        """Compare the same on a scale that bends sums of effects otherwise; None where there is no other."""
        return None

    def ratio_log_p(self, chi2: float, df: int, rows: IntArray, n_columns: int) -> float:
        """Return ln p of a likelihood ratio in some samples, whose larger model has so many columns."""
        return float(log_chi2_tail(chi2, df))

    def n_counted(self, rows: IntArray) -> int:
        """Return how many samples, or events, there are among some samples."""
        return len(rows)
