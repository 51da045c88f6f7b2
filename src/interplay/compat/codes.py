"""Discretised columns and the suggested range, with the older package's numbers and names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import arguments_in
from interplay.base.arrays import MAX_DISCRETIZATIONS, MAX_LEVELS
from interplay.base.checks import check_int, check_real, warn
from interplay.base.seeds import SEED_LIMIT, resolve_seed
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


COMPAT_ARGUMENTS = arguments_in(
    """
    data : table-like, (n_samples, n_vars)
        The table: one row per sample, one column per variable.
    decision : (n_samples,) array-like
        The outcome to explain: classes of any kind, two or more.
    contrast_data : table-like, (n_samples, n_contrast), optional
        Contrast variables, such as `gen_contrast_variables` makes.
    dimensions : int
        Number of variables in a tuple: 1 looks at each variable alone, 2 at all pairs, and so on.
    divisions : int
        Number of thresholds at which each variable is cut, which gives ``divisions + 1`` levels.
    discretizations : int
        Number of random sets of thresholds to try. The gain of a variable is its maximum over all of them.
    seed : int, optional
        The same seed gives the same random draws as in the older package. None draws a new seed.
    range_ : float, optional
        How much the thresholds vary between discretisations, from 0 (levels of equal size) to 1. By default
        `get_suggested_range`, so that the thresholds of a single discretisation are random too.
    pc_xi : float
        The pseudocount, which is added to the count of the rarest class in each cell, and in proportion to the class
        sizes for the other classes.
    ig_thr : float
        List only values above this; 0 lists everything.
    i_lower : ignored
        A shortcut of the older package that changes its values slightly. Here it has no effect.
    return_tuples : bool
        Whether to return the tuples and the numbers of the discretisations as well.
    interesting_vars : iterable of int, optional
        Look only at tuples that contain at least one of these variables, or, with `require_all_vars`, only at tuples
        that consist of them. An empty list is no restriction.
    require_all_vars : bool
        Whether all members of a tuple must be among `interesting_vars`.
    return_matrix : bool
        In 2D without a threshold, return a matrix instead of rows: ``stats[i, j]`` is the value of variable i in the
        pair with j.
    stat_mode : StatMode
        The statistic: ``StatMode.MI``, ``StatMode.H`` or ``StatMode.VI``, or their numbers.
    use_CUDA : bool
        Accepted and ignored: the engine is the one that ``engine="auto"`` chooses, and all engines give the same
        numbers.
    """
)

#: More about `data`: of functions that cut every column, and of functions for discrete variables.
CUT_DATA = arguments_in(
    """
    data
        ...

        Every column is discretised by rank, also one with few distinct values.
    """,
    COMPAT_ARGUMENTS,
)
DISCRETE_DATA = arguments_in(
    """
    data
        ...

        Each distinct value is a level.
    """,
    COMPAT_ARGUMENTS,
)
#: More about arguments of functions that find maximum gains, and of functions that list tuples.
OF_MAXIMA = arguments_in(
    """
    interesting_vars
        ...

        In 1D, contrast variables have gains all the same.
    """,
    COMPAT_ARGUMENTS,
)
OF_TUPLES = arguments_in(
    """
    decision : (n_samples,) array-like, optional
        ...

        Without an outcome, the values are about the variables alone, in bits per sample.
    dimensions
        ...

        A tuple must have at least two variables.
    """,
    COMPAT_ARGUMENTS,
)


def check_seed(seed: int | None) -> int:
    """Return the seed; a fresh one for None."""
    return resolve_seed(None) if seed is None else check_int("seed", seed, low=0, high=SEED_LIMIT - 1)
