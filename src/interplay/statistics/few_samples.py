"""Where samples are too few for χ², and what is said of it; docs/calibration.md shows where that is.

In 1D with one discretisation p-values come from χ² alone, and gains of two levels and classes take few values: there χ²
can be too bold, and a warning names what an exact test does not confirm. With more dimensions contrast variables have
the same few values, and the null is fitted to these. Where samples are fewer still, gains fall behind χ² and nothing
can be found: no harm, but who finds nothing should know.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from interplay.arrays import FloatArray, IntArray
from interplay.checks import shown
from interplay.statistics.exact_test import exact_p_value, smallest_expected
from interplay.statistics.p_values import adjust, relevant_mask

#: 2D and more: samples of the smallest class per degree of freedom. Two levels: 3 in each cell of a tuple's table.
MIN_PER_DEGREE_OF_FREEDOM = 6

#: Tables in which every cell expects this many samples are left to χ²: 1D noise is then selected in at most 6 %, by
#: exact computation over thousands of tables.
MAX_EXPECTED_FOR_EXACT = 200


class FewSamplesWarning(UserWarning):
    """Variables are relevant by χ², and not by an exact test, because there are few samples."""


def note_on_sparse_tuples(class_labels: list[str], class_sizes: IntArray, df: IntArray, *, dimensions: int) -> str:
    """Say that tuples have too few samples per cell for anything to be found; nothing if they have enough.

    `df` are the degrees of freedom of the variables.
    """
    per_class = float(np.median(df)) / (len(class_sizes) - 1) if len(df) else 0.0
    smallest = int(np.argmin(class_sizes))
    if class_sizes[smallest] >= MIN_PER_DEGREE_OF_FREEDOM * per_class:
        return ""
    return (
        f"class {shown(class_labels[smallest])} has {class_sizes[smallest]} samples, too few for the tables of "
        f"dimensions={dimensions} ({per_class:g} degrees of freedom): p-values are too large and true effects missed; "
        "lower dimensions or divisions, merge rare classes, or gather more samples"
    )


def warn_of_unconfirmed(
    names: list[str],
    p_values: FloatArray,
    tables: Sequence[tuple[int, IntArray]],
    *,
    n_runs: int,
    p_adjust: str,
    level: float,
    pseudocount: float,
) -> None:
    """Warn of variables that are relevant by χ² and not by the exact test.

    Parameters
    ----------
    names, p_values
        Of all variables.
    tables : sequence of (int, (n_levels, n_classes) array)
        Numbers of relevant variables, and their samples by level and class.
    n_runs : int
        The p-value of a variable is the smallest of so many, times their number.
    p_adjust, level, pseudocount
        As in `select`.
    """
    exact = p_values.copy()
    for v, counts in tables:
        if counts.shape == (2, 2) and smallest_expected(counts) < MAX_EXPECTED_FOR_EXACT:
            exact[v] = max(exact[v], min(n_runs * exact_p_value(counts, pseudocount=pseudocount), 1.0))
    confirmed = relevant_mask(adjust(exact, p_adjust, level=level), level=level)
    doubtful = [v for v, _ in tables if not confirmed[v]]
    if not doubtful:
        return
    first = doubtful[0]
    name = shown(names[first])
    others = f" and {len(doubtful) - 1} more" if len(doubtful) > 1 else ""
    warnings.warn(
        f"{name}{others}: relevant by chi-squared, which is too bold for so few samples, and not by an exact "
        f"test (p = {exact[first]:.2g} instead of {p_values[first]:.2g} for {name}, before adjustment): "
        "do not rely on it, or gather more samples",
        FewSamplesWarning,
        stacklevel=4,
    )
