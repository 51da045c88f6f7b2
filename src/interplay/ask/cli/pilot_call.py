"""A call, or the same call of fewer variables, is made and timed → the seconds of a whole call, statistics included.

What comes after a search depends on what is found: on hits, levels, covariates, missing values. No formula tells it as
well as the call itself, which is bounded in time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray

#: Seconds of the search of the pilot call; a search that is expected to take less is made as a whole.
_SEARCH_SECONDS = 2.0

#: The pilot call is stopped after this.
_MOST_SECONDS = 10.0

#: Of fewer variables a call says little.
_FEWEST = 50


class _Stopped(Exception):
    """The pilot call takes too long."""


def whole_seconds(
    call: Callable[[IntArray | None, Callable[[float], None]], Any],
    *,
    n_vars: int,
    dimensions: int,
    of_search: float,
    share_of_search: float,
    can_choose: bool = True,
    growth: int = 1,
) -> float:
    """Return the seconds of a call.

    - `call`: makes the call of some variables, or of all with None, and tells a function its progress.
    - `of_search`: expected seconds of the search.
    - `share_of_search`: the share of the progress that is told when the search ends.
    - `can_choose`: whether the call can be made of some variables.
    - `growth`: with how many times as many variables, to which power, statistics take longer.
    """
    n_kept = n_vars
    if of_search > _SEARCH_SECONDS and can_choose:
        n_kept = min(n_vars, max(_FEWEST, int(n_vars * (_SEARCH_SECONDS / of_search) ** (1 / dimensions))))
    elif of_search > _MOST_SECONDS:
        return of_search
    kept = None if n_kept == n_vars else np.unique(np.linspace(0, n_vars - 1, n_kept).astype(np.int64))
    began = time.perf_counter()
    searched: float | None = None
    share = 0.0

    def told(done: float) -> None:
        nonlocal searched, share
        elapsed = time.perf_counter() - began
        share = done
        if searched is None and done >= share_of_search - 1e-9:
            searched = elapsed
        if elapsed > _MOST_SECONDS:
            raise _Stopped

    is_whole = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(kept, told)
        except _Stopped:
            is_whole = False
    elapsed = time.perf_counter() - began
    searched = elapsed if searched is None else searched
    after = elapsed - searched
    if not is_whole:
        after *= (1 - share_of_search) / max(share - share_of_search, 0.01 * (1 - share_of_search))
    if kept is None:
        return max(of_search, searched) + after if not is_whole else elapsed
    return of_search + after * (n_vars / n_kept) ** growth
