"""A line of designs, each with tables and tests → how often anything false is found, and how often what is true."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray

Rng = np.random.Generator


@dataclass
class Table:
    """A table, its outcome, what is true in it, and what calls are given beside."""

    X: Any
    y: Any
    true: frozenset[Any] = frozenset()
    given: dict[str, Any] = field(default_factory=dict)


#: A table → the numbers of the columns that are found, or the tuples of numbers.
Test = Callable[[Table], set[Any]]


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
    tables: int = 400
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


def interacting(table: Table, **settings: Any) -> set[tuple[int, ...]]:
    """Return the tuples that `interplay.interactions` calls significant."""
    import interplay

    found = interplay.interactions(table.X, table.y, n_jobs=1, **table.given, **settings)
    return {tuple(found.tested.tuples[row].tolist()) for row in np.flatnonzero(found.is_significant)}


def smallest(p: FloatArray) -> set[int]:
    """Return what has p ≤ 5 % after Holm's adjustment, which is that of `select`."""
    order = np.argsort(p)
    passed = p[order] <= 0.05 / np.arange(len(p), 0, -1)
    return set(order[: len(p) if passed.all() else int(np.argmin(passed))].tolist())


@dataclass(frozen=True)
class Task:
    """One table of a design: the line's module, the number of the design, the seed, the table, and which kind."""

    line: str
    design: int
    seed: int
    table: int
    is_planted: bool

    def run(self) -> tuple[float, float]:
        """Return, for us and for the plain test, whether anything is found, or which share of what is true."""
        design = import_module(f"benchmarks.realistic.{self.line}").LINE.designs[self.design]
        # The name and not the number, so that tables stay as they are where designs are added.
        stream = [self.seed, zlib.crc32(design.name.encode()), self.is_planted, self.table]
        table = design.make(np.random.default_rng(stream), self.is_planted)
        found = [test(table) for test in (design.ours, design.plain)]
        if self.is_planted:
            shares = [len(each & table.true) / max(len(table.true), 1) for each in found]
        else:
            shares = [float(bool(each)) for each in found]
        return shares[0], shares[1]


def run_one(task: Task) -> tuple[float, float]:
    """Run a task in another process; what a table of tens of samples makes warn of is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task.run()


def shares(name: str, plain_name: str, results: list[list[float]]) -> dict[str, Any]:
    """Return the entry of a design: `results` are [is_planted, table, ours, plain] of all tables that were run."""
    entry: dict[str, Any] = {"design": name, "plain_name": plain_name}
    for is_planted, word in ((False, "false"), (True, "found")):
        some = [each for each in results if bool(each[0]) is is_planted]
        entry["planted" if is_planted else "tables"] = len(some)
        for who, place in (("ours", 2), ("plain", 3)):
            if some:
                entry[f"{who}_{word}"] = float(np.mean([each[place] for each in some]))
    return entry | {"results": [" ".join(f"{float(value):g}" for value in each) for each in sorted(results)]}
