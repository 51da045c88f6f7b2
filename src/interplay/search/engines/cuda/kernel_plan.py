"""The kernels of a search or a list, known before it begins: they are compiled all at once."""

from __future__ import annotations

import numpy as np

from interplay.search.engines.cuda.kernel_loader import Kernel
from interplay.search.engines.cuda.kernels import EVERY_MEMBER, NUMBERS
from interplay.search.engines.cuda.work_plan import WorkPlan

#: The kernels that score tuples exactly.
GAINS = ("information/information_gain.cu", "score_tuples")
STATISTIC = ("information/tuple_statistic.cu", "score_statistic")


def score_options(plan: WorkPlan) -> tuple[str, ...]:
    """Return the options of the kernels that score tuples."""
    rule = ((EVERY_MEMBER,) if plan.every_member else ()) + ((NUMBERS,) if plan.orders is not None else ())
    return (
        f"-DDIMENSIONS={plan.dimensions}",
        f"-DCLASSES={plan.n_classes}",
        f"-DLEVELS={plan.scored_levels}",
        f"-DTHREADS_OF_TUPLE={plan.threads_of_tuple}",
        *rule,
    )


def list_options(plan: WorkPlan) -> tuple[str, ...]:
    """Return the options of the kernels that list tuples, or a sample of them."""
    return (f"-DDIMENSIONS={plan.dimensions}",)


def kernels_of(
    plan: WorkPlan, n_tiles: int, *, samples: bool, bounds: bool, scores: tuple[str, str] = GAINS
) -> list[Kernel]:
    """Return all kernels of a search of these tiles.

    Parameters
    ----------
    samples : bool
        Whether a sample of tuples is scored before all others.
    bounds : bool
        Whether tuples are bounded; otherwise all are scored.
    scores : (str, str)
        The file and the function that score tuples.
    """
    variants = [variant for _, variant in plan.by_variant(np.arange(n_tiles))] if bounds else [None]
    kernels: list[Kernel] = [plan.fragments_kernel, (*scores, score_options(plan))]
    if samples and plan.dimensions > 1:
        kernels.append(("tuples/tuple_list.cu", "sample_tuples", list_options(plan)))
    if None in variants:
        kernels.append(("tuples/tuple_list.cu", "list_tuples", list_options(plan)))
    for variant in variants:
        if variant is not None:
            kernels += variant.kernels()
    return list(dict.fromkeys(kernels))
