"""Run: one search of a selection and its null fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, MaxGains
from interplay.base.chi_squared import log_chi2_tail
from interplay.codes.cuts import OutcomeCuts, VariableCuts
from interplay.results.synergy_table import Explanations
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.null_fit import NullFit


@dataclass(frozen=True, eq=False)
class Run:
    """One search and its null fit.

    A selection has one for each size of tuples and each comparison of classes; of the latter there are several only for
    ``multiclass="ovo"`` or ``"ovr"``.

    Attributes
    ----------
    decision : str
        What was told apart: "all classes", "a vs b", "a vs rest".
    class_labels : list of str
    class_sizes : (n_classes,) int64
    gains : MaxGains
    gain_alone : (n_vars,) float64
        Gains in 1D.
    contrast_sources : (n_contrast,) int64
        The variable each contrast variable is a permutation of.
    null_fit : NullFit
    explanations : Explanations or None
        The best tuples of each relevant variable; None in 1D.
    df_alone : (n_vars,) int64 or None
        Degrees of freedom of `gain_alone`; None in results of earlier versions.
    tested : tuple of TestedTuples
        Tests of the interactions of these tuples and of their parts: of two members, of three, … and of all. They are
        adjusted for all tuples, all sizes having an equal share of the error rate. Nothing in 1D, and where they were
        not made.
    cuts : tuple of VariableCuts
        How the members of these tuples were cut into levels.
    outcome : OutcomeCuts or None
        The classes of the outcome, and how they were cut.
    """

    decision: str
    class_labels: list[str]
    class_sizes: IntArray
    gains: MaxGains
    gain_alone: FloatArray
    contrast_sources: IntArray
    null_fit: NullFit
    explanations: Explanations | None = None
    df_alone: IntArray | None = None
    tested: tuple[TestedTuples, ...] = ()
    cuts: tuple[VariableCuts, ...] = ()
    outcome: OutcomeCuts | None = None

    @property
    def log_p_alone(self) -> FloatArray | None:
        """Natural logarithm of the χ² tail of each variable's gain alone; None if the degrees of freedom are not known.

        To advise by, not to select by: 1D has an exact test.
        """
        if self.df_alone is None:
            return None
        return log_chi2_tail(2 * np.log(2) * np.maximum(self.gain_alone, 0.0), self.df_alone)

    @property
    def dimensions(self) -> int:
        """Number of variables in a tuple."""
        return self.gains.dimensions


def smallest_log_p(runs: Sequence[Run]) -> FloatArray:
    """Return ln p of each variable over comparisons of classes: the smallest p times their number; of one, plain p."""
    log_p = np.min([run.null_fit.log_p_values() for run in runs], axis=0) + np.log(len(runs))
    return np.asarray(np.minimum(log_p, 0.0))
