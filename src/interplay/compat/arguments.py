"""Arguments of the older package's functions: their descriptions, and the check of `seed`."""

from __future__ import annotations

from interplay.base.arguments import arguments_in
from interplay.base.checks import check_int
from interplay.base.seeds import SEED_LIMIT, resolve_seed

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
