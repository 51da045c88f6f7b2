"""Columns of variables in new samples → p-values of each in the way in which it was found, given other columns.

Classes and numbers: Pillai's trace of a linear model, as in `short_list`; with groups of samples, by permutations of
whole groups. All columns and targets are centred within strata. With covariates, an offset or times: the likelihood
ratio of full models, linear, logistic or Cox's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.chi_squared import log_chi2_tail
from interplay.base.seeds import Purpose, random_stream
from interplay.data.study.full_model import FullModel
from interplay.infer.given_test import centred_within
from interplay.infer.permutations import exchangeability
from interplay.infer.score_test import class_targets
from interplay.infer.short_list import beyond, orthonormal, pillai_log_p


@dataclass(frozen=True, eq=False)
class NewSamples:
    """The outcome of new samples: classes, scores of numbers, or a model.

    Attributes
    ----------
    codes, n_classes : (n_samples,) int64, int
        Classes, if the outcome has any.
    scores : (n_samples,) float64, optional
        Of an outcome of numbers.
    strata, groups, order : (n_samples,) int64, optional
    model : FullModel, optional
        With covariates, an offset or times; then without groups.
    n_permutations, seed : int
        Of groups.
    """

    codes: IntArray | None = None
    n_classes: int = 0
    scores: FloatArray | None = None
    strata: IntArray | None = None
    groups: IntArray | None = None
    order: IntArray | None = None
    model: FullModel | None = None
    n_permutations: int = 999
    seed: int = 0

    @property
    def n_samples(self) -> int:
        if self.model is not None:
            return self.model.n_samples
        known = self.codes if self.scores is None else self.scores
        assert known is not None
        return len(known)

    def log_p(self, own: FloatArray, base: FloatArray) -> float:
        """Return ln p of own columns, (n_own, n_samples), given those of a base, and the model.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(2, 100))
        >>> new = NewSamples(scores=x[0] + rng.normal(size=100))
        >>> [bool(new.log_p(x[v : v + 1], x[1 - v : 2 - v]) < np.log(1e-6)) for v in (0, 1)]
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

    @cached_property
    def _codes(self) -> IntArray:
        return np.zeros(self.n_samples, dtype=np.int64) if self.strata is None else self.strata

    def _targets(self, relabeled: IntArray | None = None) -> FloatArray:
        if self.codes is not None:
            return class_targets(self.codes if relabeled is None else relabeled, self.n_classes)
        assert self.scores is not None
        return (self.scores if relabeled is None else np.unique(self.scores)[relabeled])[np.newaxis]

    @cached_property
    def _relabelings(self) -> list[FloatArray]:
        """Targets of allowed relabelings of whole groups, (n_targets, n_samples) each."""
        labels = self.codes if self.scores is None else numbered(self.scores)
        assert labels is not None
        allowed = exchangeability(
            labels, groups=self.groups, strata=self.strata, order=self.order, are_ordered=self.codes is None
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
