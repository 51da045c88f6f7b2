"""What is known of samples beside variables and outcome: strata, groups, covariates, offset, as one argument."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.models.linear import independent_columns
from interplay.data.study.covariates import Covariates
from interplay.data.study.groups import Groups
from interplay.data.study.strata import Strata


@dataclass(frozen=True, eq=False)
class Design:
    """Strata, groups, covariates and offset of some samples, as far as there are any.

    Attributes
    ----------
    n_samples : int
    strata : Strata, optional
        Samples are compared within strata; in a model, each has a constant, or a baseline hazard, of its own.
    groups : Groups, optional
        Samples that belong together.
    covariates : Covariates, optional
    offset : (n_samples,) float64, optional
        The known part of the outcome: means, log odds of the second class, or log hazards.
    """

    n_samples: int
    strata: Strata | None = None
    groups: Groups | None = None
    covariates: Covariates | None = None
    offset: FloatArray | None = None

    @property
    def adjusts(self) -> bool:
        """Whether outcomes are adjusted: for covariates, or an offset."""
        return self.covariates is not None or self.offset is not None

    @property
    def stratum(self) -> IntArray | None:
        """Stratum of each sample, (n_samples,)."""
        return None if self.strata is None else self.strata.codes

    @property
    def n_constants(self) -> int:
        """The first columns, which are constants: one, or one for each stratum."""
        return 1 if self.strata is None else self.strata.n_strata

    @property
    def known(self) -> FloatArray:
        """Covariates, (n_samples, n_columns); there may be none."""
        return np.empty((self.n_samples, 0)) if self.covariates is None else self.covariates.design

    def columns(self, more: FloatArray | None = None) -> FloatArray:
        """Return the columns of a model: a constant for each stratum, covariates, and some more; none is a sum."""
        return self._columns if more is None else independent_columns(np.hstack([self._columns, more]))

    @cached_property
    def _columns(self) -> FloatArray:
        codes = np.zeros(self.n_samples, dtype=np.int64) if self.strata is None else self.strata.codes
        constants = np.asarray(codes[:, np.newaxis] == np.arange(int(codes.max(initial=0)) + 1), dtype=np.float64)
        return independent_columns(np.hstack([constants, self.known]))

    def smoothed(self, n_informative: int) -> Design:
        """Add splines of the covariates that are numbers to their columns, as many as samples allow for."""
        known = self.covariates
        if known is None:
            return self
        return replace(self, covariates=Covariates(known.names, known.smooth(n_informative)))

    def of_samples(self, rows: IntArray) -> Design:
        """Return the design of some samples."""
        return Design(
            len(rows),
            None if self.strata is None else self.strata.of_samples(rows),
            None if self.groups is None else self.groups.of_samples(rows),
            None if self.covariates is None else self.covariates.of_samples(rows),
            None if self.offset is None else self.offset[rows],
        )
