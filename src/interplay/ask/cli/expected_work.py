"""How much time and memory a search will take, from a short measured sample of it.

A call, or the same call of fewer variables, is made and timed: what comes after a search depends on what is found, on
hits, levels, covariates, missing values. No formula tells it as well as the call itself, which is bounded in time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import comb
from typing import Any

import numpy as np

from interplay.ask.answer import answer
from interplay.ask.interaction.call import INTERACTION
from interplay.ask.interaction.call import task_of as interaction_task
from interplay.ask.interaction.find import SHARE_OF_SCREEN
from interplay.ask.relabelings import allowed_relabelings
from interplay.ask.selection.call import SELECTION, SHARE_OF_SEARCH, task_of
from interplay.ask.selection.runs import prepare_largest
from interplay.ask.tuple_tests.screen import PSEUDOCOUNT
from interplay.ask.tuple_tests.target_tests import target_tests
from interplay.base.arrays import IntArray
from interplay.base.planes import BitPlanes
from interplay.base.tuples import MaxGains, TupleTiles
from interplay.data.codes.coded import CodedComparison, CodedStudy, code_comparison
from interplay.data.study.comparisons import Comparison
from interplay.data.study.fingerprint import data_fingerprint
from interplay.data.study.study import Study
from interplay.data.study.subsets import ColumnSubset
from interplay.search.engines.base import Engine
from interplay.search.engines.choice import check_engine
from interplay.search.engines.sinks import Screen
from interplay.search.loop import Shard
from interplay.search.plan import PreparedSearch, prepare_search

#: Duration of the sample, in seconds.
_SAMPLE_SECONDS = 1.0

#: Bytes of codes in memory at most.
_MAX_CODES_BYTES = 1 << 30

#: Values of a table beyond which a part of its variables is read and coded in place of all.
_MAX_VALUES = 8e9


@dataclass(frozen=True)
class ExpectedWork:
    """The work of a call of `select` or `interactions`.

    Attributes
    ----------
    n_samples, n_vars, n_contrast : int
    dimensions : int
        Size of the largest tuples of the call.
    n_searches : int
        Number of discretisations times comparisons of classes times permutations; each searches all tuples.
    n_tuples : float
        Tuples of all searches.
    n_bytes : int
        Memory beyond the input.
    tuples_per_second : float
        Measured rate of a sample.
    seconds : float
        Expected time of the whole call.
    engine : dict
    """

    n_samples: int
    n_vars: int
    n_contrast: int
    dimensions: int
    n_searches: int
    n_tuples: float
    n_bytes: int
    tuples_per_second: float
    seconds: float
    engine: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)

    def summary(self) -> str:
        """Return the expected work in words."""
        words = {"name": "", "simd_level": "instruction set "}
        where = ", ".join(f"{words.get(name, f'{name} ')}{value}" for name, value in self.engine.items())
        contrast = f", {self.n_contrast} contrast variables" if self.n_contrast else ""
        return "\n".join(
            [
                f"data     {self.n_samples} samples, {self.n_vars} variables{contrast}",
                f"tuples   {self.n_tuples:.4g} ({self.dimensions}D, searches: {self.n_searches})",
                f"memory   about {_bytes_in_words(self.n_bytes)} beyond the input",
                f"engine   {where}; {self.tuples_per_second:.3g} tuples/s in a sample",
                f"time     about {_seconds_in_words(self.seconds)}",
            ]
        )


def expected_work(X: Any, y: Any, *, shard: Shard | None = None, **settings: Any) -> ExpectedWork:
    """Return how many tuples, how much memory and how much time ``select(X, y, **settings)`` will take.

    All checks of `select` are made. About a second's worth of tuples is searched to measure the rate, on the engine
    that would do the work and in its tiles (with a `shard`, in the tiles that all shards share). Then the call, or one
    of fewer variables, is made to see how long its statistics take. The numbers refer to the whole work.

    Examples
    --------
    >>> import interplay
    >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=100, random_state=1)
    >>> work = expected_work(X, y, dimensions=2, n_contrast=50)
    >>> work.n_tuples == 100 * 99 / 2 + 50 * 100
    True
    """
    task = whole = task_of(X, y, **settings)
    how = {"engine": settings.get("engine", "auto"), "n_jobs": settings.get("n_jobs"), "checkpoint": None}
    choice = check_engine(how["engine"], n_jobs=how["n_jobs"])
    coded = CodedStudy(task.settings, n_threads=choice.n_threads)
    first, *others = task.comparisons
    task = replace(task, comparisons=(_part_of(first), *others)).with_fitting_dimensions(coded)
    reading = _read_once(task.comparisons[0], coded.of(task.comparisons[0]), choice.n_threads)
    began = time.perf_counter()
    search = prepare_largest(task, coded, choice, shard=shard)
    of_contrast = 2 * (time.perf_counter() - began)  # they are surveyed here, and packed with the planes
    planes, tiles = search.coded.planes(0), search.searches[0]
    known: MaxGains | None = None

    def find_maxima(batch: TupleTiles) -> None:
        nonlocal known
        known = search.engine.max_gains(planes, batch, pseudocount=task.settings.pseudocount, known=known)

    n_searches = len(task.comparisons) * task.settings.discretizations
    if task.settings.permutations:
        n_searches *= 1 + allowed_relabelings(task.comparisons[0]).n_used(task.settings.n_permutations)

    def call(kept: IntArray | None, told: Callable[[float], None]) -> None:
        answer(SELECTION, how | {"progress": told}, whole if kept is None else whole.of_variables(kept))

    # Of several dimensions, the largest tuples are sampled: they are most of the work.
    work = _sampled_work(
        task.study,
        search,
        find_maxima,
        reading=reading,
        packing=time.perf_counter() - began - of_contrast,
        of_contrast=of_contrast,
        n_searches=n_searches,
        n_contrast=task.settings.n_contrast,
        n_tuples=float(sum(task.n_tuples())),
        more_bytes=_memory_of_maxima(planes, tiles, n_threads=_threads_of(search.engine)),
    )
    if shard is not None:  # statistics are those of merged shards
        return work
    seconds = whole_seconds(
        call,
        n_vars=task.study.table.n_vars,
        dimensions=work.dimensions,
        of_search=work.seconds,
        share_of_search=SHARE_OF_SEARCH,
    )
    return replace(work, seconds=seconds)


def expected_interactions(X: Any, y: Any, **arguments: Any) -> ExpectedWork:
    """Return how many tuples, how much memory and how much time ``interactions(X, y, **arguments)`` will take.

    All checks of `interactions` are made. About a second's worth of tuples is screened to measure the rate, and the
    call, or one of fewer variables, is made to see how long the tests of the tuples take that the screen leaves.

    Examples
    --------
    >>> import interplay
    >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=100, random_state=1)
    >>> expected_interactions(X, y, dimensions=2).n_tuples == 100 * 99 / 2
    True
    """
    whole = interaction_task(X, y, **arguments)
    how = {"engine": arguments.get("engine", "auto"), "n_jobs": arguments.get("n_jobs"), "checkpoint": None}
    choice = check_engine(how["engine"], n_jobs=how["n_jobs"], kind=Screen.kind)
    task, _ = whole.parts()
    comparison, k = task.comparison, task.settings.dimensions
    n_tuples = None
    if task.family.asked_for is None:
        comparison, n_tuples = _part_of(comparison), float(comb(comparison.table.n_vars, k))
    settings = replace(task.search_settings, pseudocount=PSEUDOCOUNT)
    coded = code_comparison(comparison, settings, n_threads=choice.n_threads)
    reading = _read_once(comparison, coded, choice.n_threads)
    began = time.perf_counter()
    search = prepare_search(
        coded,
        settings,
        choice,
        asked_for=task.family.asked_for,
        require=task.family.require,
        shard=task.shard,
        kind=Screen.kind,
    )
    sink = Screen(target_tests(coded, omit_missing=task.omits_missing).gains(k, task.caps.first()))
    planes = coded.planes(0)
    packing = time.perf_counter() - began

    def screen(batch: TupleTiles) -> None:
        for _ in search.engine.stream(planes, batch, sink, pseudocount=PSEUDOCOUNT, seconds=1.0):
            pass

    n_searches = settings.discretizations
    if comparison.groups is not None:  # the data, each permutation, and the data again for the list of tuples
        n_searches *= 2 + allowed_relabelings(comparison).n_used(task.n_permutations)
    work = _sampled_work(
        task.study,
        search,
        screen,
        reading=reading,
        packing=packing,
        n_searches=n_searches,
        n_tuples=n_tuples,
    )
    if task.shard is not None or task.study.groups is not None or task.offsets is not None:
        return work

    def call(kept: IntArray | None, told: Callable[[float], None]) -> None:
        answer(INTERACTION, how | {"progress": told}, whole if kept is None else whole.of_variables(kept))

    # The p-value up to which tuples are listed stays that of the whole: as many in proportion to all tuples are tested.
    seconds = whole_seconds(
        call,
        n_vars=comparison.table.n_vars,
        dimensions=k,
        of_search=work.seconds,
        share_of_search=SHARE_OF_SCREEN,
        can_choose=task.family.is_all,
        growth=k,
    )
    return replace(work, seconds=seconds)


def _part_of(comparison: Comparison) -> Comparison:
    """Leave out variables of a table that is large: evenly spaced ones stay."""
    table = comparison.table
    n_kept = int(_MAX_VALUES / table.n_samples)
    if table.n_vars <= n_kept:
        return comparison
    kept = np.unique(np.linspace(0, table.n_vars - 1, n_kept).astype(np.int64))
    return replace(comparison, table=ColumnSubset(table, kept, keeps_numbers=True))


def _read_once(comparison: Comparison, coded: CodedComparison, n_threads: int) -> float:
    """Return the seconds in which a table is read before any search: for the hash that names the data, and for cuts."""
    began = time.perf_counter()
    data_fingerprint(comparison.table, comparison.outcome, n_threads=n_threads)
    _ = coded.coder
    return time.perf_counter() - began


def _sampled_work(
    study: Study,
    search: PreparedSearch,
    find: Callable[[TupleTiles], None],
    *,
    reading: float,
    packing: float,
    n_searches: int,
    of_contrast: float = 0.0,
    n_contrast: int = 0,
    n_tuples: float | None = None,
    more_bytes: int = 0,
) -> ExpectedWork:
    """Let `find` search a sample of the tiles, and return the work of all searches at the measured rate.

    - `reading`, `packing`: seconds in which the variables were read before all searches, and packed into planes for
      one.
    - `of_contrast`: seconds for the contrast variables of a search, which are as many for a part of the variables as
      for all.
    - `n_tuples`: tuples of all sizes that are searched; those of `search` if not given.
    - `more_bytes`: memory beside codes, planes and tiles.
    """
    planes, tiles = search.coded.planes(0), search.searches[0]
    rate = _sampled_rate(search.engine, tiles, find)
    n_tuples = float(tiles.n_tuples.sum()) if n_tuples is None else n_tuples
    # Of a part of the variables, reading, coding and memory are in proportion.
    times = (study.table.n_vars + n_contrast) / (search.coded.comparison.table.n_vars + n_contrast)
    return ExpectedWork(
        n_samples=study.n_samples,
        n_vars=study.table.n_vars,
        n_contrast=n_contrast,
        dimensions=tiles.dimensions,
        n_searches=n_searches,
        n_tuples=n_searches * n_tuples,
        n_bytes=_memory_of(planes, tiles, times) + int(more_bytes * times),
        tuples_per_second=rate,
        seconds=times * reading + n_searches * (of_contrast + times * max(packing, 0.0) + n_tuples / rate),
        engine=search.engine.describe(),
    )


def _sampled_rate(engine: Engine, tiles: TupleTiles, search: Callable[[TupleTiles], None]) -> float:
    """Search a sample of the tiles for about a second, and return the tuples per second of its largest batch."""

    def searched(chosen: IntArray) -> tuple[float, float]:
        """Return the tuples of some tiles, and the seconds of their search."""
        batch = tiles[chosen]
        batch_began = time.perf_counter()
        search(batch)
        return float(batch.n_tuples.sum()), time.perf_counter() - batch_began

    began = time.perf_counter()
    order = np.random.RandomState(0).permutation(len(tiles))
    start, size = 0, _threads_of(engine)
    batches = []
    # Batches grow: the first one includes the start of the engine, and in later ones known gains let most tuples be
    # skipped. The last one is the rest, which may be small.
    while start < len(order) and time.perf_counter() - began < _SAMPLE_SECONDS:
        batches.append(searched(order[start : start + size]))
        start, size = start + size, 2 * size
    n_tuples, seconds = max(batches[1:] or batches)
    # Few tiles again show what each batch takes beside its tuples: its planes are copied to a device.
    n_few, of_few = searched(order[: _threads_of(engine)])
    if n_few < n_tuples / 2:
        n_tuples, seconds = n_tuples - n_few, max(seconds - of_few, seconds / 10)
    return n_tuples / max(seconds, 1e-6)


def _memory_of(planes: BitPlanes, tiles: TupleTiles, times: float) -> int:
    """Return the approximate bytes of codes, planes and tiles of a search; most codes are read block by block.

    The search has `times` as many variables as the planes.
    """
    codes_bytes = min(planes.n_rows * planes.n_samples * times, _MAX_CODES_BYTES)
    return int(codes_bytes + times * (planes.words.nbytes + tiles.tiles.nbytes + tiles.n_tuples.nbytes))


def _memory_of_maxima(planes: BitPlanes, tiles: TupleTiles, *, n_threads: int) -> int:
    """Return the bytes of the maxima of a search; each thread has its own maxima."""
    found = MaxGains.none_yet(planes, tiles)
    gains_bytes = sum(
        array.nbytes
        for array in (found.gain_by_group, found.discretization_by_group, found.tuples_by_group, found.df_by_group)
    )
    return int((n_threads + 2) * gains_bytes)


def _threads_of(engine: Engine) -> int:
    return max(1, int(engine.describe().get("threads", 1)))


def _bytes_in_words(n_bytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} GiB"


def _seconds_in_words(seconds: float) -> str:
    for unit, length in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} seconds"


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
    after_search: list[tuple[float, float]] = []  # seconds, and the share that was told

    def told(done: float) -> None:
        nonlocal searched
        elapsed = time.perf_counter() - began
        if done >= share_of_search - 1e-9:
            after_search.append((elapsed, done))
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
        after += _seconds_left(after_search, least=0.01 * (1 - share_of_search))
    if kept is None:
        return max(of_search, searched) + after if not is_whole else elapsed
    return of_search + after * (n_vars / n_kept) ** growth


def _seconds_left(told: list[tuple[float, float]], *, least: float) -> float:
    """Return the seconds to the share 1, at the pace of the second half of the time: steps differ in theirs.

    - `told`: seconds and shares.
    - `least`: share that was done at least.
    """
    if not told:
        return 0.0
    middle = (told[0][0] + told[-1][0]) / 2
    begin = [one for one in told if one[0] <= middle][-1]
    seconds, done = (last - first for last, first in zip(told[-1], begin, strict=True))
    return (1 - told[-1][1]) * seconds / max(done, least)
