"""Launches over all tuples of some tiles: the part that a search for maxima and a list of tuples share.

Tuples come from a bound, which leaves survivors, or from a list of all of them. Either way they are put into a buffer
and scored exactly; the subclass takes the scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tuples import TupleTiles
from interplay.search.engines.cuda.device_state import ChosenTiles, DeviceState, OnDone, SearchData
from interplay.search.engines.cuda.kernel_loader import Kernel, allow_shared_memory, compile_ahead, compiled
from interplay.search.engines.cuda.kernels import EVERY_MEMBER, NUMBERS, SearchVariant
from interplay.search.engines.cuda.layout import make_lane_layout, make_tile_records
from interplay.search.engines.cuda.product_plan import ProductVariant
from interplay.search.engines.cuda.survivor_search import BatchSearch, RegisterSearch, first_tuples
from interplay.search.engines.cuda.work_plan import WorkPlan


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


#: The part of a device's free memory that planes take at most; the rest is for counts and survivors. Where memory is
#: short, halves of it are tried down to the smallest.
PLANES_SHARE, SMALLEST_PLANES_SHARE = 0.75, 0.02

#: Tiles whose choices are numbered together.
_TILES_AT_ONCE = 4096


class DeviceTuples(ABC):
    """The tuples of some tiles on the current device.

    Parameters
    ----------
    data : SearchData
    tiles : TupleTiles
    best : (n_rows, n_groups) float64
        The score that a member has to reach.
    capacity : int
        Tuples that may wait to be scored; fewer where memory is short.
    share : (int, int)
        Which of how many equal parts of the work is this device's.
    every_member : bool
        Whether tuples are sought of which every member gains, or members that gain.
    bounds : bool
        Whether tuples are bounded before they are scored.
    scores : (str, str)
        The file and the function that score tuples.
    planes_share : float
        The part of the device's free memory that planes may take.
    """

    #: Whether a sample of tuples is scored first.
    samples = True

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        *,
        best: FloatArray,
        capacity: int,
        share: tuple[int, int] = (0, 1),
        every_member: bool = False,
        bounds: bool = True,
        scores: tuple[str, str] = GAINS,
        planes_share: float = PLANES_SHARE,
    ) -> None:
        layout = make_lane_layout(data.planes, tiles)
        plan = WorkPlan(
            data.planes,
            tiles,
            layout,
            make_tile_records(data.planes, tiles, layout),
            pseudocount=data.pseudocount,
            limits=data.limits,
            every_member=every_member,
        )
        # Compiled while the planes are copied.
        compile_ahead(kernels_of(plan, len(tiles), samples=self.samples, bounds=bounds, scores=scores))
        self._share, self._plan = share, plan
        self._state = DeviceState(data, tiles, plan, best=best, capacity=capacity, planes_share=planes_share)
        # They do not hold `self._score`, which would hold `self`: its memory must be free as soon as nobody uses it.
        self._registers, self._batches = RegisterSearch(self._state, share), BatchSearch(self._state, share)

    def close(self) -> None:
        """End the copying of planes, unless they are kept for another search."""
        if self._state.data.kept is None:
            self._state.planes.close()

    @abstractmethod
    def _score(self, tiles: ChosenTiles) -> int:
        """Score the tuples in the buffer exactly; return how many there were, which may be more than fit into it."""

    def _first_tuples(self, n_tuples: float) -> float:
        """Return how many tuples the first of several launches should bound."""
        return first_tuples(n_tuples)

    def _search_tiles(self, which: IntArray, variant: SearchVariant | ProductVariant, on_done: OnDone) -> None:
        """Bound every tuple of tiles of one kind and score the survivors."""
        if isinstance(variant, ProductVariant):
            self._batches.search(which, variant, self._score, on_done)
        else:
            work = self._plan.work(which, variant)
            self._registers.search(work, self._first_tuples(work.n_tuples), self._score, on_done)

    def _score_all(self, which: IntArray, on_done: OnDone) -> None:
        """Score every tuple of some tiles, as many at a time as there is room for."""
        state, plan = self._state, self._plan
        plan.check_choices(which)
        number, n_shares = self._share
        kernel = compiled("tuples/tuple_list.cu", "list_tuples", list_options(plan))
        which = which[number::n_shares]
        for first in range(0, len(which), _TILES_AT_ONCE):
            tiles = state.chosen(which[first : first + _TILES_AT_ONCE])
            start = plan.choices_before(tiles.which).astype(np.int64)
            n_choices, n_tuples = int(start[-1]), float(state.tiles.n_tuples[tiles.which].sum())
            on_device = state.cupy.asarray(start)
            for begin in range(0, n_choices, state.capacity):
                end = min(begin + state.capacity, n_choices)
                state.clear_counters()
                choices = (on_device, np.int32(len(tiles.which)), np.int64(begin), np.int64(end))
                kernel((-(-(end - begin) // 256),), (256,), (tiles.records, *choices, *state.buffer))
                self._score(tiles)
                on_done((end - begin) / n_choices * n_tuples)
