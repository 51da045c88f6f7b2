"""Tuples in the buffer of a device → their exact scores, as candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.search.engines.cuda.device_state import ChosenTiles, DeviceState
from interplay.search.engines.cuda.kernel_loader import allow_shared_memory, compiled
from interplay.search.engines.cuda.kernel_plan import GAINS, score_options


def launch_gains(state: DeviceState, tiles: ChosenTiles, *, best_is_fixed: bool) -> None:
    """Note the gains in the buffer's tuples that reach the best of their slots, or exceed it if it is fixed."""
    launch_scores(
        state,
        GAINS,
        (*state.tables, state.multiplicity_of_levels, np.float64(state.data.tables.unit)),
        tiles,
        (state.best, np.int32(best_is_fixed)),
        state.known_counts or (np.uintp(0), np.int32(0)),
    )


def launch_scores(
    state: DeviceState,
    scores: tuple[str, str],
    tables: tuple[Any, ...],
    tiles: ChosenTiles,
    best: tuple[Any, ...],
    counts: tuple[Any, ...] = (),
) -> None:
    """Score the buffer's tuples.

    Parameters
    ----------
    state : DeviceState
    scores : (str, str)
        The file and the function that score tuples.
    tables, best, counts : tuples of device arrays and numbers
        The arguments in which such functions differ.
    tiles : ChosenTiles
        The tiles of the tuples.
    """
    plan = state.plan
    kernel = compiled(*scores, score_options(plan))
    tuples_of_warp = 32 // plan.threads_of_tuple
    counters_bytes = 4 * tuples_of_warp * plan.max_cells * plan.n_classes
    n_warps = int(np.clip((state.data.limits.shared_bytes_of_block - 1024) // counters_bytes, 1, 8))
    allow_shared_memory(kernel, n_warps * counters_bytes)
    arguments = (
        state.fragments,
        np.int32(state.n_steps),
        state.class_steps,
        *state.lanes,
        *tables,
        tiles.records,
        *state.buffer,
        *best,
        np.int32(state.n_groups),
        np.int32(plan.max_cells),
        np.int32(state.is_paired),
        *counts,
        *state.candidates,
        state.counters[1:],
    )
    kernel((state.n_multiprocessors * 8,), (32 * n_warps,), arguments, shared_mem=n_warps * counters_bytes)
