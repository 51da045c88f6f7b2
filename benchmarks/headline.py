"""All triples of 20 000 expression-like variables × 500 samples, contrast variables and p-values included, in one call.

    python benchmarks/headline.py [--variables 20000] [--samples 500] [--no-save]

The table is of lognormal values with modules of correlated variables, as expression is; two pairs of variables decide
the outcome, each only together with its partner. The phases are timed by the functions that they are. What two cores
of a processor would take: `interplay run --dry-run` (benchmarks/results/headline_dry_run.json, by --dry-run here).
Results go to benchmarks/results/headline.json.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import interplay
import interplay.ask.selection.call
import interplay.ask.selection.runs
import interplay.data.codes.coded
import interplay.search.plan
from interplay.ask.cli.expected_work import expected_work
from interplay.search.engines.cuda import CudaEngine, cuda_devices
from machine import write_result

#: Variables of a module, and how much of their variance they share.
MODULE, SHARED = 20, 0.5


def expression(n_samples: int, n_vars: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    modules = np.repeat(rng.normal(size=(n_samples, -(-n_vars // MODULE))), MODULE, axis=1)[:, :n_vars]
    X = np.exp(np.sqrt(SHARED) * modules + np.sqrt(1 - SHARED) * rng.normal(size=(n_samples, n_vars)))
    high = np.median(X, axis=0) < X
    v = n_vars // 4
    interaction = (high[:, v] ^ high[:, 3 * v]).astype(float) + (high[:, v + 7] ^ high[:, 2 * v])
    return X, (interaction + rng.normal(scale=0.5, size=n_samples) > 1).astype(int)


class Clock:
    """Seconds by phase, each less those of the phases within it."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._within: list[float] = []

    def watch(self, owner: Any, name: str, phase: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **options: Any) -> Any:
            began = time.perf_counter()
            self._within.append(0.0)
            try:
                return original(*args, **options)
            finally:
                took = time.perf_counter() - began
                self.seconds[phase] += took - self._within.pop()
                if self._within:
                    self._within[-1] += took

        setattr(owner, name, timed)


def measured(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    clock = Clock()
    clock.watch(interplay.ask.selection.call, "check_selection", "checking the table and the arguments")
    clock.watch(interplay.ask.selection.call, "check_engine", "starting CuPy and the driver")
    clock.watch(interplay.data.codes.coded.CodedStudy, "of", "looking at the columns")
    clock.watch(interplay.ask.selection.runs, "prepare_search", "cutting into tiles")
    clock.watch(interplay.data.codes.coded.CodedComparison, "planes", "coding and packing")
    clock.watch(CudaEngine, "search", "searching")
    clock.watch(interplay.ask.selection.call, "_fitted", "p-values")
    clock.watch(interplay.ask.selection.call, "looked_up", "explaining what was found")
    began = time.perf_counter()
    found = interplay.select(X, y, dimensions=3, engine="cuda", random_state=0, progress=False)
    total = time.perf_counter() - began
    clock.seconds["all else"] = total - sum(clock.seconds.values())
    searched = found.provenance["searchers"]
    return {
        "seconds": round(total, 2),
        "phases": {phase: round(seconds, 3) for phase, seconds in clock.seconds.items()},
        "searchers": searched,
        "n_contrast": found.settings["n_contrast"],
        "n_relevant": len(found.relevant),
        "relevant": sorted(found.relevant)[:20],
        "triples_per_second": float(f"{searched['cuda']['tuples'] / total:.3g}"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, default=20_000)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--dry-run", action="store_true", help="what two cores of this processor would take")
    parser.add_argument("--no-save", action="store_true")
    given = parser.parse_args()
    X, y = expression(given.samples, given.variables)
    about: dict[str, Any] = {"n_samples": given.samples, "n_vars": given.variables}
    if given.dry_run:
        work = expected_work(X, y, dimensions=3, engine="cpu", n_jobs=2, random_state=0)
        print(work.summary())
        name, result = "headline_dry_run", {**about, **work.to_dict()}
    else:
        name, result = "headline", {**about, **measured(X, y)}
        result["devices"] = cuda_devices()  # after CuPy's start is measured
        print(result)
    if not given.no_save:
        write_result(name, result)


if __name__ == "__main__":
    main()
