"""max_information_gain as users call it: filters, interrupts, errors, progress, memory."""

import os
import subprocess
import sys

import numpy as np
import pytest

import interplay
from interplay.search.engines.base import SearchInterrupted


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 12)), rng.integers(0, 2, 200)


def test_one_column_with_one_value_takes_part(data):
    X, y = data
    X[:, 3] = 1.0
    found = interplay.max_information_gain(X, y)
    assert np.isfinite(found.gain).all()
    assert found.gain[3] == found.gain.min()


def test_variables_by_name_and_number(data):
    X, y = data
    by_number = interplay.max_information_gain(X, y, variables=[2, 5, 7], require="all")
    by_name = interplay.max_information_gain(X, y, variables=["x2", "x5", "x7"], require="all")
    assert np.array_equal(by_number.gain, by_name.gain)
    assert np.isfinite(by_number.gain).tolist() == [v in (2, 5, 7) for v in range(12)]
    assert by_number.tuples[0].tolist() == [-1, -1]


def test_levels_and_classes_in_numbers(data):
    """256 levels, 40 classes: slow perhaps, but right: the gain alone equals that of the formula."""
    rng = np.random.default_rng(1)
    X = np.stack([rng.permutation(np.arange(1024) % 256), rng.integers(0, 3, 1024)], axis=1)
    y = np.arange(1024) % 40
    found = interplay.max_information_gain(X, y, dimensions=1, discrete="all", decision="classes")
    n = np.zeros((256, 40))
    np.add.at(n, (X[:, 0], y), 1)
    n += 0.25 * np.bincount(y) / np.bincount(y).min()

    def entropy(table):
        return -float((table * np.log2(table / table.sum(axis=1, keepdims=True))).sum())

    assert found.gain[0] == pytest.approx(entropy(n.sum(axis=0, keepdims=True)) - entropy(n), rel=1e-9)
    pairs = interplay.max_information_gain(X, y, dimensions=2, discrete="all", decision="classes")
    assert np.isfinite(pairs.gain).all()


def test_interrupt_stops_within_a_second_and_leaves_what_was_found(ctrl_c_after):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2000)), rng.integers(0, 2, 1000)
    ctrl_c = ctrl_c_after(0.5)
    with pytest.raises(SearchInterrupted) as caught:
        interplay.max_information_gain(X, y, dimensions=3, n_jobs=2)  # would take minutes
    assert ctrl_c.seconds_since() < 2.0  # a busy machine may add to the one second
    assert isinstance(caught.value, KeyboardInterrupt)
    assert 0 < caught.value.done < 1
    assert np.isfinite(caught.value.partial.gain).any()


def test_interrupted_between_discretisations(monkeypatch, data):
    """Wherever Ctrl-C strikes, what was found is handed over, and how far it came is told of the whole."""
    import pickle

    from interplay.data.codes import coded

    calls = []

    def make_bit_planes(*args, **kwargs):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    original = coded.make_bit_planes
    monkeypatch.setattr(coded, "make_bit_planes", make_bit_planes)
    with pytest.raises(SearchInterrupted) as caught:
        interplay.max_information_gain(*data, discretizations=10)
    assert caught.value.done == pytest.approx(0.3)
    assert np.isfinite(caught.value.partial.gain).all()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.done == caught.value.done
    assert "30.0% of the search" in str(copy)


def test_contrast_is_taken_like_its_source():
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": list("abcdef") * 10, "b": rng.normal(size=60)})
    contrast, sources = interplay.contrast_variables(table, 2)
    y = np.arange(60) % 2
    found = interplay.max_information_gain(table, y, contrast=contrast, contrast_sources=sources)
    # Six levels beside two or six, not two levels.
    assert found.contrast_df[sources.tolist().index(0)] in (10, 30)


@pytest.mark.parametrize("pseudocount", [1e-4, 50.0, 5000.0, 1e6])
def test_the_bound_holds_for_any_pseudocount(pseudocount):
    from interplay.search.engines.cpu import CpuEngine

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(64, 120)), np.arange(64) < 3
    fast = interplay.max_information_gain(X, y, pseudocount=pseudocount)
    direct = interplay.max_information_gain(X, y, pseudocount=pseudocount, engine=CpuEngine(direct_only=True))
    assert np.array_equal(fast.gain, direct.gain)
    assert np.array_equal(fast.tuples, direct.tuples)


def test_no_stderr_is_no_error(monkeypatch, data):
    monkeypatch.setattr(sys, "stderr", None)
    for progress in (None, True, False):
        interplay.max_information_gain(*data, progress=progress)


def test_an_error_in_the_progress_display_stops_the_search():
    from interplay.base.planes import DiscreteCodes
    from interplay.data.codes.planes import make_bit_planes
    from interplay.data.study.outcomes.classes import DecisionClasses
    from interplay.search.engines.cpu import CpuEngine
    from interplay.search.tiles import make_tuple_tiles

    rng = np.random.default_rng(0)
    levels = np.full(800, 2)
    codes = DiscreteCodes(rng.integers(0, 2, (800, 1000)).astype(np.uint8), levels)
    planes = make_bit_planes([codes], DecisionClasses(rng.integers(0, 2, 1000), [0, 1]))
    tiles = make_tuple_tiles(levels, n_vars=800, dimensions=3)

    def fail(done, found=None):
        raise RuntimeError("the display broke")

    with pytest.raises(RuntimeError, match="the display broke"):
        CpuEngine().max_gains(planes, tiles, pseudocount=0.25, on_progress=fail)


@pytest.mark.parametrize("progress", [True, False])
def test_progress_goes_to_stderr_or_nowhere(progress):
    code = (
        "import numpy as np, interplay\n"
        "rng = np.random.default_rng(0)\n"
        "X, y = rng.normal(size=(300, 60)), rng.integers(0, 2, 300)\n"
        f"interplay.max_information_gain(X, y, dimensions=3, progress={progress})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert ("tuples" in done.stderr) == progress


def test_import_is_light():
    heavy = ["matplotlib", "dask", "cupy", "pandas", "sklearn", "statsmodels", "polars", "pyarrow"]
    code = f"import interplay, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_wide_table_stays_within_its_memory():
    """No table of all pairs: 60 000 variables in 2D would need 28 GB for one. Only some tuples, to be quick."""
    import resource

    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(64, 60_000)).astype(np.uint8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    interplay.max_information_gain(X, np.arange(64) % 2, variables=range(20))
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 300 * 1024


@pytest.mark.parametrize("level", ["serial", "nonsense"])
def test_simd_level_from_the_environment(level):
    code = (
        "import numpy as np, interplay\n"
        "rng = np.random.default_rng(0)\n"
        "print(interplay.max_information_gain(rng.normal(size=(50, 4)), rng.integers(0, 2, 50)).gain.sum())"
    )
    environment = os.environ | {"INTERPLAY_SIMD_LEVEL": level}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    if level == "serial":
        assert done.returncode == 0
    else:
        assert "INTERPLAY_SIMD_LEVEL must be one of auto, serial" in done.stderr
