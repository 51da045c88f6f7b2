"""Intervals of an effect where samples belong to groups: a jackknife that leaves out whole groups."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from interplay.base.arrays import IntArray
from interplay.infer.effects.estimate import CONFIDENCE, Estimate

#: More groups than this are put together into this many blocks of equal numbers of groups.
_MAX_BLOCKS = 40

#: Fewer groups give no interval.
_FEWEST_BLOCKS = 4


def grouped_interval(measure: Callable[[IntArray], float], groups: IntArray, scale: str) -> Estimate:
    """Return an effect with an interval by the jackknife over groups.

    Parameters
    ----------
    measure : callable
        Numbers of samples → the effect in these.
    groups : (n_samples,) int64
    scale : {"logit", "log", "fisher", "plain"}
        The scale on which the effect is about normal.

    Examples
    --------
    >>> import numpy as np
    >>> numbers, groups = np.arange(40.0), np.repeat(np.arange(10), 4)
    >>> found = grouped_interval(lambda rows: float(numbers[rows].mean()), groups, "plain")
    >>> found.value, round(found.low, 1), round(found.high, 1)
    (19.5, 10.8, 28.2)
    """
    from scipy.special import stdtrit

    forth, back = _SCALES[scale]
    value = measure(np.arange(len(groups)))
    _, number = np.unique(groups, return_inverse=True)
    n_blocks = min(int(number.max(initial=-1)) + 1, _MAX_BLOCKS)
    if not math.isfinite(value) or n_blocks < _FEWEST_BLOCKS:
        return Estimate(value)
    block = number.reshape(-1) % n_blocks
    parts = [measure(np.flatnonzero(block != left_out)) for left_out in range(n_blocks)]
    scaled = np.array([forth(part) for part in parts if math.isfinite(part)])
    centre = forth(value)
    if len(scaled) < _FEWEST_BLOCKS or not np.isfinite(scaled).all() or not math.isfinite(centre):
        return Estimate(value)
    error = math.sqrt((len(scaled) - 1) / len(scaled) * float(((scaled - scaled.mean()) ** 2).sum()))
    reach = float(stdtrit(len(scaled) - 1, (1 + CONFIDENCE) / 2)) * error
    return Estimate(value, back(centre - reach), back(centre + reach))


def _logit(value: float) -> float:
    return math.log(value / (1 - value)) if 0 < value < 1 else math.inf


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-min(max(value, -700.0), 700.0)))


def _same(value: float) -> float:
    return value


_SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "logit": (_logit, _logistic),
    "log": (lambda value: math.log(value) if value > 0 else math.inf, math.exp),
    "fisher": (lambda value: math.atanh(value) if abs(value) < 1 else math.inf, math.tanh),
    "plain": (_same, _same),
}
