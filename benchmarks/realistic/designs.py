"""A line of designs, each with tables and tests → how often anything false is found, and how often what is true."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray

Rng = np.random.Generator


@dataclass
class Table:
    """A table, its outcome, what is true in it, and what calls are given beside."""

    X: FloatArray
    y: Any
    true: frozenset[int] = frozenset()
    given: dict[str, Any] = field(default_factory=dict)


#: A table → the numbers of what is found; of tuples, any that are not true count as −1.
Test = Callable[[Table], set[int]]


@dataclass(frozen=True)
class Design:
    """One design.

    Attributes
    ----------
    name : str
        In words, as the page has it.
    make : callable
        From a generator, and whether effects are planted, a table. Without planted effects nothing is true.
    ours, plain : callable
        Tests at 5 %: interplay's, and the valid one that people would take instead.
    plain_name : str
    tables, planted : int
        Numbers of tables without and with effects.
    """

    name: str
    make: Callable[[Rng, bool], Table]
    ours: Test
    plain: Test
    plain_name: str
    tables: int = 200
    planted: int = 100


@dataclass(frozen=True)
class Line:
    """Designs of one kind: the title and the paragraph that the page has about them."""

    title: str
    text: str
    designs: list[Design]


def selected(table: Table, **settings: Any) -> set[int]:
    """Return what `interplay.select` finds."""
    import interplay

    return set(interplay.select(table.X, table.y, n_jobs=1, **table.given, **settings).ranked.tolist())


def smallest(p: FloatArray) -> set[int]:
    """Return what has p ≤ 5 % after Holm's adjustment, which is that of `select`."""
    order = np.argsort(p)
    passed = p[order] <= 0.05 / np.arange(len(p), 0, -1)
    return set(order[: len(p) if passed.all() else int(np.argmin(passed))].tolist())


def measure(name: str, number: int, *, tables: int | None, seed: int, jobs: int) -> dict[str, Any]:
    """Run a design of a line: the shares of tables with any false find, and of the true ones that are found."""
    design = import_module(f"benchmarks.realistic.{name}").LINE.designs[number]
    n_noise = design.tables if tables is None else tables
    n_planted = design.planted if tables is None else tables // 2
    started = time.monotonic()
    tasks = [(s, False) for s in range(n_noise)] + [(s, True) for s in range(n_planted)]
    run = partial(_one, name, number, seed)
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            results = list(pool.map(run, tasks, chunksize=4))
    else:
        results = list(map(run, tasks))
    result: dict[str, Any] = {"design": design.name, "tables": n_noise, "planted": n_planted}
    result["plain_name"] = design.plain_name
    for who, place in (("ours", 0), ("plain", 1)):
        result[f"{who}_false"] = float(np.mean([each[place] for each in results[:n_noise]]))
        if n_planted:
            result[f"{who}_found"] = float(np.mean([each[place] for each in results[n_noise:]]))
    return result | {"seconds": round(time.monotonic() - started, 1)}


def _one(name: str, number: int, seed: int, task: tuple[int, bool]) -> tuple[float, float]:
    """Return, for us and for the plain test, whether anything is found, or which share of what is true."""
    design = import_module(f"benchmarks.realistic.{name}").LINE.designs[number]
    repetition, is_planted = task
    table = design.make(np.random.default_rng([seed, number, is_planted, repetition]), is_planted)
    found = [test(table) for test in (design.ours, design.plain)]
    shares = [len(each & table.true) / len(table.true) if is_planted else float(bool(each)) for each in found]
    return shares[0], shares[1]
