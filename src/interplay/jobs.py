"""How many threads a call may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from interplay.checks import check_int

Item = TypeVar("Item")
Result = TypeVar("Result")


def resolve_n_jobs(n_jobs: Any) -> int:
    """Return the number of threads that `n_jobs` asks for, in scikit-learn's sense.

    None is one thread (or what an enclosing ``joblib.parallel_config`` says), -1 is every core, -2 all but one.
    """
    if n_jobs is not None:
        n_jobs = check_int("n_jobs", n_jobs, low=-(2**15), high=2**15)
        if n_jobs == 0:
            raise ValueError("n_jobs must not be 0: use a number of threads, -1 for every core, or None for one")
    # joblib comes with scikit-learn; it is imported late because it is slow to import.
    from joblib import effective_n_jobs

    return max(1, int(effective_n_jobs(n_jobs)))


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> list[Result]:
    """Apply `work` to each item, in threads when there are several, and return the results in the items' order.

    NumPy releases the interpreter lock while it sorts, compares and copies, so threads are enough.
    """
    if n_threads == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        return list(pool.map(work, items))
