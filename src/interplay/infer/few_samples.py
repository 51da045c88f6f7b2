"""A note where samples are too few for anything to be found in 2D and more.

Contrast variables have the same few values as the others, and the null is fitted to these, so p-values hold. Where
samples are so few that gains stay below those of χ², p-values are too large and nothing can be found: users who find
nothing should know this reason. docs/calibration.md shows where that is. (In 1D p-values come from an exact test.)
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import shown

#: 2D and more: samples of the smallest class per degree of freedom. Two levels: 3 in each cell of a tuple's table.
MIN_PER_DEGREE_OF_FREEDOM = 6


class FewSamplesWarning(UserWarning):
    """Variables are relevant by χ², and not by an exact test, because there are few samples.

    This warning is no longer given, because p-values in 1D come from an exact test. The name stays for filters that
    mention it.
    """


def note_on_sparse_tuples(class_labels: list[str], class_sizes: IntArray, df: IntArray, *, dimensions: int) -> str:
    """Say that tuples have too few samples per cell for anything to be found; nothing if they have enough.

    `df` are the degrees of freedom of the variables. Numbers have no classes: no labels, and the size of all.
    """
    if not class_labels:
        return _note_on_numbers(int(class_sizes.sum()), float(np.median(df)) if len(df) else 0.0, dimensions)
    per_class = float(np.median(df)) / (len(class_sizes) - 1) if len(df) else 0.0
    smallest = int(np.argmin(class_sizes))
    if class_sizes[smallest] >= MIN_PER_DEGREE_OF_FREEDOM * per_class:
        return ""
    return (
        f"class {shown(class_labels[smallest])} has {class_sizes[smallest]} samples, too few for the tables of "
        f"dimensions={dimensions} ({per_class:g} degrees of freedom): p-values are too large and true effects are "
        "missed; lower dimensions or divisions, merge rare classes, or gather more samples"
    )


def _note_on_numbers(n_samples: int, df: float, dimensions: int) -> str:
    if n_samples >= 2 * MIN_PER_DEGREE_OF_FREEDOM * df:
        return ""
    return (
        f"{n_samples} samples are too few for the tables of dimensions={dimensions} ({df:g} degrees of freedom): "
        "p-values are too large and true effects are missed; lower dimensions or divisions, or gather more samples"
    )
