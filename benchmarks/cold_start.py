"""How long the first selection on a GPU takes: with nothing compiled before, with what was kept, and the second call.

    python benchmarks/cold_start.py [--repeats 3] [--no-save]

Each is measured in a process of its own, from the call of `select` on (the import of interplay is stated beside it):
importing CuPy, starting the driver and the device, compiling or loading kernels, the search and all that follows.
Bytecode of all packages is there, as it is after `pip install`. Least of the repeats. Results go to
benchmarks/results/cold_start.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from interplay.search.engines.cuda import cuda_devices
from machine import write_result

#: What is called: 500 variables × 2000 samples of noise and one variable that matters.
CASES = {"3D": "dimensions=3", "default": "", "2D": "dimensions=2", "3D on the processor": "dimensions=3, engine='cpu'"}

_PROCESS = """
import json, sys, time
began = time.perf_counter()
import numpy as np
numpy_there = time.perf_counter()
import interplay
interplay.select  # what it needs is imported when it is first named
imported = time.perf_counter()
rng = np.random.default_rng(0)
y = rng.permutation(np.arange(2000) % 2)
X = rng.normal(size=(2000, 500))
X[:, 0] += y
seconds = []
for _ in range(2):
    then = time.perf_counter()
    found = interplay.select(X, y, random_state=0, **dict({case}))
    seconds.append(time.perf_counter() - then)
from interplay.search.engines.cuda import kernel_loader
print(json.dumps(dict(
    import_seconds=imported - numpy_there, first_seconds=seconds[0], second_seconds=seconds[1],
    sources=sorted(file for file, _, _ in kernel_loader._images), engine=found.provenance["engine"]["name"],
)))
"""


def run(case: str, cache: str, bytecode: str) -> dict[str, Any]:
    """Call `select` twice in a process that keeps what it compiles in `cache`."""
    env = os.environ | {"CUPY_CACHE_DIR": cache, "CUDA_CACHE_DISABLE": "1", "PYTHONPYCACHEPREFIX": bytecode}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    code = _PROCESS.replace("{case}", case if "engine" in case else f"engine='cuda', {case}")
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measured(case: str, repeats: int, bytecode: str) -> dict[str, Any]:
    cold, kept = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(run(case, cache, bytecode))
            kept.append(run(case, cache, bytecode))
    row = {
        "cold_seconds": min(each["first_seconds"] for each in cold),
        "kept_seconds": min(each["first_seconds"] for each in kept),
        "second_call_seconds": min(each["second_seconds"] for each in cold + kept),
        "import_seconds": min(each["import_seconds"] for each in cold + kept),
    }
    return {
        **{name: round(seconds, 3) for name, seconds in row.items()},
        "sources": cold[0]["sources"],
        "engine": cold[0]["engine"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--no-save", action="store_true")
    given = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as bytecode:
        run("dimensions=2", str(Path(bytecode) / "cache"), bytecode)  # writes the bytecode
        for name in given.only:
            rows[name] = measured(CASES[name], given.repeats, bytecode)
            print(name, rows[name], flush=True)
    if not given.no_save:
        write_result("cold_start", {"devices": cuda_devices(), "n_samples": 2000, "n_vars": 500, "results": rows})


if __name__ == "__main__":
    main()
