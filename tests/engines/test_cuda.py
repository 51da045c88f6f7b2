"""The CUDA engine: what can be said of it anywhere, and, on a machine with a GPU, that it equals the CPU engine."""

import gc
import subprocess
import sys
import warnings

import numpy as np
import pytest

import interplay
from cuda_problems import (
    TILE_SHAPE,
    assert_gains_of_the_cpu,
    assert_gains_of_two_discretizations,
    assert_same_bits,
    classes_of,
    planes_of,
    problem,
    some_asked_for,
    tiles_for,
)
from gpu_mark import needs_gpu
from interplay.search.engines import choice
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.choice import SearchWork, check_engine
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, device_search, why_no_cuda, work_plan

# --- without a GPU ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(why_no_cuda() is None, reason="there is a GPU: nothing to complain about")
def test_without_a_gpu_one_line_says_what_to_do(monkeypatch):
    for call in (lambda: check_engine("cuda"), CudaEngine):
        with pytest.raises(
            (ImportError, RuntimeError), match=r"engine='cuda' .*(pip install|use engine='cpu')"
        ) as error:
            call()
        assert "\n" not in str(error.value)
    monkeypatch.setenv("INTERPLAY_ENGINE", "cuda")
    with pytest.raises((ImportError, RuntimeError), match="engine='cuda'"):
        check_engine("auto")


def test_auto_takes_the_gpu_only_where_it_pays(monkeypatch):
    monkeypatch.setattr(choice, "find_spec", lambda name: object())
    monkeypatch.setattr("interplay.search.engines.cuda.why_no_cuda", lambda: None)
    small = SearchWork(n_tuples=1e6, n_samples=2000, n_cells=4)
    large = SearchWork(n_tuples=1e12, n_samples=2000, n_cells=4)
    assert not choice._gpu_is_worth_it(small, n_threads=1)
    assert choice._gpu_is_worth_it(large, n_threads=64)
    # More threads make the CPU's case, more samples the GPU's.
    middling = SearchWork(n_tuples=2e9, n_samples=500, n_cells=8)
    assert choice._gpu_is_worth_it(middling, n_threads=1)
    assert not choice._gpu_is_worth_it(middling, n_threads=64)
    assert choice._gpu_is_worth_it(SearchWork(n_tuples=2e9, n_samples=1_000_000, n_cells=8), n_threads=64)


def test_importing_the_engine_does_not_import_cupy():
    code = "import sys, interplay.search.engines.cuda; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- on a GPU -----------------------------------------------------------------------------------------------------

KINDS = [((2,), 2), ((3,), 2), ((2,), 3), ((2, 3, 4), 2), ((2, 5), 4)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
class TestEqualsTheCpuEngine:
    pytestmark = needs_gpu

    def test_bits(self, dimensions, kind, monkeypatch):
        levels, n_classes = kind
        rng = np.random.default_rng([dimensions, n_classes, *levels])
        for case, pseudocount in enumerate((0.25, 0.0, 1.0)):
            monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0 if case == 0 or dimensions < 4 else 2e11)
            n_vars = int({1: 300, 2: 300, 3: 80, 4: 40, 5: 24}[dimensions] * rng.uniform(0.5, 1.2))
            planes, n_levels = problem(
                rng,
                n_samples=int(rng.integers(30, 3000)),
                n_vars=n_vars,
                n_contrast=int(rng.integers(0, 40)) * int(case > 0),
                levels=levels,
                n_classes=n_classes,
                rare=case == 1,
            )
            how = some_asked_for(rng, n_vars, dimensions, 4) if case == 2 else {}
            assert_gains_of_two_discretizations(
                CudaEngine(), planes, n_levels, dimensions, own_tiles=case < 2, pseudocount=pseudocount, **how
            )


class TestOnADevice:
    pytestmark = needs_gpu

    @pytest.fixture
    def rng(self):
        return np.random.default_rng(5)

    @pytest.mark.parametrize(
        "how", [{"counting": "popc"}, {"devices": (0, 0)}, {"counting": "tensor", "devices": (0,)}], ids=str
    )
    def test_however_it_is_run(self, rng, how):
        planes, n_levels = problem(rng, n_samples=1500, n_vars=70, n_contrast=20)
        assert_gains_of_the_cpu(CudaEngine(**how), planes, tiles_for(n_levels, 70, 3, **TILE_SHAPE))

    @pytest.mark.parametrize(("dimensions", "n_vars"), [(2, 200), (3, 70), (4, 36)])
    @pytest.mark.parametrize("n_levels", [3, 5])
    @pytest.mark.parametrize("share", [0.5, 0.05])
    def test_parts_of_all_sizes(self, dimensions, n_vars, n_levels, share, monkeypatch):
        """Common and rare levels, so that some parts are in the table of small_cells.cuh and others exceed it."""
        monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0)
        rng = np.random.default_rng([dimensions, n_levels, int(100 * share)])
        codes = np.minimum(rng.geometric(np.linspace(0.2, 0.97, n_vars)[:, np.newaxis], (n_vars, 5000)) - 1, 20)
        codes = (codes % n_levels).astype(np.uint8)
        y = rng.random(5000) < share
        y[:2] = False, True
        # In some parts nearly all samples are of one class.
        y = np.where((codes[3] == 0) & (codes[40 % n_vars] == 0) & (rng.random(5000) < 0.9), share < 0.5, y)
        levels = np.full(n_vars, n_levels, dtype=np.int64)
        tiles = tiles_for(levels, n_vars, dimensions, **TILE_SHAPE)
        assert_gains_of_the_cpu(CudaEngine(), planes_of(codes, levels, classes_of(y)), tiles, (0.25, 0.0))

    def test_with_little_room_for_survivors(self, rng, monkeypatch):
        """Nothing is lost where more survive than fit: many constant columns, and small buffers."""
        monkeypatch.setattr(device_search, "CAPACITY", work_plan.MIN_CAPACITY)
        codes = rng.integers(0, 2, (400, 500), dtype=np.uint8)
        codes[::2] = 0
        n_levels = np.full(400, 2, dtype=np.int64)
        planes = planes_of(codes, n_levels, classes_of(rng.permutation(np.arange(500) % 2)))
        assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 400, 3, **TILE_SHAPE))

    @pytest.mark.parametrize("n_samples", [20_000, 300_000])
    def test_many_samples(self, rng, n_samples):
        planes, n_levels = problem(rng, n_samples=n_samples, n_vars=20, rare=True)
        assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 20, 3, **TILE_SHAPE))

    def test_many_dimensions(self, rng):
        planes, n_levels = problem(rng, n_samples=400, n_vars=14)
        assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, 14, 7, **TILE_SHAPE))

    @pytest.mark.parametrize(
        ("n_samples", "n_vars", "levels", "dimensions", "message"),
        [
            (200, 20, (2,), 9, "is slow where tuples have so many cells .* searched on the CPU instead"),
            (300, 4, (60,), 3, "searched on the CPU instead"),
        ],
    )
    def test_too_many_cells_go_to_the_cpu_with_a_message(self, rng, n_samples, n_vars, levels, dimensions, message):
        planes, n_levels = problem(rng, n_samples=n_samples, n_vars=n_vars, levels=levels)
        with pytest.warns(UserWarning, match=message):
            assert_gains_of_the_cpu(CudaEngine(), planes, tiles_for(n_levels, n_vars, dimensions, **TILE_SHAPE))

    def test_bad_arguments_are_named(self):
        for how, message in [
            ({"devices": ()}, r"devices must be numbers of GPUs, of \(0"),
            ({"devices": (0, 99)}, r"devices must be numbers of GPUs, .* not \(0, 99\)"),
            ({"counting": "abacus"}, "counting must be one of tensor, popc, not 'abacus'"),
        ]:
            with pytest.raises(ValueError, match=message):
                CudaEngine(**how)

    def test_with_little_memory_planes_come_in_parts(self, rng, monkeypatch):
        import cupy

        monkeypatch.setattr(device_search, "CAPACITY", work_plan.MIN_CAPACITY)
        n_vars, n_samples = 4000, 60_000
        planes, n_levels = problem(rng, n_samples=n_samples, n_vars=n_vars)
        tiles = tiles_for(n_levels, n_vars, 2, block_size=128, middle_size=256, n_lanes=256, even=False)
        expected = CpuEngine(n_threads=4).max_gains(planes, tiles, pseudocount=0.25)
        pool = cupy.get_default_memory_pool()
        before = pool.get_limit()
        # Earlier tests leave blocks in the pools, and exceptions that hold such blocks: the limit counts them all.
        gc.collect()
        cupy.get_default_pinned_memory_pool().free_all_blocks()
        try:
            pool.free_all_blocks()
            # Two planes for each variable are 60 MB, and the buffers 46.
            pool.set_limit(size=90 << 20)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = CudaEngine().max_gains(planes, tiles, pseudocount=0.25)
            assert_same_bits(found, expected)
            pool.free_all_blocks()
            pool.set_limit(size=2 << 20)
            with pytest.warns(UserWarning, match="too little memory .* they are searched on the CPU instead"):
                found = CudaEngine(n_threads=4).max_gains(planes, tiles, pseudocount=0.25)
            assert_same_bits(found, expected)
            with pytest.raises(MemoryError, match="too little memory"):
                CudaEngine(leave_memory_errors=True).max_gains(planes, tiles, pseudocount=0.25)
            few = tiles[:2]
            with pytest.warns(UserWarning, match="too little memory .* they are listed on the CPU instead"):
                rows = CudaEngine().interesting_tuples(planes, few, pseudocount=0.25, min_value=np.full(n_vars, 9.0))
        finally:
            pool.set_limit(size=before)
        on_cpu = CpuEngine().interesting_tuples(planes, few, pseudocount=0.25, min_value=np.full(n_vars, 9.0))
        assert np.array_equal(rows.value, on_cpu.value)

    def test_ctrl_c_hands_over_what_was_found(self, rng):
        planes, n_levels = problem(rng, n_samples=2000, n_vars=300)
        tiles = tiles_for(n_levels, 300, 4, **TILE_SHAPE)

        def interrupt(done, found=None):
            raise KeyboardInterrupt

        with pytest.raises(SearchInterrupted) as caught:
            CudaEngine().max_gains(planes, tiles, pseudocount=0.25, on_progress=interrupt)
        assert 0 < caught.value.done < 1
        assert np.isfinite(caught.value.partial.gain).all()

    @pytest.mark.parametrize(
        "how",
        [{"dimensions": 3, "discretizations": 3}, {"dimensions": 2, "strata": np.arange(500) % 3}],
        ids=["discretisations", "strata"],
    )
    def test_select_is_the_same(self, how):
        X, y, _ = interplay.datasets.make_madelon(n_samples=500, n_vars=60, random_state=0)
        on_cpu, on_gpu = (interplay.select(X, y, random_state=1, engine=name, **how).table for name in ("cpu", "cuda"))
        assert on_cpu.equals(on_gpu)

    def test_orders_of_the_paper(self, madelon):
        """5D over Madelon: by gain, the clusters of the five base variables come first."""
        X, y = madelon
        clusters = [{154, 282, 434}, {29, 319, 452}, {49, 379}, {242, 476}, {456}, {454, 494}, {339}]
        found = interplay.max_information_gain(X, y, dimensions=5, engine="cuda")
        seen: list[int] = []
        for v in (np.argsort(-found.gain) + 1).tolist():
            number = next((i for i, cluster in enumerate(clusters) if v in cluster), None)
            if number is not None and number not in seen:
                seen.append(number)
        assert seen[:5] == [0, 1, 2, 3, 4]
