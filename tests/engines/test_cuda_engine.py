"""What the CUDA engine makes of a search on its devices, whatever these do: without a GPU."""

from typing import Any

import numpy as np
import pytest

from cuda_problems import problem
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, engine
from interplay.search.engines.cuda.devices import NotForDevices
from interplay.search.tiles import make_tuple_tiles


class OnProcessor:
    """A SharedSearch whose device is the processor, and fails as often as it is told to."""

    failures: list[Any]

    def __init__(self, data, tiles, *, devices, discretization, known, kept):
        self._data, self._tiles, self._discretization = data, tiles, discretization
        self._found = known

    def search(self, share, on_done):
        half = len(self._tiles) // 2
        for tiles in (self._tiles[:half], self._tiles[half:]):
            self._found = CpuEngine().max_gains(
                self._data.planes,
                tiles,
                pseudocount=self._data.pseudocount,
                discretization=self._discretization,
                known=self._found,
            )
            on_done(float(tiles.n_tuples.sum()))
            if self.failures:
                raise self.failures.pop(0)

    def found(self):
        return self._found

    def needs_less_memory(self):
        return len(self.failures) > 0


@pytest.fixture
def searched(monkeypatch):
    monkeypatch.setattr(engine, "why_no_cuda", lambda: None)
    monkeypatch.setattr(engine, "device_numbers", lambda: (0,))
    monkeypatch.setattr(CudaEngine, "_limits", lambda self: None)
    monkeypatch.setattr(engine, "SharedSearch", OnProcessor)
    monkeypatch.setattr(engine, "is_device_memory_error", lambda error: isinstance(error, BufferError))
    monkeypatch.setattr(
        CudaEngine, "_share_out", lambda self, work, report, check_interrupt: work(0, report), raising=True
    )
    planes, n_levels = problem(np.random.default_rng(0), n_samples=100, n_vars=40, levels=(2, 3))
    tiles = make_tuple_tiles(n_levels, n_vars=40, dimensions=2, block_size=4, middle_size=4, n_lanes=8)
    return planes, tiles, CpuEngine().max_gains(planes, tiles, pseudocount=0.25, discretization=1)


@pytest.mark.parametrize(
    ("failures", "on_cpu"),
    [
        ([], None),
        ([BufferError(), BufferError(), None], None),
        ([BufferError()], "too little memory"),
        ([NotForDevices("is not for these")], "is not for these"),
    ],
)
def test_a_search_goes_on_where_it_can(searched, monkeypatch, failures, on_cpu):
    planes, tiles, plain = searched
    # The last entry of a list only says that less memory may do.
    monkeypatch.setattr(OnProcessor, "failures", [failure for failure in failures if failure], raising=False)
    if None in failures:
        monkeypatch.setattr(OnProcessor, "needs_less_memory", lambda self: True)
    told: list[float] = []
    counts: dict[str, Any] = {}

    def search():
        return CudaEngine().max_gains(
            planes, tiles, pseudocount=0.25, discretization=1, on_progress=told.append, searched=counts
        )

    if on_cpu is None:
        found = search()
        assert counts == {"cuda": {"tiles": len(tiles), "tuples": int(tiles.n_tuples.sum())}}
    else:
        with pytest.warns(UserWarning, match=f"{on_cpu}.*: they are searched on the CPU instead"):
            found = search()
        assert "cuda" not in counts
    for name in ("gain_by_group", "discretization_by_group", "tuples_by_group"):
        assert np.array_equal(getattr(found, name), getattr(plain, name))
    assert told == sorted(told)


def test_an_interrupt_hands_over_what_the_devices_found(searched, monkeypatch):
    planes, tiles, plain = searched
    monkeypatch.setattr(OnProcessor, "failures", [KeyboardInterrupt()], raising=False)
    with pytest.raises(SearchInterrupted) as caught:
        CudaEngine().max_gains(planes, tiles, pseudocount=0.25, discretization=1)
    assert 0.3 < caught.value.done < 0.7
    assert np.isfinite(caught.value.partial.gain).any()
    assert (caught.value.partial.gain <= plain.gain).all()


def test_memory_errors_are_left_to_a_cluster(searched, monkeypatch):
    planes, tiles, _ = searched
    monkeypatch.setattr(OnProcessor, "failures", [BufferError()], raising=False)
    with pytest.raises(MemoryError, match="engine='cuda' has too little memory"):
        CudaEngine(leave_memory_errors=True).max_gains(planes, tiles, pseudocount=0.25)
