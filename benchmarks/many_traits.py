"""Processor seconds of one call for many outcomes, beside a call for each, on genotypes.

    python benchmarks/many_traits.py [--traits 200] [--variables 2000] [--samples 2000] [--only TEXT]

The two take turns, 20 outcomes at a time, so that another load on the machine slows both down alike. Tables have to be
equal.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

import interplay

#: Outcomes of a turn.
AT_ONCE = 20

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "interactions, auto": (interplay.interactions, {"coding": "auto"}),
    "interactions, levels": (interplay.interactions, {"coding": "levels"}),
    "interactions, dosage": (interplay.interactions, {"coding": "dosage"}),
    "select, pairs": (interplay.select, {"dimensions": 2, "random_state": 0}),
}


def turns(call: Callable[..., Any], X: np.ndarray, Y: pd.DataFrame, settings: dict[str, Any]) -> Iterator[list[float]]:
    """Yield the seconds of calls for each outcome, and of one call for all of a turn."""
    for begin in range(0, Y.shape[1], AT_ONCE):
        some = Y.iloc[:, begin : begin + AT_ONCE]
        started = time.process_time()
        alone = {name: call(X, some[name], **settings).table for name in some}
        between = time.process_time()
        together = call(X, some, **settings)
        yield [between - started, time.process_time() - between]
        for name, table in alone.items():
            pd.testing.assert_frame_equal(table, together[name].table)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--traits", type=int, default=200)
    options.add_argument("--variables", type=int, default=2000)
    options.add_argument("--samples", type=int, default=2000)
    options.add_argument("--only", default="")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.binomial(2, rng.uniform(0.1, 0.5, given.variables), (given.samples, given.variables)).astype(np.int8)
    Y = pd.DataFrame(rng.normal(size=(given.samples, given.traits))).add_prefix("trait")
    Y["trait0"] += 1.5 * (X[:, 3] == 1) * (X[:, 10] == 1)
    print("| call | seconds of a call for each | of one call | share |\n|---|---|---|---|")
    for name, (call, settings) in CALLS.items():
        if given.only in name:
            call(X[:, :50], Y["trait0"], **settings)  # imports
            alone, together = np.sum(list(turns(call, X, Y, settings)), axis=0)
            print(f"| {name} | {alone:.1f} | {together:.1f} | {together / alone:.2f} |", flush=True)


if __name__ == "__main__":
    main()
