"""Columns of variables in new samples → p-values of each in the way in which it was found, given other columns.

Classes and numbers: Pillai's trace of a linear model, as in `short_list`; with groups of samples, by permutations of
whole groups. Times: the likelihood ratio of Cox's models. All columns and targets are centred within strata; times have
a baseline hazard in each stratum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, numbered
from interplay.base.chi_squared import log_chi2_tail
from interplay.base.seeds import Purpose, random_stream
from interplay.models.cox import fit_cox
from interplay.statistics.given_test import centred_within
from interplay.statistics.permutations import exchangeability
from interplay.statistics.score_test import class_targets
from interplay.statistics.short_list import beyond, orthonormal, pillai_log_p


@dataclass(frozen=True, eq=False)
class NewSamples:
    """The outcome of new samples: classes, scores of numbers, or times.

    Attributes
    ----------
    codes, n_classes : (n_samples,) int64, int
        Classes, if the outcome has any.
    scores : (n_samples,) float64, optional
        Of an outcome of numbers.
    time, event : (n_samples,), optional
        Times that may be censored.
    strata, groups : (n_samples,) int64, optional
    covariates : (n_samples, n_columns) float64, optional
        Columns that every test is given.
    n_permutations, seed : int
        Of groups.
    """

    codes: IntArray | None = None
    n_classes: int = 0
    scores: FloatArray | None = None
    time: FloatArray | None = None
    event: BoolArray | None = None
    strata: IntArray | None = None
    groups: IntArray | None = None
    covariates: FloatArray | None = None
    n_permutations: int = 999
    seed: int = 0

    @property
    def n_samples(self) -> int:
        known = next(each for each in (self.codes, self.scores, self.time) if each is not None)
        return len(known)

    def log_p(self, own: FloatArray, base: FloatArray) -> float:
        """Return ln p of own columns, (n_own, n_samples), given those of a base and the covariates.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(2, 100))
        >>> new = NewSamples(scores=x[0] + rng.normal(size=100))
        >>> [bool(new.log_p(x[v : v + 1], x[1 - v : 2 - v]) < np.log(1e-6)) for v in (0, 1)]
        [True, False]
        """
        if self.covariates is not None:
            base = np.vstack([base, self.covariates.T])
        if self.time is not None and self.event is not None:
            return self._log_p_of_times(own, base)
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

    def _log_p_of_times(self, own: FloatArray, base: FloatArray) -> float:
        assert self.time is not None
        assert self.event is not None
        fits = [
            fit_cox(self.time, self.event, np.ascontiguousarray(columns.T), strata=self.strata)
            for columns in (base, np.vstack([base, own]))
        ]
        df = fits[1].rank - fits[0].rank
        if df <= 0:
            return 0.0
        chi2 = max(2 * (fits[1].log_likelihood - fits[0].log_likelihood), 0.0)
        return float(log_chi2_tail(np.array([chi2]), np.array([df]))[0])

    @cached_property
    def _relabelings(self) -> list[FloatArray]:
        """Targets of allowed relabelings of whole groups, (n_targets, n_samples) each."""
        labels = self.codes if self.scores is None else numbered(self.scores)
        assert labels is not None
        allowed = exchangeability(labels, groups=self.groups, strata=self.strata, are_ordered=self.codes is None)
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
