"""Discretised columns and the suggested range, with the older package's numbers and names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import MAX_DISCRETIZATIONS, MAX_LEVELS
from interplay.base.checks import check_int, check_real, warn
from interplay.compat.arguments import check_seed
from interplay.data.codes.coder import make_coder
from interplay.data.study.rank_thresholds import NARROW_RANGE, suggest_range
from interplay.data.study.table import as_table


@dataclass(frozen=True, eq=False)
class DiscretizeResult:
    """A discretised column: ``discretized_var``, (n_samples,) int32."""

    discretized_var: npt.NDArray[np.int32]


def discretize(
    data: Any, *, variable_idx: int, divisions: int, discretization_nr: int, seed: int, range_: float
) -> DiscretizeResult:
    """Discretise one variable by rank.

    In new scripts, use `interplay.discretize`, which gives all variables and discretisations at once.

    Parameters
    ----------
    data : table-like, (n_samples, n_vars)
        The table: one row per sample, one column per variable.
    variable_idx : int
        Number of the variable, counted from 0.
    divisions : int
        Number of thresholds at which the variable is cut, which gives ``divisions + 1`` levels.
    discretization_nr : int
        Number of the discretisation, as `compute_max_ig` returns it: 0 is the first one, 1 the second. The older
        package uses the same numbers, but refuses 0.
    seed : int
        The same seed gives the same random draws as in the older package.
    range_ : float
        How much the thresholds vary between discretisations, from 0 (levels of equal size) to 1.

    Returns
    -------
    DiscretizeResult
        ``.discretized_var``

    Examples
    --------
    >>> from interplay import compat as mdfs
    >>> data = [[0.1], [0.9], [0.4], [0.7], [0.2], [0.6]]
    >>> mdfs.discretize(
    ...     data, variable_idx=0, divisions=1, discretization_nr=1, seed=0, range_=0.5
    ... ).discretized_var
    array([0, 1, 0, 1, 0, 1], dtype=int32)
    """
    table = as_table(data)
    variable = check_int("variable_idx", variable_idx, low=0, high=table.n_vars - 1)
    number = check_int("discretization_nr", discretization_nr, low=0, high=MAX_DISCRETIZATIONS - 1)
    coder = make_coder(
        as_table(table.block(variable, variable + 1).T),
        divisions=divisions,
        discretizations=number + 1,
        range_=range_,
        seed=check_seed(seed),
        discrete="none",
        first_variable=variable,
    )
    return DiscretizeResult(coder.codes(number).codes[0].astype(np.int32))


def get_suggested_range(n: int, dimensions: int, divisions: int, k: float = 3) -> float:
    """Suggest how much the thresholds may vary, so that the smallest cell expects `k` samples.

    In new scripts, use `interplay.suggest_range`, which returns 0 where this function raises.

    Parameters
    ----------
    n : int
        Number of samples.
    dimensions : int
        Number of variables in a tuple.
    divisions : int
        Number of thresholds at which each variable is cut.
    k : float
        Number of samples that the smallest cell of a tuple's table should expect.

    Returns
    -------
    float

    Warns
    -----
    UserWarning
        If the range is so narrow that all discretisations are nearly the same. The older package raises.

    Examples
    --------
    >>> from interplay import compat as mdfs
    >>> round(mdfs.get_suggested_range(2000, 2, 1), 4)
    0.9225
    """
    span = range_for_test(check_int("n", n, low=1), dimensions, divisions, check_real("k", k, low=0, low_open=True))
    if span < NARROW_RANGE:
        warn(
            f"with a range of {span:.2g} the discretizations hardly differ: use one discretization, or lower "
            "dimensions or divisions"
        )
    return span


def range_for_test(n_samples: int, dimensions: int, divisions: int, k: float = 3) -> float:
    """Return the suggested range, which must not be 0."""
    divisions = check_int("divisions", divisions, low=1, high=MAX_LEVELS - 1)
    span = suggest_range(n_samples, dimensions=dimensions, divisions=divisions, k=k)
    if span == 0:
        raise ValueError(
            f"range_: {n_samples} samples are too few for dimensions={dimensions} and divisions={divisions}: "
            "lower these, or give range_=0"
        )
    return span
