"""Power as a function of the number of samples → the fewest samples that reach a power."""

from __future__ import annotations

from collections.abc import Callable

#: Fewest and most samples that are tried.
FEWEST, MOST = 8, 100_000_000


def samples_needed(power_of: Callable[[int], float], wanted: float) -> int | None:
    """Return the fewest samples from which on the power is as wanted, by doubling and bisection; None of too many.

    Examples
    --------
    >>> samples_needed(lambda n: min(1.0, n / 1000), 0.8)
    800
    """
    low, high = FEWEST, FEWEST
    while power_of(high) < wanted:
        if high >= MOST:
            return None
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= wanted else (middle, high)
    return high
