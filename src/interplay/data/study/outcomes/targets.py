"""What engines know of an outcome: classes, whose samples they count, or scores, which they sum.

Outcomes of classes and of numbers are targets themselves; of times, and of all that is adjusted for covariates or an
offset, the residuals are.

Sums of integers are exact in any order of addition, so that every engine has the same bits. Samples are sorted by
score. Up to eight neighbours, whose scores differ little, share one integer and a byte of the planes; equal scores
always share an integer. A sum over some samples then is a popcount of bytes, weighted by their integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, WordArray, in_unit, normal_scores, numbered
from interplay.base.checks import shown, warn
from interplay.base.tails import chi2_tail
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.words import CLASSES, NUMBERS, Words

#: Neighbours that share an integer: the largest number of samples, and the largest difference of their scores.
_SHARED = 8
_MAX_SPAN = 0.2

#: Integers are at most this, in absolute value.
_MOST = 127
#: Those of values with outliers: where scores are larger than this, or the former would lose more of the variance than
#: this share.
_MOST_WITH_OUTLIERS = 32639
_OUTLIER = 6.0
_MAX_LOST = 0.01

#: A sum over all samples is below this: engines keep 32 bits, with a sign.
_MAX_SUM = 2**31 - 1


@dataclass(frozen=True, eq=False)
class SearchScores:
    """Integer scores of samples, and their places in planes."""

    scores: npt.NDArray[np.int32]  #: (n_samples,)
    #: (n_slots,): sample of each bit of a plane, ascending in score; −1 for a bit that is no sample. Whole bytes.
    slots: IntArray
    #: (n_slots / 8,): integer that the samples of each byte share.
    of_bytes: npt.NDArray[np.int32]

    def padded(self, n_words: int) -> tuple[IntArray, npt.NDArray[np.int32], WordArray]:
        """Return slots, integers of bytes and the bits that are samples, for planes of `n_words` words."""
        slots = np.full(64 * n_words, -1, dtype=np.int64)
        slots[: len(self.slots)] = self.slots
        of_bytes = np.zeros(8 * n_words, dtype=np.int32)
        of_bytes[: len(self.of_bytes)] = self.of_bytes
        samples = np.packbits(slots >= 0, bitorder="little").view("<u8").astype(np.uint64)
        return slots, of_bytes, samples


def search_scores(outcome: ScoreTarget) -> SearchScores:
    """Return the integers of a number outcome and the places of its samples.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.data.study.outcomes.numbers import number_outcome
    >>> found = search_scores(number_outcome(np.arange(3.0)))
    >>> found.scores.tolist(), found.of_bytes.tolist()
    ([-127, 0, 127], [-127, 0, 127])
    """
    z = outcome.scores
    order = np.argsort(z, kind="stable")
    start = _shared_from(z[order])
    sizes = np.diff(np.append(start, len(z)))
    means = np.add.reduceat(z[order], start) / sizes
    integers = _rounded(z[order], means, sizes)
    # A group of equal scores may take several bytes; another byte begins with each group of neighbours.
    n_bytes = -(-sizes // _SHARED)
    first_slot = _SHARED * (np.cumsum(n_bytes) - n_bytes)
    slots = np.full(_SHARED * int(n_bytes.sum()), -1, dtype=np.int64)
    slots[np.repeat(first_slot - start, sizes) + np.arange(len(z))] = order
    scores = np.empty(len(z), dtype=np.int32)
    scores[order] = np.repeat(integers, sizes)
    return SearchScores(scores, slots, np.repeat(integers, n_bytes))


def _rounded(z: FloatArray, means: FloatArray, sizes: IntArray) -> npt.NDArray[np.int32]:
    """Return the integers of neighbours with these means: c times the mean, as c times the largest score allows."""
    largest = float(np.abs(z).max())
    for most in (_MOST, _MOST_WITH_OUTLIERS):
        limit = min(most, _MAX_SUM // len(z))
        integers = np.rint(means * (limit / largest))
        if largest <= _OUTLIER and lost_share(z, np.repeat(integers, sizes)) <= _MAX_LOST:
            break
    return np.asarray(integers, dtype=np.int32)


def lost_share(z: FloatArray, scores: FloatArray | IntArray) -> float:
    """Return the share of the variance of scores that integers do not explain: 1 − r²."""
    correlation = np.corrcoef(z, scores)[0, 1]
    return float(1 - correlation**2)


def _shared_from(z: FloatArray) -> IntArray:
    """Return where neighbours that share an integer begin, in sorted scores.

    Groups of equal scores stay whole: they join the neighbours before them while these are at most eight and near
    enough, and larger groups stay alone. The result then does not depend on the order of the samples.
    """
    values, begin, sizes = np.unique(z, return_index=True, return_counts=True)
    start = []
    first, n_shared = -np.inf, 0
    for value, at, size in zip(values.tolist(), begin.tolist(), sizes.tolist(), strict=True):
        if n_shared + size > _SHARED or value - first > _MAX_SPAN:
            start.append(at)
            first, n_shared = value, 0
        n_shared += size
    return np.array(start, dtype=np.int64)


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
    """Classes numbered from 0: of the tuples, engines count the samples of each class."""

    #: (n_samples,): class of each sample, 0 … n_classes − 1.
    codes: IntArray
    #: The user's names of the classes, in the order of the numbers.
    labels: list[Any]
    #: "classes" or "continuous" (then the classes are ranges of ranks).
    kind: str = "classes"
    are_ordered: ClassVar[bool] = False
    words: ClassVar[Words] = CLASSES
    #: The words of tests of its cells without a model.
    words_of_cells: ClassVar[Words] = CLASSES
    #: Excess kurtosis of the scores: classes have none.
    excess: ClassVar[float] = 0.0

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
    def searched(self) -> IntArray:
        """What bit planes are made of, besides variables, (n_samples,)."""
        return self.codes

    @property
    def integers(self) -> None:
        """The integers that searches sum: of classes, samples are counted."""
        return None

    @property
    def content(self) -> bytes:
        """The bytes that tell one target from others."""
        return self.codes.tobytes()

    @property
    def exchanged(self) -> IntArray:
        """What changes places in permutations, (n_samples,)."""
        return self.codes

    def relabeled(self, exchanged: IntArray, strata: Strata | None) -> ClassTarget:
        """Return the target after a permutation."""
        return ClassTarget(exchanged, self.labels, self.kind)

    @property
    def class_codes(self) -> IntArray:
        """Class of each sample, (n_samples,)."""
        return self.codes

    def in_sd(self, difference: FloatArray) -> FloatArray:
        """Return a difference in standard deviations: classes have none."""
        return np.full(len(difference), np.nan)

    def indicator(self) -> FloatArray:
        """Return the target as one number per sample: of two classes, which is the second."""
        return np.asarray(self.codes == 1, dtype=np.float64)

    @property
    def split_labels(self) -> IntArray:
        """Parts of the samples in which a split takes equal shares, (n_samples,)."""
        return self.codes

    def asked(self, decision_divisions: int | None) -> dict[str, Any]:
        """Return the arguments about the outcome for the record: its kind, and how it was cut."""
        was_cut = self.kind == "continuous" and decision_divisions is None  # times
        divisions = 1 if was_cut else decision_divisions
        return {"decision": self.kind, "decision_divisions": divisions, "scale": None}

    def about(self) -> dict[str, Any]:
        """Return the entries of a record: none, as classes have sizes there."""
        return {}

    def p_of_groups(self, codes: IntArray) -> float:
        """Return p of χ²: do groups of samples differ?"""
        counts = np.zeros((int(codes.max()) + 1, self.n_classes))
        np.add.at(counts, (codes, self.codes), 1)
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        chi2 = float(((counts - expected) ** 2 / expected).sum())
        return float(chi2_tail(chi2, (len(counts) - 1) * self.df))

    def check_strata(self, strata: Strata, what: str = "y") -> None:
        """Refuse strata that determine the classes; warn of single strata that do. `what` names the outcome."""
        counts = np.zeros((strata.n_strata, self.n_classes), dtype=np.int64)
        np.add.at(counts, (strata.codes, self.codes), 1)
        pure = np.flatnonzero((counts > 0).sum(axis=1) < 2)
        if len(pure) == strata.n_strata:
            raise ValueError(
                f"strata determines the classes of {what}: no stratum has samples of two classes, so that the effects "
                "of stratum and outcome cannot be separated; if the strata are donors or families, give them as "
                "groups=, which permutes the labels of whole groups, otherwise use other strata"
            )
        if len(pure):
            where = "" if what == "y" else f", {what}"
            listed = ", ".join(shown(strata.labels[stratum]) for stratum in pure[:3]) + ", ..." * (len(pure) > 3)
            warn(
                f"strata{where}: {len(pure)} of {strata.n_strata} strata have samples of one class only ({listed}), "
                "which carry no information and reduce the power: leave these samples out, or merge strata"
            )


@dataclass(frozen=True, eq=False)
class ResidualModel:
    """A model of an outcome whose residuals are searched: what the chance of a score test depends on."""

    #: "linear", "logistic" or "cox".
    kind: str
    #: (n_samples, n_columns): of the model: a constant, strata, covariates; none is a sum of others.
    columns: FloatArray
    #: `variances`, `thirds`, (n_samples,): variance and third central moment of each residual under the model, in units
    #: of the scores. Of a linear model variances are equal.
    variances: FloatArray
    thirds: FloatArray


@dataclass(frozen=True)
class ScoreTarget:
    """Scores of numbers, or of residuals of an outcome of any kind: engines sum them in the cells of tuples."""

    #: (n_samples,): as they were given; residuals where there is a `model`.
    values: FloatArray
    #: (n_samples,): the values as tests compare them, higher for higher values: normal scores of ranks, within strata
    #: if there are any, or standardised values.
    scores: FloatArray
    #: "ranks" or "values": what the scores are made of.
    scale: str = "ranks"
    #: The model of covariates, an offset or times whose residuals these are.
    model: ResidualModel | None = None
    kind: ClassVar[str] = "number"
    df: ClassVar[int] = 1
    are_ordered: ClassVar[bool] = True
    words: ClassVar[Words] = NUMBERS
    words_of_cells: ClassVar[Words] = NUMBERS

    def is_of(self, n_samples: int) -> bool:
        """Say whether all arrays have one value per sample: a file may say anything."""
        return self.values.shape == self.scores.shape == (n_samples,)

    @property
    def labels(self) -> list[Any]:
        """No classes, hence no labels."""
        return []

    @property
    def sizes(self) -> IntArray:
        """All samples, (1,)."""
        return np.array([len(self.values)], dtype=np.int64)

    @property
    def searched(self) -> FloatArray:
        """What bit planes are made of, besides variables, (n_samples,)."""
        return self.scores

    @property
    def integers(self) -> SearchScores:
        """The integers that searches sum, and the places of the samples in bit planes."""
        return search_scores(self)

    @property
    def content(self) -> bytes:
        """The bytes that tell one target from others; scores may be of ranks or of residuals."""
        return self.values.tobytes() + self.scores.tobytes()

    @property
    def exchanged(self) -> IntArray:
        """What changes places in permutations: numbers of the distinct values, ascending, (n_samples,)."""
        return numbered(self.values)

    def relabeled(self, exchanged: IntArray, strata: Strata | None) -> ScoreTarget:
        """Return the target after a permutation, scored anew.

        Where groups differ in size, there are more samples of some values than before.
        """
        values = np.unique(self.values)[exchanged]
        return ScoreTarget(values, target_scores(values, strata, self.scale), self.scale)

    @property
    def class_codes(self) -> IntArray:
        """All samples are of one class, (n_samples,)."""
        return np.zeros(len(self.values), dtype=np.int64)

    def in_sd(self, difference: FloatArray) -> FloatArray:
        """Return a difference of values in standard deviations of these; NaN where values are infinite."""
        values, unit = in_unit(self.values)
        spread = float(values.std(ddof=1)) if np.isfinite(values).all() else np.nan
        return np.asarray(difference / unit / spread)

    def indicator(self) -> FloatArray:
        """Return the target as one number per sample."""
        return self.scores

    @property
    def split_labels(self) -> IntArray:
        """The tenth of the samples that each one's number is in, 0 … 9; equal numbers are in one tenth."""
        lower = np.searchsorted(np.sort(self.values), self.values)
        return np.asarray(lower * 10 // len(self.values), dtype=np.int64)

    def asked(self, decision_divisions: int | None) -> dict[str, Any]:
        """Return the arguments about the outcome for the record: its kind, and how it is compared."""
        return {"decision": self.kind, "decision_divisions": None, "scale": self.scale}

    def about(self) -> dict[str, Any]:
        """Return the entries of a record: quartiles, and how many values there are.

        Examples
        --------
        >>> ScoreTarget(np.arange(9.0), np.arange(9.0)).about()
        {'quartiles': [0.0, 2.0, 4.0, 6.0, 8.0], 'n_values': 9}
        """
        values, unit = in_unit(self.values)
        # Of infinite values there is no mean of two: the lower one is taken.
        is_finite = bool(np.isfinite(values).all())
        quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="linear" if is_finite else "lower") * unit
        return {"quartiles": quartiles.tolist(), "n_values": len(np.unique(self.values))}

    def p_of_groups(self, codes: IntArray) -> float:
        """Return p of F, of one-way analysis of variance: do groups of samples differ?"""
        from scipy.special import fdtrc

        sizes = np.bincount(codes)
        sizes_there = sizes[sizes > 0]
        centred = self.scores - self.scores.mean()
        between = float((np.bincount(codes, weights=centred)[sizes > 0] ** 2 / sizes_there).sum())
        df = len(sizes_there) - 1, len(codes) - len(sizes_there)
        within = float(centred @ centred) - between
        return float(fdtrc(*df, between / df[0] / (within / df[1]))) if within > 0 else 0.0

    @cached_property
    def excess(self) -> float:
        """Excess kurtosis of the scores: normal scores of a number without ties have none."""
        left = self.scores - self.scores.mean()
        return float((left**4).mean() / max(float((left**2).mean()) ** 2, 1e-300) - 3)

    def check_strata(self, strata: Strata, what: str = "y") -> None:
        """Refuse strata that determine a number outcome; warn of single strata that do."""
        low, high = np.full(strata.n_strata, np.inf), np.full(strata.n_strata, -np.inf)
        np.minimum.at(low, strata.codes, self.values)
        np.maximum.at(high, strata.codes, self.values)
        same = np.flatnonzero(low == high)
        if len(same) == strata.n_strata:
            raise ValueError(
                "strata determines y: all samples of a stratum have the same value, so that the effects of stratum and "
                "outcome cannot be separated; if the strata are donors or families, give them as groups=, otherwise "
                "use other strata"
            )
        if len(same):
            listed = ", ".join(shown(strata.labels[stratum]) for stratum in same[:3]) + ", ..." * (len(same) > 3)
            warn(
                f"strata: {len(same)} of {strata.n_strata} strata have one value of y only ({listed}), which carry no "
                "information and reduce the power: leave these samples out, or merge strata"
            )

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


def target_scores(values: FloatArray, strata: Strata | None, scale: str) -> FloatArray:
    """Return normal scores of ranks, within strata, or standardised values."""
    if scale == "values":
        if not np.isfinite(values).all():
            raise ValueError("y has infinite values, which scale='values' cannot average: use scale='ranks'")
        scaled, _ = in_unit(values)
        return np.asarray((scaled - scaled.mean()) / scaled.std())
    scores = np.empty(len(values))
    codes = np.zeros(len(values), dtype=np.int64) if strata is None else strata.codes
    for stratum in range(int(codes.max(initial=0)) + 1):
        inside = np.flatnonzero(codes == stratum)
        scores[inside] = normal_scores(values[inside])
    return scores
