"""How much a selection will take, from a short measured sample of it."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, MaxGains, TupleTiles
from interplay.engines.base import Engine, OnProgress, get_engine
from interplay.engines.searcher_counts import SearcherCounts
from interplay.jobs import resolve_n_jobs
from interplay.pipeline import select
from interplay.selection_task import check_selection

#: The sample stops growing when it has taken this long.
_SAMPLE_SECONDS = 1.0


@dataclass(frozen=True)
class ExpectedWork:
    """What a call of `select` would do.

    Attributes
    ----------
    n_samples, n_vars, n_contrast, dimensions : int
    n_searches : int
        Discretisations times comparisons of classes; each looks at all tuples.
    n_tuples : float
        Tuples in all of them.
    n_bytes : int
        Memory beyond the input.
    tuples_per_second : float
        As measured.
    seconds : float
        Expected for the whole.
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
        """Return it as plain values."""
        return asdict(self)

    def summary(self) -> str:
        """Return it in words."""
        where = ", ".join(f"{name} {value}" for name, value in self.engine.items())
        return "\n".join(
            [
                f"data     {self.n_samples} samples, {self.n_vars} variables, {self.n_contrast} contrast variables",
                f"tuples   {self.n_tuples:.4g} ({self.dimensions}D, searches: {self.n_searches})",
                f"memory   about {_bytes_in_words(self.n_bytes)} beyond the input",
                f"engine   {where}; {self.tuples_per_second:.3g} tuples/s in a sample",
                f"time     about {_seconds_in_words(self.seconds)}",
            ]
        )


def expected_work(X: Any, y: Any, **settings: Any) -> ExpectedWork:
    """Return how many tuples, how much memory and how much time ``select(X, y, **settings)`` will take.

    All of its checks are made, and about a second's worth of tuples is searched to see how fast that goes.

    Examples
    --------
    >>> import interplay
    >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=100, random_state=1)
    >>> work = expected_work(X, y, dimensions=2, n_contrast=50)
    >>> work.n_tuples == 100 * 99 / 2 + 50 * 100
    True
    """
    how = ("engine", "n_jobs", "progress", "checkpoint")
    task = check_selection(X, y, **{name: value for name, value in settings.items() if name not in how})
    worker = get_engine(settings.get("engine", "auto"), n_jobs=resolve_n_jobs(settings.get("n_jobs")))
    sampler = _Sampler(worker)
    started = time.perf_counter()
    with suppress(_SampleTaken):
        select(X, y, **{**settings, "engine": sampler, "progress": False, "checkpoint": None})
    n_classes, multiclass = task.classes.n_classes, task.settings["multiclass"]
    n_runs = 1 if n_classes == 2 or multiclass == "joint" else n_classes
    if multiclass == "ovo" and n_classes > 2:
        n_runs = n_classes * (n_classes - 1) // 2
    n_searches = n_runs * task.settings["discretizations"]
    preparing = sampler.began - started
    return ExpectedWork(
        n_samples=task.table.n_samples,
        n_vars=task.table.n_vars,
        n_contrast=task.settings["n_contrast"],
        dimensions=task.settings["dimensions"],
        n_searches=n_searches,
        n_tuples=n_searches * sampler.n_tuples,
        n_bytes=sampler.n_bytes,
        tuples_per_second=sampler.rate,
        seconds=n_searches * (preparing + sampler.n_tuples / sampler.rate),
        engine=worker.describe(),
    )


class _SampleTaken(Exception):
    """Ends a selection whose first search has been measured."""


class _Sampler:
    """An engine that searches a few tiles with another one, notes how that went, and stops the selection."""

    name = "sample"

    def __init__(self, worker: Engine) -> None:
        self._worker = worker
        self.began = 0.0
        self.rate = 0.0
        self.n_tuples = 0.0
        self.n_bytes = 0

    def max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        discretization: int = 0,
        known: MaxGains | None = None,
        on_progress: OnProgress | None = None,
        searched: SearcherCounts | None = None,
    ) -> MaxGains:
        """Measure, and raise `_SampleTaken`."""
        self.began = time.perf_counter()
        self.n_tuples = float(tiles.n_tuples.sum())
        order = np.random.RandomState(0).permutation(len(tiles))
        n_threads = max(1, self._worker.describe().get("threads", 1))
        start, size = 0, n_threads
        # Batches grow: the first ones pay for starting up, and later ones know gains that let most tuples be skipped.
        while start < len(order) and time.perf_counter() - self.began < _SAMPLE_SECONDS:
            batch = tiles[order[start : start + size]]
            batch_began = time.perf_counter()
            known = self._worker.max_gains(
                planes, batch, pseudocount=pseudocount, discretization=discretization, known=known
            )
            self.rate = float(batch.n_tuples.sum()) / max(time.perf_counter() - batch_began, 1e-6)
            start, size = start + size, 2 * size
        found = MaxGains.none_yet(planes, tiles)
        gains_bytes = sum(
            array.nbytes
            for array in (found.gain_by_group, found.discretization_by_group, found.tuples_by_group, found.df_by_group)
        )
        codes_bytes = planes.n_rows * planes.n_samples
        tiles_bytes = tiles.tiles.nbytes + tiles.n_tuples.nbytes
        # Threads have maxima of their own.
        self.n_bytes = int(codes_bytes + planes.words.nbytes + tiles_bytes + (n_threads + 2) * gains_bytes)
        raise _SampleTaken

    def describe(self) -> dict[str, Any]:
        """Return what the engine it measures says."""
        return self._worker.describe()


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
