"""A process that answers calls: a line of JSON in, a line of JSON out. It stays, so that a package is loaded once.

    python -m power.worker installed_methods|rival_methods

A call has a limit of processor time. Beyond it the system ends this process, whatever the compiled code of a method is
doing; whoever waits for the answer sees the process end.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np

from power.call import Hints

#: Enough to have a method import and compile what it needs, before the clock runs.
_WARM_UP = (np.random.RandomState(0).randint(3, size=(60, 20)).astype(float), np.arange(60) % 2)


def answer(functions: dict, packages: dict, asked: dict, warm: set[str]) -> dict:
    method = asked["method"]
    hints = Hints(**asked["hints"])
    if method not in warm:
        warm.add(method)
        with contextlib.suppress(Exception):
            functions[method](*_WARM_UP, Hints(seed=0, genotypes=True, n_relevant=2))
    with np.load(asked["data"]) as data:
        X, y = data["X"], data["y"]
    about = {"package": packages[method], "version": version(packages[method])}
    signal.setitimer(signal.ITIMER_PROF, asked["limit_seconds"])
    started = time.process_time()
    try:
        selected = [int(i) for i in functions[method](X, y, hints)]
    except Exception as error:  # whatever a package raises is its result
        return {**about, "error": f"{type(error).__name__}: {error}"[:200]}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {**about, "selected": selected, "seconds": time.process_time() - started}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print is no answer
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"power.{sys.argv[1]}")
    warm: set[str] = set()
    for line in sys.stdin:
        print(json.dumps(answer(module.FUNCTIONS, module.PACKAGES, json.loads(line), warm)), file=answers, flush=True)


if __name__ == "__main__":
    main()
