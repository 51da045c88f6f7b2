"""The functions of the older package ``mdfs`` (PyPI, version 1.5.2), for scripts that were written for it.

::

    from interplay import compat as mdfs

Names, arguments and results are the same as in that package. For the same seed the numbers are the same as well, up to
its float32 rounding. Contrast variables and seeds work as in that package. So do its peculiarities that affect results:
a single discretisation is random too, number 1 is the second discretisation, and `fit_p_value` with contrast variables
has a search of its own and leaves out one variable more than ``ign_low_ig_vars_num`` says.

Faults of that package are corrected:

- The data may be any table, and the decision (the outcome) any labels with two or more classes.
- `run` works in 1D with one discretisation and without contrast variables.
- The functions for discrete data work.
- Gains are float64.
- `compute_tuples` accepts ``interesting_vars``, with which the older package fails, and averages rows and matrices.
- p-values below 1e-16 keep their value, and no p-value exceeds 1.
- A fit that ends at its bounds, or a narrow suggested range, gives a warning instead of an exception. A fit that would
  give negative p-values is an error.
- A variable that was in no tuple has the numbers −1, not uninitialised memory.

In a new script, use these functions instead:

=========================  ==========================================================================================
compat                     interplay
=========================  ==========================================================================================
`run`                      `interplay.select`, with ``fit="lsq"`` for the same kind of null
`compute_max_ig`           `interplay.max_information_gain`, with ``discrete="none"``
`compute_max_ig_discrete`  `interplay.max_information_gain`, with ``discrete="all"``
`compute_tuples`           `interplay.interesting_tuples`, with ``discrete="none"``
`compute_tuples_discrete`  `interplay.interesting_tuples`, with ``discrete="all"``
`fit_p_value`              `interplay.fit_null`, with ``fit="lsq"``; it takes gains rather than χ² probabilities
`discretize`               `interplay.discretize`
`get_suggested_range`      `interplay.suggest_range`
`gen_contrast_variables`   `interplay.contrast_variables`; other draws for the same seed
=========================  ==========================================================================================

The arguments have these new names:
``data`` → ``X``, ``decision`` → ``y``, ``seed`` → ``random_state``, ``pc_xi`` → ``pseudocount``,
``p_adjust_method`` → ``p_adjust``, ``contrast_data`` → ``contrast``, ``interesting_vars`` → ``variables``,
``require_all_vars=True`` → ``require="all"``, ``ig_thr`` → ``min_gain``, ``stat_mode`` → ``stat``, ``return_matrix`` →
``as_matrix``, ``use_CUDA`` → ``engine``. Some messages use the new names.

The functions are in max_gains.py, compute_tuples.py, selection.py and codes.py; codes.py
describes their arguments and checks their seeds.
"""

from interplay.compat.codes import discretize, get_suggested_range
from interplay.compat.compute_tuples import StatMode, compute_tuples, compute_tuples_discrete
from interplay.compat.max_gains import compute_max_ig, compute_max_ig_discrete
from interplay.compat.selection import fit_p_value, gen_contrast_variables, run

__all__ = [
    "StatMode",
    "compute_max_ig",
    "compute_max_ig_discrete",
    "compute_tuples",
    "compute_tuples_discrete",
    "discretize",
    "fit_p_value",
    "gen_contrast_variables",
    "get_suggested_range",
    "run",
]
