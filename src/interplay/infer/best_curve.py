"""Orders found in parts of the samples → what the first n variables explain in the samples that were left out.

The model is ridge regression of the targets (indicators of classes, scores of numbers, residuals) on normal scores of
the variables, their squares, and products of the members of a tuple; the penalty is chosen by generalised
cross-validation. Order, penalty and coefficients never see the outcomes of the samples that they are judged by. Only
the effects of strata and covariates are taken out in all samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check
from interplay.infer.best_order import BestOrder

#: Numbers of variables that are tried.
_STEPS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 100)

#: Penalties, as multiples of the mean square of a column.
_PENALTIES = np.logspace(-3, 4, 15)


@dataclass(frozen=True, eq=False)
class BestCurve:
    """What the first n variables of an order for models explain in samples that had no part in it."""

    #: (n_steps,): numbers of variables.
    n: Annotated[IntArray, Check("n_steps", low=1)]
    #: (n_steps,): share of the variance of the outcome (of classes, of their indicators) that is predicted; below 0
    #: where the mean predicts better.
    explained: Annotated[FloatArray, Check("n_steps", high=1)]
    #: (n_steps,): how much less this is than the largest share.
    below_best: Annotated[FloatArray, Check("n_steps", low=0)]
    #: (n_steps,): standard error of that difference, over samples.
    error: Annotated[FloatArray, Check("n_steps", low=0)]

    @property
    def n_best(self) -> int:
        """The smallest number of variables that is within one standard error of the best."""
        return int(self.n[np.flatnonzero(self.below_best <= self.error)[0]])


def curve_steps(n_vars: int) -> IntArray:
    """Return the numbers of variables that are tried."""
    return np.array([n for n in _STEPS if n < n_vars] + [n_vars] * (n_vars <= _STEPS[-1]), dtype=np.int64)


def curve_of(losses: FloatArray, total: FloatArray, steps: IntArray) -> BestCurve:
    """Return the curve of squared errors of samples.

    - `losses` (n_steps, n_samples): squared errors of the first variables of each number.
    - `total` (n_samples,): those of the mean.
    """
    whole = max(float(total.sum()), 1e-300)
    explained = 1 - losses.sum(axis=1) / whole
    best = int(np.argmax(explained))
    beyond = losses - losses[best]
    n_samples = losses.shape[1]
    error = np.sqrt(((beyond - beyond.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)) / whole
    error *= np.sqrt(n_samples / max(n_samples - 1, 1))
    return BestCurve(steps, explained, explained[best] - explained, error)


def fold_losses(
    order: BestOrder, scores: FloatArray, targets: FloatArray, is_held: BoolArray, steps: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Return squared errors in held-out samples, (n_steps, n_held), and those of the mean, (n_held,).

    - `order`: made in the other samples.
    - `scores` (n_ordered, n_samples): of its variables, in its order.
    - `targets` (n_targets, n_samples), `is_held` (n_samples,).
    """
    here = ~is_held
    centred = targets - targets[:, here].mean(axis=1, keepdims=True)
    losses = []
    for n in steps:
        chosen = order.first(n)
        columns = _columns(scores, chosen, order.unit[chosen])
        columns = columns - columns[:, here].mean(axis=1, keepdims=True)
        spread = np.sqrt((columns[:, here] ** 2).mean(axis=1, keepdims=True))
        columns = np.divide(columns, spread, out=np.zeros_like(columns), where=spread > 1e-9)
        weights = _ridge(columns[:, here], centred[:, here])
        losses.append(((centred[:, is_held] - weights @ columns[:, is_held]) ** 2).sum(axis=0))
    return np.stack(losses), (centred[:, is_held] ** 2).sum(axis=0)


def _columns(scores: FloatArray, chosen: IntArray, units: IntArray) -> FloatArray:
    """Return scores, their squares, and products of all members of each tuple that came in whole."""
    rows = [scores[chosen], scores[chosen] ** 2]
    for unit in np.unique(units):
        members = chosen[units == unit]
        for size in range(2, len(members) + 1):
            for some in combinations(members.tolist(), size):
                product = scores[list(some)].prod(axis=0)
                rows.append(np.stack([product, np.sign(product)]))
    return np.vstack(rows)


def _ridge(columns: FloatArray, targets: FloatArray) -> FloatArray:
    """Return coefficients, (n_targets, n_columns), with the penalty of the smallest error by cross-validation."""
    n_samples = columns.shape[1]
    left, sizes, right = np.linalg.svd(columns, full_matrices=False)
    products = targets @ right.T
    rest = float((targets**2).sum() - (products**2).sum())
    smallest, best = np.inf, np.zeros(len(sizes))
    for penalty in _PENALTIES * n_samples:
        kept = sizes**2 / (sizes**2 + penalty)
        errors = rest + float((((1 - kept) * products) ** 2).sum())
        score = errors / max(1 - (1 + float(kept.sum())) / n_samples, 1e-6) ** 2
        if score < smallest:
            smallest, best = score, np.divide(kept, sizes, out=np.zeros_like(sizes), where=sizes > 1e-9)
    return np.asarray((products * best) @ left.T)
