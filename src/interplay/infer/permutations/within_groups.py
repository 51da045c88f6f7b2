"""Scores of columns + relabelings → correlations of each with the outcome within groups.

Where the outcome varies within groups, gains count what the samples of a group have in common as noise: a patient's own
level hides what changes between visits. Scores less their mean in the group do not have it, and what rises with the
outcome in all groups adds up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, normal_scores

#: Scores of labels that are in memory at once.
_MAX_SCORES = 1 << 24


def label_scores(codes: IntArray, *, are_ordered: bool) -> FloatArray:
    """Return the scores of each label, (n_labels, n_scores): normal scores of ordered ones, else one for each class.

    Examples
    --------
    >>> label_scores(np.array([0, 1, 1, 1]), are_ordered=False).round(2).tolist()
    [[1.0, 0.0], [0.0, 0.58]]
    """
    sizes = np.bincount(codes)
    if not are_ordered:
        return np.diag(1 / np.sqrt(np.maximum(sizes, 1)))
    scores = np.zeros((len(sizes), 1))
    scores[codes, 0] = normal_scores(codes.astype(np.float64))
    return scores


def squared_correlations(
    columns: FloatArray, cells: IntArray, labelings: Sequence[IntArray], of_label: FloatArray
) -> FloatArray:
    """Return squared correlations within cells, (n_labelings, n_columns), up to a factor that all have in common.

    - `columns` (n_columns, n_samples): scores; those that are the same within all cells have no correlation (NaN).
    - `cells` (n_samples,): the group, and stratum, of each sample, from 0 on.
    - `labelings`: of (n_samples,) each.
    - `of_label` (n_labels, n_scores): as `label_scores` returns them.

    Examples
    --------
    >>> columns, cells = np.array([[0.0, 1, 5, 6]]), np.array([0, 0, 1, 1])
    >>> labelings = [np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])]
    >>> of_label = label_scores(labelings[0], are_ordered=False)
    >>> squared_correlations(columns, cells, labelings, of_label).round(6).tolist()
    [[1.0], [0.0]]
    """
    sizes = np.maximum(np.bincount(cells), 1)
    means = np.array([np.bincount(cells, column) for column in columns]) / sizes
    within = columns - means[:, cells]
    squares = (within**2).sum(axis=1)
    squares = np.where(squares > 1e-12 * np.maximum((columns**2).sum(axis=1), 1e-300), squares, np.nan)
    found = np.empty((len(labelings), len(columns)))
    at_once = max(1, _MAX_SCORES // (len(cells) * of_label.shape[1]))
    for begin in range(0, len(labelings), at_once):
        scores = of_label[np.array(labelings[begin : begin + at_once])]  # (n, n_samples, n_scores)
        sums = np.tensordot(scores, within, axes=(1, 1))
        found[begin : begin + at_once] = (sums**2).sum(axis=1) / squares
    return found
