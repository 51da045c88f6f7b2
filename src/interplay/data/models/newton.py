"""A concave log-likelihood → its maximum, also where coefficients grow without end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.base.arrays import FloatArray

#: Newton's steps. Of a cell of one class only, a coefficient grows by 1 in each, and the likelihood converges.
_MAX_STEPS = 60

#: A step that raises the log-likelihood by less ends the search.
_ENOUGH = 1e-9

#: The diagonal of the information grows by this share: coefficients that grow without end leave it singular.
_RIDGE = 1e-12

#: Returns gradient and information.
Slopes = Callable[[], tuple[FloatArray, FloatArray]]

#: Coefficients, by class and column → log-likelihood, and a function that returns gradient and information there.
Likelihood = Callable[[FloatArray], tuple[float, Slopes]]


def largest_likelihood(likelihood: Likelihood, start: FloatArray) -> tuple[float, FloatArray]:
    """Climb to the top of a concave log-likelihood by Newton's method, with steps that are halved where too long."""
    b = start
    value, slopes = likelihood(b)
    for _ in range(_MAX_STEPS):
        gradient, information = slopes()
        diagonal = np.einsum("ii->i", information)  # a view
        diagonal[:] = diagonal * (1 + _RIDGE) + 1e-300
        try:
            step = np.linalg.solve(information, gradient).reshape(b.shape)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(information, gradient, rcond=None)[0].reshape(b.shape)
        for halvings in range(20):
            better, there = likelihood(b + step / 2**halvings)
            if better >= value - _ENOUGH:
                break
        else:  # no step leads up: rounding is all that is left
            return value, b
        gained, value, slopes, b = better - value, better, there, b + step / 2**halvings
        if abs(gained) < _ENOUGH:
            break
    return value, b
