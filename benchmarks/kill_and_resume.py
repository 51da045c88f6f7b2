"""Does a search survive kill -9 at any moment, and how much work does each kill cost?

python benchmarks/kill_and_resume.py [--kills 10] [--seconds 1] [--n-vars 3000]

A search with a checkpoint is killed at random moments and started again each time. The result must equal that of a
search that ran through, and no kill may cost more than the time between two checkpoints.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import interplay
from machine import write_result

SCRIPT = """
import sys, time
import numpy as np, interplay
path, out, n_vars, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, n_vars)), rng.integers(0, 2, 500)
kept = interplay.Checkpoint(path, seconds=seconds) if path else None
found = interplay.max_information_gain(X, y, dimensions=3, checkpoint=kept)
np.savez(out, gain=found.gain, tuples=found.tuples)
"""


def start(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, *map(str, arguments)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="between two checkpoints")
    parser.add_argument("--n-vars", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        plain, kept, file = Path(folder) / "plain.npz", Path(folder) / "kept.npz", Path(folder) / "run.ckpt"
        began = time.perf_counter()
        assert start("", plain, arguments.n_vars, arguments.seconds).wait() == 0
        whole = time.perf_counter() - began
        kills = []
        while len(kills) < arguments.kills:
            process = start(file, kept, arguments.n_vars, arguments.seconds)
            time.sleep(float(rng.uniform(0.5, 1.5)) * max(whole / (arguments.kills + 2), 2.5))
            process.kill()
            if process.wait() == 0:
                break  # done before its time
            # What was found since the file was written is lost.
            age = time.time() - file.stat().st_mtime if file.exists() else 0.0
            state = interplay.Checkpoint(file)._states.get("search")
            share = 0.0 if state is None else float(state.done.mean())
            kills.append({"seconds_lost": age, "tiles_done": share})
            print(f"kill {len(kills)}: {age:.2f} s lost, {share:.1%} of the tiles done", flush=True)
        began = time.perf_counter()
        assert start(file, kept, arguments.n_vars, arguments.seconds).wait() == 0
        last = time.perf_counter() - began
        a, b = np.load(plain), np.load(kept)
        identical = all(np.array_equal(a[name], b[name]) for name in a.files)
    result = {
        "n_vars": arguments.n_vars,
        "seconds_between_checkpoints": arguments.seconds,
        "seconds_in_one_go": whole,
        "seconds_after_the_last_kill": last,
        "kills": kills,
        "most_seconds_lost": max(kill["seconds_lost"] for kill in kills),
        "identical": identical,
    }
    print({key: value for key, value in result.items() if key != "kills"})
    print("written:", write_result("kill_and_resume", result).name)
    assert identical


if __name__ == "__main__":
    main()
