"""Does a wide table fit? All pairs of 100 000 variables: time, rate and peak memory beyond the input.

python benchmarks/wide_2d.py [--n-vars 100000] [--n-samples 500]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import interplay
from machine import write_result


def peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-vars", type=int, default=100_000)
    parser.add_argument("--n-samples", type=int, default=500)
    parser.add_argument("--n-jobs", type=int, default=-1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((arguments.n_samples, arguments.n_vars), dtype=np.float32)
    y = (X[:, 10] > 0) ^ (X[:, arguments.n_vars // 2] > 0)
    before = peak_gib()
    started = time.perf_counter()
    gains = interplay.max_information_gain(X, y, dimensions=2, n_jobs=arguments.n_jobs)
    seconds = time.perf_counter() - started
    n_tuples = arguments.n_vars * (arguments.n_vars - 1) / 2
    planted = sorted(np.argsort(-gains.gain)[:2].tolist())
    assert planted == [10, arguments.n_vars // 2], planted
    result = {
        "n_vars": arguments.n_vars,
        "n_samples": arguments.n_samples,
        "n_jobs": arguments.n_jobs,
        "seconds": seconds,
        "tuples_per_second": n_tuples / seconds,
        "input_gib": X.nbytes / 2**30,
        "peak_gib_beyond_input": peak_gib() - before,
    }
    print(", ".join(f"{key} {value:.4g}" for key, value in result.items()))
    print("written:", write_result("wide_2d", result).name)


if __name__ == "__main__":
    main()
