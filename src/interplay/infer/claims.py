"""Claims about one variable → p-values, by the tests of the search: one test for each claim and kind of outcome.

=====================  ==========================  ==================================  =======================
claim                  classes                     numbers                             residuals of a model
=====================  ==========================  ==================================  =======================
alone, by ranks        `correlation_log_p`,        `correlation_log_p`,                `ResidualTarget.log_p`
                       `level_score_log_p`,        `level_correlation_log_p`
                       `score_log_p` of three
alone, by eighths      `eighths_log_p` of two      `eighths_log_p`
alone, by levels       `conditional_log_p`         `level_gain_log_p`                  `level_log_p`
given others           `GivenOthers`               `GivenOthers`                       `GivenInModel`
a tuple beside parts   `conditional_log_p`         `level_gain_log_p` within the       `level_log_p` given the
                       within the parts' cells     parts' cells, and by cell           parts' cells, and by cell
beyond columns         `pillai_log_p`              `pillai_log_p`                      likelihood ratio
=====================  ==========================  ==================================  =======================

A search tests many variables at once by the functions of this table; the classes here are these for one variable, as
new samples and the winner among many tuples need them. In a model the likelihood ratio is asked as well, and the larger
p-value counts, as in `ask.selection.confirmation`. With groups of samples all claims are tested by permutations of
whole groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.seeds import Purpose, random_stream
from interplay.base.tails import log_chi2_tail
from interplay.data.models.linear import cell_columns
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import NothingLeft
from interplay.data.study.outcomes.targets import ScoreTarget, Target
from interplay.infer.conditional_test import conditional_log_p
from interplay.infer.correlation_test import (
    NumberTarget,
    correlation_log_p,
    distances,
    eighths_log_p,
    level_correlation_log_p,
    level_gain_log_p,
)
from interplay.infer.drawn_levels import DrawnLevels
from interplay.infer.given_test import GivenInModel, GivenNumbers, GivenOthers, centred_within
from interplay.infer.permutations import exchangeability
from interplay.infer.residual_test import ResidualTarget
from interplay.infer.score_test import class_targets, level_score_log_p, level_scores, score_log_p
from interplay.infer.short_list import beyond, orthonormal, pillai_log_p

#: Columns of at most so many values are tested by their levels.
_FEW_VALUES = 10

#: Pseudocounts of gains, as in a search by default.
_PSEUDOCOUNT = 0.25


def claims_of(target: Target, **beside: Any) -> Claims:
    """Return the tests of claims about a target; `beside` are fields of `Claims`."""
    if isinstance(target, ScoreTarget):
        return NumberClaims(scores=target.scores, **beside)
    return ClassClaims(codes=target.codes, n_classes=target.n_classes, **beside)


@dataclass(frozen=True, eq=False, kw_only=True)
class Claims(ABC):
    """The outcome of samples, and tests of claims about it: in a model, or by permutations of groups."""

    strata: IntArray | None = None  #: (n_samples,)
    groups: IntArray | None = None  #: (n_samples,)
    order: IntArray | None = None  #: (n_samples,)
    #: With covariates, an offset or times; then without groups.
    model: FullModel | None = None
    #: `n_permutations`, `seed`: of groups.
    n_permutations: int = 999
    seed: int = 0

    @property
    def n_samples(self) -> int:
        assert self.model is not None
        return self.model.n_samples

    def of_ranks(self, values: FloatArray, ranks: FloatArray, normal: FloatArray, *, kind: str = "rank") -> float:
        """Return ln p of a variable alone: by the test "rank", "spread", "shape" or "noise" of its ranks.

        All are (n_samples,): the values, their mid-ranks within strata from −1 to 1, and the normal scores of these.

        Examples
        --------
        >>> import numpy as np
        >>> carriers, cases = np.repeat([1.0, 0.0], [8, 392]), np.repeat([1, 0, 1, 0], [2, 6, 8, 384])
        >>> round(float(np.exp(ClassClaims(codes=cases, n_classes=2).of_ranks(*[carriers] * 3))), 4)  # Fisher's test
        0.0146
        """
        own = (normal**2 if kind in ("spread", "shape") else normal)[np.newaxis]
        if kind == "noise" and (self.groups is not None or self.model is not None):
            return 0.0  # there is no such test
        if self.groups is not None:
            return self.beyond(own, np.empty((0, self.n_samples)))
        if self.model is not None:
            by_score = float(ResidualTarget.of(self.model.residuals()).log_p(own)[0])
            return max(self.beyond(own, np.empty((0, self.n_samples))), by_score)
        used, levels = np.unique(values, return_inverse=True)
        is_few = len(used) <= _FEW_VALUES and not np.isnan(used).any()
        if is_few and kind == "spread" and len(used) <= 2:
            return 0.0
        if is_few and kind != "shape":
            return self._of_level_ranks(levels.reshape(-1), len(used), kind)
        if kind == "shape":
            log_p = np.nan if self._numbers is None else float(eighths_log_p(ranks[np.newaxis], self._numbers)[0])
            return 0.0 if np.isnan(log_p) else log_p
        return self._of_many_ranks(own, kind)

    def given(self, own: FloatArray, others: FloatArray) -> float:
        """Return ln p of a variable's scores, (n_samples,), given those of others, (n_others, n_samples)."""
        own = own[np.newaxis]
        if self.groups is not None:
            return self.beyond(own, others)
        if self.model is not None:
            return float(GivenInModel.of(others, self.model).log_p(own)[0])
        return float(self._given.of(others, self._targets(), self.strata).log_p(own)[0])

    def of_levels(self, levels: IntArray, part: IntArray | None = None) -> float:
        """Return ln p of differences between levels of a variable, (n_samples,), within cells of the others of a tuple.

        Both are numbers from 0 on; without other members, all samples are one cell.

        Examples
        --------
        >>> import numpy as np
        >>> a, b = np.arange(80) % 2, np.arange(80) // 2 % 2
        >>> new = ClassClaims(codes=(a + b) % 2, n_classes=2)
        >>> new.of_levels(a) > -1, new.of_levels(a, b) < -40
        (True, True)
        """
        levels = numbered(levels)
        part = np.zeros(len(levels), dtype=np.int64) if part is None else numbered(part)
        cells = numbered(levels * (int(part.max(initial=0)) + 1) + part)
        n_levels = int(levels.max(initial=0)) + 1
        if n_levels < 2:
            return 0.0
        if self.groups is not None:
            return self.beyond(cell_columns(cells)[:, 1:].T, cell_columns(part)[:, 1:].T)
        if self.model is not None:
            return self._levels_in_model(levels, part, cells)
        within = numbered(part * (int(self._codes.max(initial=0)) + 1) + self._codes)
        return self._of_levels_within(levels, n_levels, within)

    def _levels_in_model(self, levels: IntArray, part: IntArray, cells: IntArray) -> float:
        assert self.model is not None
        of_part = cell_columns(part)[:, 1:]
        try:
            target = ResidualTarget.of(self.model.residuals(of_part if of_part.shape[1] else None))
        except NothingLeft:
            return 0.0
        by_ratio = self.beyond(cell_columns(cells).T, of_part.T)
        n_cells = int(cells.max()) + 1
        by_score = float(target.level_log_p(cells[np.newaxis], n_cells)[0])
        if n_cells <= 2:
            return max(by_ratio, by_score)
        used = np.unique(levels)[1:]
        inside = np.array([(levels == level) & (part == cell) for cell in np.unique(part) for level in used])
        of_each = target.log_p(inside.astype(np.float64))
        return max(by_ratio, by_score, _smallest(of_each))

    def beyond(self, own: FloatArray, base: FloatArray) -> float:
        """Return ln p of own columns, (n_own, n_samples), given those of a base, and the model.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(2, 100))
        >>> new = NumberClaims(scores=x[0] + rng.normal(size=100))
        >>> [bool(new.beyond(x[v : v + 1], x[1 - v : 2 - v]) < np.log(1e-6)) for v in (0, 1)]
        [True, False]
        """
        if self.model is not None:
            chi2, df = self.model.likelihood_ratio(base.T, own.T)
            return float(log_chi2_tail(np.array([chi2]), np.array([df]))[0]) if df else 0.0
        basis = orthonormal(centred_within(base, self._codes))
        added = orthonormal(beyond(centred_within(own, self._codes), basis))
        if self.groups is not None:
            return self._log_p_of_groups(added, basis)
        targets = orthonormal(beyond(centred_within(self._targets(), self._codes), basis))
        n_free = self.n_samples - int(self._codes.max(initial=0)) - 1 - len(basis)
        return pillai_log_p(targets @ added.T, n_free)

    # What the kinds of targets have of their own.

    _are_ordered: ClassVar[bool]
    _given: ClassVar[type[GivenOthers]]

    @property
    @abstractmethod
    def as_number(self) -> FloatArray:
        """The outcome as one number per sample: of classes, which is the second."""

    def measured(self, rows: IntArray, known: dict[str, Any], labels: tuple[str, ...]) -> dict[str, Any]:
        """Return the `known` fields of an outcome whose effects are measured, in some samples, as it is compared."""
        return known

    @property
    @abstractmethod
    def _labels(self) -> IntArray:
        """What changes places in permutations, (n_samples,)."""

    @abstractmethod
    def _targets(self, relabeled: IntArray | None = None) -> FloatArray:
        """Return what is compared, (n_targets, n_samples), after a permutation of the labels if one is given."""

    @property
    @abstractmethod
    def _numbers(self) -> NumberTarget | None:
        """The outcome as a number; None of more than two classes."""

    @abstractmethod
    def _of_many_ranks(self, normal: FloatArray, kind: str) -> float:
        """Return ln p of normal scores, or of their squares, (1, n_samples), of a variable of many values."""

    @abstractmethod
    def _of_level_ranks(self, levels: IntArray, n_levels: int, kind: str) -> float:
        """Return ln p of the ranks of a few levels."""

    @abstractmethod
    def _of_levels_within(self, levels: IntArray, n_levels: int, within: IntArray) -> float:
        """Return ln p of differences between levels within cells of other members, and strata."""

    @cached_property
    def _codes(self) -> IntArray:
        return np.zeros(self.n_samples, dtype=np.int64) if self.strata is None else self.strata

    @cached_property
    def _relabelings(self) -> list[FloatArray]:
        """Targets of allowed relabelings of whole groups, (n_targets, n_samples) each."""
        allowed = exchangeability(
            self._labels, groups=self.groups, strata=self.strata, order=self.order, are_ordered=self._are_ordered
        )
        drawn = allowed.relabelings(self.n_permutations, partial(random_stream, self.seed, Purpose.RELABELING))
        return [self._targets(relabeled) for relabeled in drawn]

    def _log_p_of_groups(self, added: FloatArray, basis: FloatArray) -> float:
        """Return ln of the share of relabelings whose trace is at least as large, the observed one counted."""

        def trace(targets: FloatArray) -> float:
            of_targets = orthonormal(beyond(centred_within(targets, self._codes), basis))
            return float(((of_targets @ added.T) ** 2).sum())

        observed = trace(self._targets())
        n_larger = sum(trace(targets) >= observed * (1 - 1e-9) for targets in self._relabelings)
        return float(np.log((1 + n_larger) / (1 + len(self._relabelings))))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassClaims(Claims):
    """Claims about classes: `codes` (n_samples,) int64, from 0 to `n_classes` − 1."""

    codes: IntArray
    n_classes: int
    _are_ordered: ClassVar[bool] = False
    _given: ClassVar[type[GivenOthers]] = GivenOthers

    @property
    def n_samples(self) -> int:
        return len(self.codes)

    @property
    def as_number(self) -> FloatArray:
        return np.asarray(self.codes == 1, dtype=np.float64)

    def measured(self, rows: IntArray, known: dict[str, Any], labels: tuple[str, ...]) -> dict[str, Any]:
        return {"codes": self.codes[rows], "labels": labels}

    @property
    def _labels(self) -> IntArray:
        return self.codes

    def _targets(self, relabeled: IntArray | None = None) -> FloatArray:
        return class_targets(self.codes if relabeled is None else relabeled, self.n_classes)

    @cached_property
    def _numbers(self) -> NumberTarget | None:
        return NumberTarget.of(self.as_number, self.strata) if self.n_classes == 2 else None

    def _of_many_ranks(self, normal: FloatArray, kind: str) -> float:
        if self._numbers is not None:
            return float(correlation_log_p(normal, self._numbers)[0])
        return float(score_log_p(normal, self._targets(), strata=self.strata)[0])

    def _of_level_ranks(self, levels: IntArray, n_levels: int, kind: str) -> float:
        counts = self._counts(levels, n_levels, self._codes)
        scores = level_scores(counts)
        return float(level_score_log_p(counts, scores**2 if kind == "spread" else scores)[0])

    def _of_levels_within(self, levels: IntArray, n_levels: int, within: IntArray) -> float:
        return float(conditional_log_p(self._counts(levels, n_levels, within), pseudocount=_PSEUDOCOUNT)[0])

    def _counts(self, levels: IntArray, n_levels: int, within: IntArray) -> IntArray:
        """Count samples, (1, n_levels, n_classes, n_strata)."""
        shape = (n_levels, self.n_classes, int(within.max(initial=0)) + 1)
        cell = np.ravel_multi_index((levels, self.codes, within), shape)
        return np.bincount(cell, minlength=int(np.prod(shape))).reshape(1, *shape).astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberClaims(Claims):
    """Claims about the scores of an outcome of numbers, (n_samples,) float64."""

    scores: FloatArray
    _are_ordered: ClassVar[bool] = True
    _given: ClassVar[type[GivenOthers]] = GivenNumbers

    @property
    def n_samples(self) -> int:
        return len(self.scores)

    @cached_property
    def _numbers(self) -> NumberTarget:
        return NumberTarget.of(self.scores, self.strata)

    @property
    def as_number(self) -> FloatArray:
        return self.scores

    @property
    def _labels(self) -> IntArray:
        return numbered(self.scores)

    def _targets(self, relabeled: IntArray | None = None) -> FloatArray:
        return (self.scores if relabeled is None else np.unique(self.scores)[relabeled])[np.newaxis]

    def _target(self, kind: str) -> NumberTarget:
        return self._numbers if kind != "noise" else NumberTarget.of(distances(self.scores, self.strata), self.strata)

    def _of_many_ranks(self, normal: FloatArray, kind: str) -> float:
        return float(correlation_log_p(normal, self._target(kind))[0])

    def _of_level_ranks(self, levels: IntArray, n_levels: int, kind: str) -> float:
        from scipy.special import ndtri

        target = self._target(kind)
        sizes, sums = self._sums(levels, n_levels, target)
        scores = ndtri(0.5 * (1 + np.where(sizes > 0, level_scores(sizes[:, :, np.newaxis]), 0.0)))
        scores = scores**2 if kind == "spread" else scores
        return float(level_correlation_log_p(sizes, sums, scores, target, DrawnLevels(target.scores))[0])

    def _of_levels_within(self, levels: IntArray, n_levels: int, within: IntArray) -> float:
        target = NumberTarget.of(self.scores, within)
        sizes, sums = self._sums(levels, n_levels, target)
        if target.n_strata == 1:
            return float(level_gain_log_p(sizes, sums, target, DrawnLevels(target.scores))[0])
        # The moments of a sum over cells say little where scores are skewed and a level has few samples.
        of_cells = []
        for stratum in range(target.n_strata):
            of_cell = NumberTarget.of(self.scores[within == stratum])
            here = slice(stratum, stratum + 1)
            drawn = DrawnLevels(of_cell.scores)
            of_cells.append(level_gain_log_p(sizes[:, :, here], sums[:, :, here], of_cell, drawn)[0])
        return max(float(level_gain_log_p(sizes, sums, target)[0]), _smallest(np.array(of_cells)))

    @staticmethod
    def _sums(levels: IntArray, n_levels: int, target: NumberTarget) -> tuple[IntArray, FloatArray]:
        """Return sizes and sums of scores, (1, n_levels, n_strata)."""
        cell, n_cells = levels * target.n_strata + target.strata, n_levels * target.n_strata
        shape = (1, n_levels, target.n_strata)
        sizes = np.bincount(cell, minlength=n_cells).astype(np.int64).reshape(shape)
        return sizes, np.bincount(cell, weights=target.scores, minlength=n_cells).astype(np.float64).reshape(shape)


def _smallest(log_p: FloatArray) -> float:
    """Return ln of the smallest p-value times the number of tests that could show anything."""
    n_tests = max(int(np.count_nonzero(log_p < 0)), 1)
    return min(float(np.min(log_p, initial=0.0)) + float(np.log(n_tests)), 0.0)
