"""`interplay run --shard` and `--checkpoint`, `interplay merge`: long searches from the command line."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import interplay
from command_line import exclusive_or


@pytest.fixture
def data(tmp_path):
    """A table in which g3 and g12 tell the outcome together."""
    exclusive_or().to_parquet(tmp_path / "data.parquet", index=False)
    return tmp_path / "data.parquet"


def test_merged_parts_are_the_result_of_one_run(command, data):
    run = ["run", data, "--target", "outcome", "-k", 2]
    for number in (1, 2, 3):
        done = command(*run, "--shard", f"{number}/3", "--save", f"part{number}")
        assert (done.code, done.out, done.err) == (0, "", f"save: part{number}\n")
    assert command(*run, "--seed", 0, "--save", "whole.interplay", "--report", "whole.html", "-q").code == 0
    merged = command("merge", "part3", "part1", "part2", "--save", "merged.interplay", "--report", "merged.html",
                     "--data", data, "--target", "outcome")  # fmt: skip
    assert merged.code == 0
    assert merged.out.startswith("2 of 20 variables relevant")
    a, b = interplay.load("merged.interplay"), interplay.load("whole.interplay")
    assert a.table.equals(b.table)
    assert a.settings == b.settings
    assert np.array_equal(a.correlation, b.correlation)
    assert len(a.tuple_counts) == len(b.tuple_counts) > 0
    assert Path("merged.html").stat().st_size > 10_000
    without_data = command("merge", "part1", "part2", "part3", "--format", "csv", "--report", "plain.html")
    assert without_data.out.count("\n") == 21


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["merge", "part1", "other2"], "of another search than 'part1' (dimensions: 1 in 'part1', 2 in 'other2',"),
        (["merge", "part1", "part2", "--save", "part1"], "is also used for something else"),
        (["run", "data.parquet", "--target", "outcome", "--shard", "1/2", "--save", "x", "--report", "y"],
         "--report needs the whole result"),
        (["run", "data.parquet", "--target", "outcome", "--engine", "dask"], "--engine dask needs a Dask client"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(command, data, arguments, message):
    pytest.importorskip("distributed")
    run = ["run", data, "--target", "outcome", "-q"]
    command(*run, "-k", 1, "--shard", "1/2", "--save", "part1")
    command(*run, "-k", 1, "--shard", "2/2", "--save", "part2")
    command(*run, "-k", 2, "--shard", "2/2", "--save", "other2")
    done = command(*arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_terminated_run_goes_on(command, tmp_path):
    """As a queueing system does it at the time limit."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "data.npz", X=rng.normal(size=(400, 1600)), y=rng.integers(0, 2, 400))
    run = ["run", "data.npz", "-k", "3", "--seed", "1", "--n-contrast", "0", "--fit", "union", "-j", "1", "-q"]
    process = subprocess.Popen([sys.executable, "-m", "interplay", *run, "--checkpoint", "run.ckpt"], cwd=tmp_path)
    while not (tmp_path / "run.ckpt").exists() and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.4)  # the search takes longer, also on a fast machine
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 143
    state = interplay.Checkpoint(tmp_path / "run.ckpt")._states["search0"]
    assert np.isfinite(state.found[0].gain).sum() > 0
    assert command(*run, "--checkpoint", "run.ckpt", "--save", "kept").code == 0
    assert command(*run, "--save", "plain").code == 0
    assert interplay.load("kept").table.equals(interplay.load("plain").table)
