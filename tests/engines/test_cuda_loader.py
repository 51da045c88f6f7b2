"""What of the kernels a search compiles, and how what was compiled is kept: all of it without a GPU."""

import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from queue import Queue
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import interplay
from cuda_problems import problem
from gpu_mark import needs_gpu
from interplay.search.engines import choice
from interplay.search.engines.choice import SearchWork
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, devices, kernel_loader
from interplay.search.engines.cuda.device_tuples import STATISTIC, kernels_of
from interplay.search.engines.cuda.devices import DeviceLimits
from interplay.search.engines.cuda.kernel_loader import (
    allow_shared_memory,
    compile_ahead,
    compiled,
    image_name,
    start_seconds,
)
from interplay.search.engines.cuda.kernels import EVERY_MEMBER
from interplay.search.engines.cuda.layout import make_lane_layout, make_tile_records
from interplay.search.engines.cuda.work_plan import WorkPlan
from interplay.search.tiles import make_tuple_tiles

H200 = DeviceLimits(n_multiprocessors=132, shared_bytes=233_472, shared_bytes_of_block=232_448, counting="tensor")
OPTIONS = ("-DDIMENSIONS=3", "-DCLASSES=2")


# --- what is compiled ---------------------------------------------------------------------------------------------


def files_of(planes, tiles, **how):
    """The files that are compiled for some tiles, each as often as it is compiled."""
    layout = make_lane_layout(planes, tiles)
    records = make_tile_records(planes, tiles, layout)
    plan = WorkPlan(planes, tiles, layout, records, pseudocount=0.25, limits=H200)
    kernels = kernels_of(plan, len(tiles), **({"samples": True, "bounds": True} | how))
    return sorted(Path(file).name for file, _ in {(file, options) for file, _, options in kernels})


def files_for(n_samples, n_vars, n_contrast, levels, dimensions, **how):
    planes, n_levels = problem(
        np.random.default_rng(0), n_samples=64, n_vars=n_vars, n_contrast=n_contrast, levels=(levels,)
    )
    sizes = np.full(2, n_samples // 2)
    object.__setattr__(planes, "class_sizes", sizes)
    object.__setattr__(planes, "class_word_start", np.concatenate([[0], np.cumsum(-(-sizes // 512) * 8)]))
    shape = vars(CudaEngine.tile_shape(None, dimensions))  # type: ignore[arg-type]
    return files_of(planes, make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **shape), **how)


BEFORE = ["bit_planes.cu", "information_gain.cu", "tuple_list.cu"]


@pytest.mark.parametrize(
    ("n_samples", "n_vars", "n_contrast", "levels", "dimensions", "expected"),
    [
        # Small: one kernel for all tiles.
        (2000, 500, 300, 2, 2, [*BEFORE, "tuple_search.cu"]),
        (2000, 300, 300, 2, 3, [*BEFORE, "tuple_search.cu"]),
        # Larger: one more, for tiles whose last two variables come from one block.
        (2000, 1500, 300, 2, 3, [*BEFORE, "tuple_search.cu", "tuple_search.cu"]),
        # Small, of other levels: all tuples are scored.
        (2000, 60, 60, 3, 3, BEFORE),
        # Many samples: batches.
        (20_000, 600, 300, 3, 3, [*BEFORE, "product_bound.cu", "product_masks.cu", "tuple_products.cu"]),
    ],
)
def test_only_what_a_search_runs_is_compiled(n_samples, n_vars, n_contrast, levels, dimensions, expected):
    assert files_for(n_samples, n_vars, n_contrast, levels, dimensions) == sorted(expected)


def test_a_list_of_all_tuples_needs_no_bound():
    assert files_for(2000, 300, 0, 2, 3, samples=False, bounds=False) == BEFORE
    statistic = files_for(2000, 300, 0, 2, 3, samples=False, bounds=False, scores=STATISTIC)
    assert statistic == ["bit_planes.cu", "tuple_list.cu", "tuple_statistic.cu"]
    # Where tuples are bounded and none is sampled, none is listed.
    assert files_for(2000, 300, 0, 2, 3, samples=False) == ["bit_planes.cu", "information_gain.cu", "tuple_search.cu"]


class PlannedGpu(CpuEngine):
    """Searches on the processor, and notes what a GPU would have compiled; it takes what CudaEngine takes."""

    name = "cuda"

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "files", [])

    def tile_shape(self, dimensions):
        return CudaEngine.tile_shape(self, dimensions)  # type: ignore[arg-type]

    def search(self, planes, tiles, sink, **options):
        assert sink.kind != "list", "few tuples explain a variable: the processor lists them"
        if tiles.dimensions > 1:
            self.files.append((tiles.dimensions, files_of(planes, tiles)))  # type: ignore[attr-defined]
        super().search(planes, tiles, sink, **options)


@pytest.mark.parametrize(("dimensions", "sizes"), [(3, [3]), ("auto", [2, 3])])
def test_a_selection_compiles_four_sources_for_each_size_of_tuples(dimensions, sizes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    engine = PlannedGpu()
    found = interplay.select(X, (X[:, 3] > 0) ^ (X[:, 11] > 0), dimensions=dimensions, engine=engine, random_state=0)
    assert {"x3", "x11"} <= set(found.relevant)
    assert engine.files == [(k, [*BEFORE, "tuple_search.cu"]) for k in sizes]  # type: ignore[attr-defined]


def test_single_variables_are_left_to_the_processor(monkeypatch):
    """No device is asked for anything."""
    monkeypatch.setattr("interplay.search.engines.cuda.engine.why_no_cuda", lambda: None)
    monkeypatch.setattr("interplay.search.engines.cuda.engine.device_numbers", lambda: (0,))
    planes, n_levels = problem(np.random.default_rng(0), n_samples=300, n_vars=20, levels=(2, 3))
    tiles = make_tuple_tiles(n_levels, n_vars=20, dimensions=1)
    searched: dict[str, Any] = {}
    found = CudaEngine().max_gains(planes, tiles, pseudocount=0.25, searched=searched)
    assert np.array_equal(found.gain, CpuEngine().max_gains(planes, tiles, pseudocount=0.25).gain)
    assert list(searched) == ["direct"]
    rows = CudaEngine().interesting_tuples(planes, tiles, pseudocount=0.25, min_value=np.full(20, -np.inf))
    assert len(rows) == 20


# --- how it is kept -----------------------------------------------------------------------------------------------


class DriverError(Exception):
    """As CUDADriverError."""


class FakeDevice:
    compute_capability = "90"

    def __init__(self, number=0):
        assert number == 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class FakeCupy:
    """What the loader needs of CuPy: a device of 9.0, a compiler that counts, modules from files."""

    def __init__(self, monkeypatch):
        self.compilations: list[tuple[str, ...]] = []
        self.while_compiling: Any = lambda: None
        cupy, cuda, compiler = ModuleType("cupy"), ModuleType("cupy.cuda"), ModuleType("cupy.cuda.compiler")
        vars(cupy).update(cuda=cuda, RawModule=self.load, __version__="14.0.0")
        vars(cuda).update(Device=FakeDevice, driver=SimpleNamespace(CUDADriverError=DriverError), compiler=compiler)
        cuda.runtime = SimpleNamespace(runtimeGetVersion=lambda: 13000)  # type: ignore[attr-defined]
        vars(compiler).update(compile_using_nvrtc=self.compile)
        for module in (cupy, cuda, compiler):
            monkeypatch.setitem(sys.modules, module.__name__, module)

    def compile(self, source, options, *, cache_in_memory):
        assert cache_in_memory  # no file of CuPy's
        self.compilations.append(options)
        self.while_compiling()
        return b"image " + " ".join(options).encode(), None

    def load(self, *, path):
        content = Path(path).read_bytes()
        if not content.startswith(b"image "):
            raise DriverError
        return SimpleNamespace(get_function=lambda name: (name, content))


def forget():
    """As a new process would."""
    kernel_loader._images.clear()
    for kept in (kernel_loader._function, kernel_loader._folder, kernel_loader._folder_of_process):
        kept.cache_clear()


@pytest.fixture
def cupy(monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("CUPY_CACHE_IN_MEMORY", raising=False)
    forget()
    yield FakeCupy(monkeypatch)
    forget()


def test_what_was_compiled_is_kept_by_all_that_decides_it(cupy, tmp_path):
    name, content = compiled("information/information_gain.cu", "score_tuples", OPTIONS)
    assert name == "score_tuples"
    assert content == b"image -std=c++17 -ftz=true -DDIMENSIONS=3 -DCLASSES=2"
    compiled("information/information_gain.cu", "keep_candidates", OPTIONS)  # the other function of the file
    forget()
    assert compiled("information/information_gain.cu", "score_tuples", OPTIONS) == (name, content)
    assert len(cupy.compilations) == 1
    compiled("information/information_gain.cu", "score_tuples", ("-DDIMENSIONS=2", "-DCLASSES=2"))
    assert len(cupy.compilations) == 2
    kept = {path.name for path in (tmp_path / "interplay").iterdir()}
    assert kept == {
        image_name("information/information_gain.cu", (f"-DDIMENSIONS={k}", "-DCLASSES=2"), "90") for k in (2, 3)
    }
    assert image_name("information/information_gain.cu", OPTIONS, "80") not in kept


def test_an_architecture_that_is_named_is_what_is_compiled_for(cupy, monkeypatch):
    asked_for: list[tuple[str, ...]] = []

    class NvrtcError(Exception):
        """As CuPy's."""

    def compile_(program, options):
        asked_for.append(options)
        if "-DWRONG" in options:
            raise NvrtcError("NVRTC_ERROR_COMPILATION")

    destroyed: list[int] = []
    nvrtc = SimpleNamespace(
        createProgram=lambda source, name, headers, names: 7,
        compileProgram=compile_,
        getCUBIN=lambda program: b"image of a named architecture",
        getProgramLog=lambda program: "what is wrong",
        destroyProgram=destroyed.append,
        NVRTCError=NvrtcError,
    )
    monkeypatch.setattr(sys.modules["cupy.cuda"], "nvrtc", nvrtc, raising=False)
    found = compiled("products/warpgroup_products.cu", "count_products", ("-arch=sm_90a", "-DMASKS=4"))
    assert found == ("count_products", b"image of a named architecture")
    assert not cupy.compilations
    assert asked_for[0][:4] == ("-std=c++17", "-ftz=true", "-arch=sm_90a", "-DMASKS=4")
    with pytest.raises(RuntimeError, match="NVRTC_ERROR_COMPILATION: what is wrong"):
        compiled("products/warpgroup_products.cu", "count_products", ("-arch=sm_90a", "-DWRONG"))
    assert destroyed == [7, 7]


def test_another_source_or_another_cupy_compiles_anew(cupy, monkeypatch):
    compiled("planes/bit_planes.cu", "make_fragments", ())
    forget()
    monkeypatch.setattr(kernel_loader, "source_of", lambda file: "another")
    compiled("planes/bit_planes.cu", "make_fragments", ())
    assert len(cupy.compilations) == 2
    forget()
    monkeypatch.setattr(sys.modules["cupy"], "__version__", "15.0.0")
    compiled("planes/bit_planes.cu", "make_fragments", ())
    assert len(cupy.compilations) == 3


def test_all_is_compiled_at_the_same_time_and_once(cupy):
    together = threading.Barrier(3, timeout=20)
    cupy.while_compiling = together.wait  # which one at a time would never pass
    files = ("information/information_gain.cu", "information/tuple_statistic.cu", "tuples/tuple_list.cu")
    kernels = [(file, function, OPTIONS) for file in files for function in ("one", "another")]
    compile_ahead(kernels)
    compile_ahead(kernels)
    for kernel in kernels:
        assert compiled(*kernel)[0] == kernel[1]
    assert len(cupy.compilations) == 3


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"rubbish"), Path.unlink])
def test_a_damaged_image_is_compiled_anew(cupy, tmp_path, damage):
    expected = compiled("planes/bit_planes.cu", "make_fragments", ())
    (path,) = (tmp_path / "interplay").iterdir()
    kernel_loader._function.cache_clear()  # as on another device of the same kind
    damage(path)
    assert compiled("planes/bit_planes.cu", "make_fragments", ()) == expected
    assert len(cupy.compilations) == 2


def test_an_error_of_the_compiler_comes_where_a_kernel_is_asked_for(cupy):
    def fail():
        raise RuntimeError("no such option")

    cupy.while_compiling = fail
    compile_ahead([("planes/bit_planes.cu", "make_fragments", ())])
    with pytest.raises(RuntimeError, match="no such option"):
        compiled("planes/bit_planes.cu", "make_fragments", ())
    cupy.while_compiling = lambda: None
    assert compiled("planes/bit_planes.cu", "make_fragments", ())[0] == "make_fragments"


@pytest.mark.parametrize("why", ["in memory", "no folder"])
def test_a_process_that_may_keep_nothing_compiles_for_itself(cupy, monkeypatch, tmp_path, why):
    if why == "in memory":
        monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "1")
    else:
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "file"))
    compiled("planes/bit_planes.cu", "make_fragments", ())
    compiled("planes/bit_planes.cu", "make_fragments", ())
    assert len(cupy.compilations) == 1
    assert not (tmp_path / "interplay").exists()


def test_a_folder_that_can_only_be_read_serves_too(cupy, monkeypatch):
    """As in a container: what is kept there is used, and what is not is compiled for the process."""
    compiled("planes/bit_planes.cu", "make_fragments", ())
    forget()

    def refuse(path):
        raise PermissionError

    monkeypatch.setattr(kernel_loader, "whole_path", refuse)
    compiled("planes/bit_planes.cu", "make_fragments", ())
    assert len(cupy.compilations) == 1
    for function in ("list_tuples", "sample_tuples"):
        assert compiled("tuples/tuple_list.cu", function, OPTIONS)[0] == function
    assert len(cupy.compilations) == 2


def test_shared_memory_of_a_kernel_is_never_lowered():
    """Threads share kernels: another may be about to launch with more."""
    kernel = SimpleNamespace(max_dynamic_shared_size_bytes=48 << 10)
    for n_bytes, expected in [(1000, 48 << 10), (100 << 10, 100 << 10), (60 << 10, 100 << 10)]:
        allow_shared_memory(kernel, n_bytes)
        assert kernel.max_dynamic_shared_size_bytes == expected


def test_auto_knows_what_a_gpu_takes_to_begin(cupy, monkeypatch):
    monkeypatch.setattr(choice, "find_spec", lambda name: object())
    monkeypatch.setattr("interplay.search.engines.cuda.why_no_cuda", lambda: None)
    seconds = {"3D of 500 variables": 0.56, "3D of 1000 variables": 2.7, "3D of 2000 variables": 15.0}
    works = [SearchWork(n_tuples=s / 6.8e-9, n_samples=2000, n_cells=8) for s in seconds.values()]

    def chosen():
        return [choice._gpu_is_worth_it(work, n_threads=1) for work in works]

    never = start_seconds()
    assert chosen() == [False, False, True]
    compiled("tuples/tuple_list.cu", "list_tuples", OPTIONS)
    in_use = start_seconds()
    assert chosen() == [True, True, True]
    forget()  # another process, which finds what this one compiled
    kept = start_seconds()
    assert chosen() == [False, True, True]
    assert in_use < kept < never


def test_what_a_search_will_run_is_compiled_while_its_columns_are_coded(cupy, monkeypatch):
    """For pairs and triples at once, and for nothing else."""
    monkeypatch.setattr("interplay.search.engines.cuda.engine.why_no_cuda", lambda: None)
    monkeypatch.setattr("interplay.search.engines.cuda.engine.device_numbers", lambda: (0,))
    monkeypatch.setattr(CudaEngine, "_limits", lambda self: H200)
    monkeypatch.setattr(CudaEngine, "describe", lambda self: {"name": "cuda"})
    together = threading.Barrier(8, timeout=20)  # one at a time would never pass, nor one size of tuples
    cupy.while_compiling = together.wait
    at_search: list[list[str]] = []

    def search(self, planes, tiles, sink, **options):
        if tiles.dimensions > 1:
            if not at_search:
                together.wait()  # for all seven, before the first search
            at_search.append(sorted(Path(file).name for file, _, _ in kernel_loader._images))
        CpuEngine().search(planes, tiles, sink, **options)

    monkeypatch.setattr(CudaEngine, "search", search)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    interplay.select(X, (X[:, 3] > 0) ^ (X[:, 11] > 0), dimensions=(1, 2, 3), engine=CudaEngine(), random_state=0)
    once, twice = ["bit_planes.cu"], ["information_gain.cu", "tuple_list.cu", "tuple_search.cu"]
    assert at_search == [sorted(once + 2 * twice)] * 2
    assert len(cupy.compilations) == 7


@pytest.mark.parametrize(("kind", "sampled", "rule"), [("maxima", True, False), ("screen", False, True)])
def test_each_kind_of_search_begins_with_its_own_kernels(monkeypatch, kind, sampled, rule):
    """A screen scores no sample, and its kernels know its rule."""
    monkeypatch.setattr("interplay.search.engines.cuda.engine.why_no_cuda", lambda: None)
    monkeypatch.setattr("interplay.search.engines.cuda.engine.device_numbers", lambda: (0,))
    monkeypatch.setattr(CudaEngine, "_limits", lambda self: H200)
    cupy: Any = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(Device=lambda number: nullcontext())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    asked: Queue[list[kernel_loader.Kernel]] = Queue()
    monkeypatch.setattr("interplay.search.engines.cuda.engine.compile_ahead", asked.put)
    planes, n_levels = problem(np.random.default_rng(0), n_samples=300, n_vars=60)
    tiles = make_tuple_tiles(n_levels, n_vars=60, dimensions=3, **vars(CudaEngine().tile_shape(3)))
    CudaEngine().begin(planes, tiles, kind=kind, pseudocount=0.25)
    kernels = asked.get(timeout=20)
    assert any(function == "sample_tuples" for _, function, _ in kernels) == sampled
    for file in ("information_gain.cu", "tuple_search.cu"):
        assert {EVERY_MEMBER in options for path, _, options in kernels if Path(path).name == file} == {rule}


@pytest.mark.parametrize("driver", ["none", "without a device", "with a device"])
def test_the_driver_starts_while_cupy_is_imported(monkeypatch, driver):
    """In a thread that nobody waits for, and that has nothing to say."""
    calls: list[str] = []

    def load(name):
        assert name == "libcuda.so.1"
        if driver == "none":
            raise OSError
        return SimpleNamespace(
            cuInit=lambda flags: calls.append("init") or 0,
            cuDeviceGet=lambda device, number: calls.append("device") or int(driver == "without a device"),
            cuDevicePrimaryCtxRetain=lambda context, device: calls.append("context") or 0,
        )

    monkeypatch.setattr("interplay.search.engines.cuda.devices.ctypes.CDLL", load)
    before = set(threading.enumerate())
    devices._begin_driver()
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=20)
    expected = {"none": [], "without a device": ["init", "device"], "with a device": ["init", "device", "context"]}
    assert calls == expected[driver]


class TestOnDevice:
    pytestmark = needs_gpu

    def test_a_second_process_compiles_nothing(self, tmp_path):
        code = """
import numpy as np, cupy.cuda.compiler, interplay
compile, n = cupy.cuda.compiler.compile_using_nvrtc, []
cupy.cuda.compiler.compile_using_nvrtc = lambda *args, **options: (n.append(args[1]), compile(*args, **options))[1]
X = np.random.default_rng(0).normal(size=(400, 60))
interplay.select(X, (X[:, 3] > 0) ^ (X[:, 11] > 0), dimensions=(1, 2, 3), engine="cuda", random_state=0)
print(len(n))
"""
        counts = []
        for _ in range(2):
            env = os.environ | {"CUPY_CACHE_DIR": str(tmp_path)}
            done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
            counts.append(int(done.stdout))
        assert counts == [7, 0]
