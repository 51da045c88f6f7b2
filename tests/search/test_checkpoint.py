"""Checkpoints: whatever happens to a search, the same call goes on and gives the same bits."""

import contextlib
import os
import stat
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import interplay
import interplay.search.checkpoint
from interplay.base.tuples import summed
from interplay.search.engines.base import TileShape
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.routing import ChunkSize, end_of_chunk
from interplay.search.tiles import make_tuple_tiles

SETTINGS = {"dimensions": 3, "discretizations": 2, "range_": 0.5, "random_state": 3}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(150, 40)), rng.integers(0, 3, 150)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.ckpt"


class Stops(CpuEngine):
    """An engine that fails at its nth call."""

    def __init__(self, at, error=RuntimeError):
        super().__init__()
        object.__setattr__(self, "calls", [])
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "error", error)

    def search(self, planes, tiles, sink, **options):
        self.calls.append(float(tiles.n_tuples.sum()))
        if len(self.calls) == self.at:
            raise self.error("stopped")
        super().search(planes, tiles, sink, **options)


@pytest.fixture
def small_tiles(monkeypatch):
    """Many tiles also for a small table."""
    import interplay.search.plan as search

    def make(*args, **kwargs):
        return make_tuple_tiles(*args, **kwargs | {"block_size": 4, "middle_size": 8, "n_lanes": 16})

    monkeypatch.setattr(search, "make_tuple_tiles", make)


def assert_same(a, b):
    for name in ("gain_by_group", "discretization_by_group", "tuples_by_group", "df_by_group"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("at", [1, 2, 3, 5, 8, 13])
def test_a_failed_search_goes_on(data, file, at):
    plain = interplay.max_information_gain(*data, **SETTINGS)
    engine = Stops(at)
    with pytest.raises(RuntimeError, match="stopped"):
        interplay.max_information_gain(
            *data, **SETTINGS, engine=engine, checkpoint=interplay.Checkpoint(file, seconds=0)
        )
    rest = Stops(0)
    found = interplay.max_information_gain(*data, **SETTINGS, engine=rest, checkpoint=file)
    assert_same(found, plain)
    # Nothing is searched twice: every chunk before the failure was kept.
    n_tuples = 2 * 40 * 39 * 38 / 6
    assert sum(engine.calls[:-1]) + sum(rest.calls) == n_tuples


@pytest.mark.usefixtures("small_tiles")
def test_a_finished_search_returns_at_once(data, file):
    first = interplay.select(*data, **SETTINGS, checkpoint=file)
    assert not Path(f"{file}.prev").exists()
    engine = Stops(0)
    again = interplay.select(*data, **SETTINGS, checkpoint=file, engine=engine)
    assert engine.calls == []
    assert_same(again.gains, first.gains)
    assert np.array_equal(again.p_adjusted, first.p_adjusted)
    # What does not decide the gains may change.
    interplay.select(*data, **SETTINGS, checkpoint=file, engine=engine, p_adjust="BY", level=0.1)
    assert engine.calls == []


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("at", [4, 30])
def test_several_searches_in_one_file(data, file, multiclass, at):
    settings = {"dimensions": 2, "multiclass": multiclass, "random_state": 0}
    plain = interplay.select(*data, **settings)
    engine = Stops(at)
    with pytest.raises(RuntimeError, match="stopped"):
        interplay.select(*data, **settings, engine=engine, checkpoint=interplay.Checkpoint(file, seconds=0))
    found = interplay.select(*data, **settings, checkpoint=file)
    assert len(found.runs) == 3
    for run, other in zip(found.runs, plain.runs, strict=True):
        assert_same(run.gains, other.gains)
        assert np.array_equal(run.gain_alone, other.gain_alone)
    assert np.array_equal(found.log_p, plain.log_p)


def test_a_drawn_seed_is_kept(data, file):
    first = interplay.select(*data, dimensions=2, checkpoint=file)
    again = interplay.select(*data, dimensions=2, checkpoint=file)
    assert again.settings["random_state"] == first.settings["random_state"]
    assert_same(again.gains, first.gains)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"dimensions": 2}, "dimensions: 3 there, 2 here"),
        ({"random_state": 4}, "random_state: 3 there, 4 here"),
        ({"pseudocount": 0.5, "range_": 0.4}, "range_: 0.5 there, 0.4 here, pseudocount: 0.25 there, 0.5 here"),
        ({"discrete": ["x1"]}, "discrete: 'auto' there, ['x1'] here"),
        ({"variables": [3]}, "variables: None there, [3] here"),
        ({"contrast": np.zeros((150, 30))}, "other data"),
    ],
)
def test_other_settings_are_refused(data, file, changes, difference):
    interplay.max_information_gain(*data, **SETTINGS, checkpoint=file)
    before = file.read_bytes()
    with pytest.raises(ValueError, match="belongs to another search") as caught:
        interplay.max_information_gain(*data, **SETTINGS | changes, checkpoint=file)
    assert difference in str(caught.value)
    assert "\n" not in str(caught.value)
    assert file.read_bytes() == before


def test_other_data_are_refused(data, file):
    X, y = data
    interplay.max_information_gain(X, y, checkpoint=file)
    changed = X.copy()
    changed[7, 3] += 1e-9
    with pytest.raises(ValueError, match=r"another search \(other data\): repeat"):
        interplay.max_information_gain(changed, y, checkpoint=file)
    with pytest.raises(ValueError, match="n_vars: 40 there, 39 here, other data"):
        interplay.max_information_gain(X[:, 1:], y, checkpoint=file)
    with pytest.raises(ValueError, match=r"another search \(other data\): repeat"):
        interplay.max_information_gain(X, np.roll(y, 1), checkpoint=file)


def test_another_version_is_refused(data, file, monkeypatch):
    interplay.max_information_gain(*data, checkpoint=file)
    monkeypatch.setattr(interplay.search.checkpoint, "version", lambda name: "9.9")
    with pytest.raises(ValueError, match=r"interplay: '.*' there, '9.9' here"):
        interplay.max_information_gain(*data, checkpoint=file)


def test_other_tiles_are_refused(data, file, request):
    interplay.max_information_gain(*data, checkpoint=file)
    request.getfixturevalue("small_tiles")
    with pytest.raises(ValueError, match="cuts the search into other tiles"):
        interplay.max_information_gain(*data, checkpoint=file)


class OtherTiles(CpuEngine):
    """An engine that likes its tiles otherwise, as those of GPUs do."""

    def tile_shape(self, dimensions):
        return TileShape(block_size=8, middle_size=8, n_lanes=8, even=False)


def test_another_engine_goes_on_with_the_tiles_of_the_first(data, file, monkeypatch):
    plain = interplay.max_information_gain(*data, **SETTINGS)
    with monkeypatch.context() as patched:
        patched.setattr(Stops, "tile_shape", OtherTiles.tile_shape, raising=False)
        with pytest.raises(RuntimeError, match="stopped"):
            interplay.max_information_gain(
                *data, **SETTINGS, engine=Stops(5), checkpoint=interplay.Checkpoint(file, seconds=0)
            )
    rest = Stops(0)
    found = interplay.max_information_gain(*data, **SETTINGS, engine=rest, checkpoint=file)
    assert_same(found, plain)
    assert 0 < sum(rest.calls) < 2 * 40 * 39 * 38 / 6


def damage(path, how):
    content = bytearray(path.read_bytes())
    if how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "missing":
        path.unlink()
    else:
        # A zip that is whole, with another number in it: only our checksum tells.
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        text = members["content.json"]
        members["content.json"] = text.replace(b'"dimensions": 3', b'"dimensions": 4') if how == "json" else text
        if how == "array":
            name = next(name for name in members if "gain_by_group" in name)
            members[name] = members[name][:-8] + np.float64(1e9).tobytes()
        with zipfile.ZipFile(path, "w") as archive:
            for name, member in members.items():
                archive.writestr(name, member)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("how", ["truncated", "empty", "json", "array", "missing"])
def test_a_damaged_file_gives_way_to_the_one_before(data, file, how):
    plain = interplay.max_information_gain(*data, **SETTINGS)
    with pytest.raises(RuntimeError, match="stopped"):
        interplay.max_information_gain(
            *data, **SETTINGS, engine=Stops(9), checkpoint=interplay.Checkpoint(file, seconds=0)
        )
    damage(file, how)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = interplay.max_information_gain(*data, **SETTINGS, engine=(engine := Stops(0)), checkpoint=file)
    assert_same(found, plain)
    assert sum(engine.calls) < 2 * 40 * 39 * 38 / 6
    messages = [str(warning.message) for warning in caught]
    assert ["damaged: resuming from" in message for message in messages] == ([] if how == "missing" else [True])


def test_files_that_are_no_checkpoints_stay_as_they_are(data, file):
    file.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"run.ckpt' is not a checkpoint of interplay, or is damaged"):
        interplay.max_information_gain(*data, checkpoint=file)
    assert file.read_text() == "a,b\n1,2\n"


def test_interrupt_writes_what_was_found(tmp_path, ctrl_c_after):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 700)), rng.integers(0, 2, 500)
    file = tmp_path / "run.ckpt"
    ctrl_c_after(0.5)
    with pytest.raises(interplay.SearchInterrupted) as caught:
        interplay.max_information_gain(X, y, dimensions=4, checkpoint=interplay.Checkpoint(file, seconds=600))
    assert 0 < caught.value.done < 1
    assert caught.value.kept_in == str(file)
    assert str(caught.value).endswith(f"the same call goes on from {str(file)!r}")
    kept = interplay.Checkpoint(file)
    state = kept._states["search"]
    assert np.isfinite(state.found[0].gain).any()
    assert np.array_equal(state.found[0].gain, caught.value.partial.gain)


SCRIPT = """
import sys
import numpy as np, interplay
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 700)), rng.integers(0, 2, 300)
kept = interplay.Checkpoint(sys.argv[1], seconds=0.1) if sys.argv[1] else None
result = interplay.select(X, y, dimensions=3, discretizations=3, random_state=1, n_contrast=30, checkpoint=kept)
np.savez(sys.argv[2], gain=result.gains.gain, tuples=result.gains.tuples, p=result.log_p)
"""


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on(tmp_path):
    def start(checkpoint, out):
        return subprocess.Popen([sys.executable, "-c", SCRIPT, checkpoint, str(out)])

    assert start("", tmp_path / "plain.npz").wait() == 0
    file = tmp_path / "run.ckpt"
    rng = np.random.default_rng()
    kills = 0
    while kills < 3:
        process = start(str(file), tmp_path / "kept.npz")
        while not file.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0, 0.4)))
        process.kill()
        if process.wait() == 0:
            break
        kills += 1
    assert kills
    assert start(str(file), tmp_path / "kept.npz").wait() == 0
    plain, kept = np.load(tmp_path / "plain.npz"), np.load(tmp_path / "kept.npz")
    for name in plain.files:
        assert np.array_equal(plain[name], kept[name])


def test_chunks_grow_to_the_time_asked_for():
    size = ChunkSize(10.0)
    assert size.cost == 0
    size.learn(100.0, 0.001)
    assert size.cost == 800  # not a million at once
    for _ in range(10):
        size.learn(size.cost, size.cost / 1000)
    assert size.cost == pytest.approx(10_000)
    size.learn(10_000, 100.0)
    assert size.cost == pytest.approx(1000)
    before = summed([10.0, 10.0, 20.0, 60.0])
    assert [end_of_chunk(before, b, 20) for b in range(4)] == [2, 2, 3, 4]


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="permissions, links and pipes of POSIX")


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("call", ["max_information_gain", "select"])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (OSError(28, "No space left on device", "run.ckpt"), "'run.ckpt': No space left on device"),
        (MemoryError("no more"), "MemoryError: no more"),
        (KeyboardInterrupt(), "interrupted again"),
    ],
)
def test_a_fault_while_an_interrupt_is_kept_costs_nothing_found(data, file, monkeypatch, fault, reason, call):
    class Full(Stops):
        def search(self, planes, tiles, sink, **options):
            if len(self.calls) == self.at - 1:  # from here on nothing can be written
                monkeypatch.setattr(interplay.search.checkpoint, "write_archive", no_write)
            super().search(planes, tiles, sink, **options)

    def no_write(*_, **__):
        raise fault

    with pytest.raises(interplay.SearchInterrupted) as caught:
        getattr(interplay, call)(
            *data, **SETTINGS, engine=Full(7, KeyboardInterrupt), checkpoint=interplay.Checkpoint(file, seconds=1e-9)
        )
    interrupt = caught.value
    assert 0 < interrupt.done < 1
    assert np.isfinite(interrupt.partial.gain).any()
    assert interrupt.kept_in is None
    assert reason in interrupt.not_kept
    assert interrupt.not_kept in str(interrupt)
    monkeypatch.undo()
    assert interplay.Checkpoint(file)._about is not None  # as it was last written


@posix_only
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
@pytest.mark.usefixtures("small_tiles")
def test_a_full_disk_while_an_interrupt_is_kept(data, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:

        class Full(Stops):
            def search(self, planes, tiles, sink, **options):
                if len(self.calls) == self.at - 1:
                    with contextlib.suppress(OSError), open(disk / "others", "wb", buffering=0) as others:
                        while True:
                            others.write(bytes(512))
                super().search(planes, tiles, sink, **options)

        with pytest.raises(interplay.SearchInterrupted) as caught:
            interplay.max_information_gain(
                *data,
                **SETTINGS,
                engine=Full(7, KeyboardInterrupt),
                checkpoint=interplay.Checkpoint(disk / "run.ckpt", seconds=1e-9),
            )
        assert caught.value.not_kept == f"cannot write {str(disk / 'run.ckpt')!r}: No space left on device"
        assert np.isfinite(caught.value.partial.gain).any()
        assert not [name for name in os.listdir(disk) if "part" in name]
        (disk / "others").unlink()
        rest = Stops(0)
        found = interplay.max_information_gain(*data, **SETTINGS, engine=rest, checkpoint=disk / "run.ckpt")
        assert_same(found, interplay.max_information_gain(*data, **SETTINGS))
        assert 0 < sum(rest.calls) < 2 * 40 * 39 * 38 / 6
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@posix_only
@pytest.mark.usefixtures("small_tiles")
def test_permissions_and_links_stay(data, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real.ckpt", tmp_path / "run.ckpt"
    link.symlink_to(real)
    with pytest.raises(RuntimeError, match="stopped"):
        interplay.max_information_gain(
            *data, **SETTINGS, engine=Stops(4), checkpoint=interplay.Checkpoint(link, seconds=0)
        )
    real.chmod(0o600)
    before = real.read_bytes()
    with pytest.raises(RuntimeError, match="stopped"):
        interplay.max_information_gain(
            *data, **SETTINGS, engine=Stops(4), checkpoint=interplay.Checkpoint(link, seconds=0)
        )
    assert link.is_symlink()
    assert real.read_bytes() != before
    for path in (real, real.with_name("real.ckpt.prev")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rest = Stops(0)
    interplay.max_information_gain(*data, **SETTINGS, engine=rest, checkpoint=link)
    assert sum(rest.calls) < 2 * 40 * 39 * 38 / 6
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path / "elsewhere")) == ["real.ckpt"]
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "run.ckpt"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


@posix_only
def test_a_device_is_refused():
    with pytest.raises(ValueError, match="checkpoint must be a file that can be read again"):
        interplay.Checkpoint("/dev/null")


@pytest.mark.usefixtures("small_tiles")
def test_two_searches_at_once_are_refused_by_name(data, file):
    refusals = []

    class Meets(CpuEngine):
        """In the middle of a search, another one asks for the same file."""

        def search(self, planes, tiles, sink, **options):
            if not refusals:
                with pytest.raises(ValueError, match="is in use by another search in this process") as caught:
                    interplay.max_information_gain(*data, **SETTINGS, checkpoint=file)
                refusals.append(str(caught.value))
            super().search(planes, tiles, sink, **options)

    found = interplay.max_information_gain(*data, **SETTINGS, engine=Meets(), checkpoint=file)
    assert_same(found, interplay.max_information_gain(*data, **SETTINGS))
    assert len(refusals) == 1
    assert refusals[0].endswith("wait until that is done, or name another file")
    interplay.max_information_gain(*data, **SETTINGS, checkpoint=file)


def test_processes_with_one_file_are_told_so_or_go_on(tmp_path):
    """Never anything else, and one at least gets to the end."""
    file, script = tmp_path / "run.ckpt", SCRIPT.replace("700", "150").replace("seconds=0.1", "seconds=0")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(file), str(tmp_path / f"{i}.npz")], stderr=subprocess.PIPE, text=True
        )
        for i in range(4)
    ]
    errors = [process.communicate()[1] for process in processes]
    assert any(process.returncode == 0 for process in processes)
    for process, error in zip(processes, errors, strict=True):
        if process.returncode:
            assert f"ValueError: checkpoint {str(file)!r} is in use by process " in error, error
    results = [np.load(tmp_path / f"{i}.npz")["gain"] for i in range(4) if processes[i].returncode == 0]
    assert all(np.array_equal(result, results[0]) for result in results)
    assert sorted(path.name for path in tmp_path.glob("run*")) == ["run.ckpt"]


def test_what_another_search_did_since_is_seen(data, file):
    kept = interplay.Checkpoint(file)
    interplay.max_information_gain(*data, **SETTINGS, checkpoint=file)
    engine = Stops(0)
    interplay.max_information_gain(*data, **SETTINGS, checkpoint=kept, engine=engine)
    assert engine.calls == []
