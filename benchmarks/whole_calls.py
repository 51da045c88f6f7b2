"""Processor seconds of whole calls, from the table to the result, and the share of the search in them.

    python benchmarks/whole_calls.py [--base FOLDER] [--only TEXT] [--turns 3] [--save]

FOLDER is a checkout of another commit with its compiled module beside the Python files. Each version is a process of
its own that stays, with one thread; they take turns, and the least time of each counts, so that another load on the
machine slows both down alike. A call that takes longer than --limit seconds is stopped, and no longer asked for.

*engine* is the time in the compiled searches, *after* the time from the end of the last one to the result. --save
writes the table to results/whole_calls.json; `docs/performance.md` shows it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent

#: Folders beside the checkout that may hold the tables of published studies.
_SHARED = [parent / "shared" / "data" for parent in list(ROOT.parents)[:2]]

#: Turns beyond the first are for calls that take less than this.
_SHORT_SECONDS = 5.0

#: Compiled functions that search tuples.
_SEARCHES = ("search_max_gains", "screen_tuples", "list_tuples")

Call = Callable[[], Any]


def calls() -> dict[str, Call]:
    """Return a maker for each call: it makes the table, and returns the call itself."""
    return dict([*named_calls(), *kinds_and_shapes()])


def named_calls() -> Iterator[tuple[str, Call]]:
    """Calls that were slow once, for reasons of their own."""
    import interplay

    def select(table: Callable[[], tuple[Any, Any]], **given: Any) -> Call:
        def make() -> Call:
            X, y = table()
            return lambda: interplay.select(X, y, random_state=0, n_jobs=1, **given)

        return make

    def interactions(table: Callable[[], tuple[Any, Any]], **given: Any) -> Call:
        def make() -> Call:
            X, y = table()
            return lambda: interplay.interactions(X, y, n_jobs=1, **LEVELS | given)

        return make

    yield "select, Madelon 2000 × 500, 3D", select(madelon, dimensions=3)
    yield "select, Madelon 2000 × 500", select(madelon)
    yield "select, churn 5000 × 18", select(lambda: churn(0))
    yield "select, churn 5000 × 18 and a column of 51 levels", select(lambda: churn(51))
    yield "select, lung_small 73 × 325, 7 classes", select(lung)
    yield "select, lung_small 73 × 325, 7 classes, 2 divisions", select(lung, divisions=2)
    yield "interactions, times, 300 × 3000", interactions(lambda: table(300, 3000, "times", "nothing"))
    yield (
        "interactions, times, 1000 × 100, 3D",
        interactions(lambda: table(1000, 100, "times", "nothing"), dimensions=3),
    )
    for missing in ("omit", "impute"):
        yield (
            f"interactions, number, 3000 × 3200 genotypes, 2 % missing, {missing}",
            interactions(lambda: genotypes(3000, 3200, "number", 0.02), missing=missing),
        )
    for share, words in ((0.02, "2 %"), (0.0, "nothing")):
        yield (
            f"interactions, two classes, 9000 × 6000 genotypes, {words} missing, top=100",
            interactions(lambda share=share: genotypes(9000, 6000, "two classes", share), top=100),
        )

    def listed(n_vars: int, n_levels: int, k: int) -> Call:
        def make() -> Call:
            rng = np.random.default_rng(0)
            X, y = rng.integers(0, n_levels, (500, n_vars)), rng.integers(0, 2, 500)
            return lambda: interplay.interesting_tuples(X, y, dimensions=k, discrete=list(range(n_vars)), n_jobs=1)

        return make

    yield "list, 3D, 81 columns of 8 levels", listed(81, 8, 3)
    yield "list, 2D, 100 columns of 12 levels", listed(100, 12, 2)


def kinds_and_shapes() -> Iterator[tuple[str, Call]]:
    import interplay

    shapes = ((5000, 50), (1000, 300), (200, 5000))
    questions: dict[str, dict[str, Any]] = {
        "select": {"random_state": 0},
        "interactions": LEVELS,
        "interactions, all ways": {},
    }
    for name, kind, (n, p), found in product(questions, KINDS, shapes, ("nothing", "much")):
        if name == "interactions" and kind == "times" and (n, p) == (200, 5000):
            continue  # the rows of times above are of this shape

        def make(name: str = name, kind: str = kind, n: int = n, p: int = p, found: str = found) -> Call:
            X, y = table(n, p, kind, found)
            call = getattr(interplay, name.split(",")[0])
            return lambda: call(X, y, n_jobs=1, **questions[name])

        yield f"{name}, {kind}, {n} × {p}, {found} to find", make


KINDS = ("two classes", "four classes", "number", "times")

#: Earlier versions tested interactions in one way.
LEVELS = {"coding": "levels"}


def table(n: int, p: int, kind: str, found: str) -> tuple[Any, Any]:
    """Normal variables; of much to find, ten that matter alone, five pairs that matter together, and copies of them."""
    rng = np.random.default_rng([n, p])
    X = rng.normal(size=(n, p))
    signal = np.zeros(n)
    if found == "much":
        X[:, 20:30] = X[:, :10] + 0.5 * rng.normal(size=(n, 10))
        signal = X[:, :10].sum(axis=1) / 3 + (X[:, 10:15] * X[:, 15:20]).sum(axis=1) / 2
    return X, outcome(signal, kind, rng)


def outcome(signal: Any, kind: str, rng: np.random.Generator) -> Any:
    score = signal + rng.normal(size=len(signal))
    if kind == "two classes":
        return (score > 0).astype(int)
    if kind == "four classes":
        return np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))
    if kind == "times":
        end, leaving = np.exp(-score) * rng.exponential(size=len(score)), 2 * rng.exponential(size=len(score))
        return np.minimum(end, leaving), end <= leaving
    return score


def genotypes(n: int, p: int, kind: str, missing: float) -> tuple[Any, Any]:
    rng = np.random.default_rng([n, p, 1])
    X = rng.binomial(2, rng.uniform(0.1, 0.5, p), (n, p)).astype(np.float32)
    signal = 0.5 * (X[:, 3] > 0) * (X[:, 11] > 0) + 0.3 * X[:, 20]
    y = outcome(signal - signal.mean(), kind, rng)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def madelon() -> tuple[Any, Any]:
    import interplay

    return interplay.datasets.make_madelon(random_state=0)[:2]


def churn(n_levels: int) -> tuple[Any, Any]:
    """Customers of a telephone company as they are in the well-known table: plans, counts, minutes and a state."""
    import pandas as pd

    rng = np.random.default_rng(51)
    n = 5000
    X = pd.DataFrame({f"minutes{i}": rng.normal(200, 50, n) for i in range(8)})
    X = X.assign(**{f"charge{i}": 0.17 * X[f"minutes{i}"].round(1) for i in range(4)})
    X = X.assign(international=rng.random(n) < 0.1, voice_mail=rng.random(n) < 0.26, calls=rng.poisson(1.6, n))
    X = X.assign(area=rng.choice(["408", "415", "510"], n), account=rng.poisson(100, n), messages=rng.poisson(8, n))
    late = X["minutes0"] > 260
    score = 1.5 * late * ~X["voice_mail"] + 1.5 * X["international"] + 2.0 * (X["calls"] > 3) - 2.3
    if n_levels:
        state = rng.integers(0, n_levels, n)
        X.insert(0, "state", [f"S{level:02}" for level in state])
        score = score + 0.3 * rng.normal(size=n_levels)[state]
    return X, (score + rng.logistic(size=n) > 0).astype(int)


def lung() -> tuple[Any, Any]:
    from scipy.io import loadmat

    file = next((folder / "expression" / "lung_small.mat" for folder in _SHARED if folder.is_dir()), None)
    if file is None:
        raise FileNotFoundError("lung_small.mat is not beside this checkout")
    content = loadmat(file)
    return content["X"], content["Y"].ravel()


class Clock:
    """Times of the compiled searches of a call."""

    def __init__(self) -> None:
        _core = importlib.import_module("interplay._core")
        self.engine, self.last = 0.0, 0.0
        for name in _SEARCHES:
            setattr(_core, name, self._timed(getattr(_core, name)))

    def _timed(self, search: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return search(*args, **kwargs)
            finally:
                self.last = time.process_time()
                self.engine += self.last - began

        return timed

    def measured(self, call: Call) -> dict[str, float]:
        self.engine, self.last = 0.0, time.process_time()
        began = time.process_time()
        call()
        ended = time.process_time()
        return {"total": ended - began, "engine": self.engine, "after": ended - self.last}


def serve() -> None:
    """Answer each name of a call on stdin with its times."""
    if os.environ.get("PYTHONPATH"):  # an editable installation has a finder of its own, which goes before it
        sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    warnings.simplefilter("ignore")
    makers, clock, made = calls(), Clock(), {}
    for warm in ("select, two classes, 1000 × 300, much to find", "interactions, number, 1000 × 300, much to find"):
        makers[warm]()()  # imports modules
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in made:
                made = {name: makers[name]()}
            answer: dict[str, Any] = clock.measured(made[name])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), flush=True)


class Version:
    """One version of the package, in a process that times the calls it is asked for."""

    def __init__(self, tree: Path, limit: float) -> None:
        self._tree, self._limit = tree, limit
        if not list(tree.glob("src/interplay/_core*.so")) and tree != ROOT:
            sys.exit(f"{tree}/src/interplay has no compiled module: build it, and copy it there")
        self._process: subprocess.Popen[str] | None = None

    def measured(self, name: str) -> dict[str, Any]:
        import select

        if self._process is None:
            environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
            if self._tree != ROOT:
                environment["PYTHONPATH"] = str(self._tree / "src")
            command = [sys.executable, __file__, "--serve"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(name, file=self._process.stdin, flush=True)
        if not select.select([self._process.stdout], [], [], 3 * self._limit)[0]:
            self._process.kill()
            self._process = None
            return {"error": f"more than {3 * self._limit:.0f} s"}
        return dict(json.loads(self._process.stdout.readline()))

    def stop(self) -> None:
        if self._process is not None:
            self._process.communicate("")


def row_of(name: str, versions: list[Version], turns: int) -> dict[str, Any]:
    """Let the versions take turns; keep the turn with the least total of each."""
    best: list[dict[str, Any]] = [{} for _ in versions]
    for turn in range(turns):
        for place, version in enumerate(versions):
            if turn and (best[place].get("error") or best[place]["total"] > _SHORT_SECONDS):
                continue
            times = version.measured(name)
            if not turn or times.get("total", np.inf) < best[place]["total"]:
                best[place] = times
    return {"call": name, **best[0]} | ({"base": best[1]} if len(best) > 1 else {})


def in_words(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['call']:72} {row['error']}"
    words = f"{row['call']:72} {row['total']:8.2f} {row['engine']:8.2f} {row['after']:8.2f}"
    if "base" in row:
        base = row["base"]
        words += f" {base['error']}" if "error" in base else f" {base['total']:8.2f} {base['engine']:8.2f}"
    return words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, help="checkout of the commit to compare with")
    parser.add_argument("--only", default="", help="part of the names of the calls to time")
    parser.add_argument("--turns", type=int, default=3, help="of short calls (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a call (default: %(default)s)")
    parser.add_argument("--save", action="store_true", help="keep the rows in results/whole_calls.json")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve()
    trees = [ROOT] + ([arguments.base.resolve()] if arguments.base else [])
    versions = [Version(tree, arguments.limit) for tree in trees]
    print(f"{'call':72} {'total':>8} {'engine':>8} {'after':>8}" + " base, engine" * bool(arguments.base))
    rows = []
    for name in calls():
        if arguments.only in name:
            rows.append(row_of(name, versions, arguments.turns))
            print(in_words(rows[-1]), flush=True)
    for version in versions:
        version.stop()
    if arguments.save:
        from machine import write_result

        write_result("whole_calls", {"base": None if arguments.base is None else "39a8a0b7", "rows": rows})


if __name__ == "__main__":
    main()
