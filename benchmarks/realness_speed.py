"""How long clumps and tagging take: 10,000 listed pairs of a table of 20,000 columns; 1000 leads with 500 neighbours.

    python benchmarks/realness_speed.py [--leads 1000] [--neighbours 500] [--only TEXT]

Seconds of one core (`n_jobs=1`, one thread for matrix products) and by the clock.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

import interplay
from interplay.data.study.table import as_table
from interplay.infer.linkage import clump_tuples, make_linkage

sys.path.insert(0, str(Path(__file__).parent))
from machine import write_result


def measured(name: str, work: Callable[[], Any], **about: Any) -> dict[str, Any]:
    """Return the time of some work, with what it was."""
    work_started, started = time.process_time(), time.perf_counter()
    found = work()
    core, clock = time.process_time() - work_started, time.perf_counter() - started
    row = {"what": name, **about, "seconds of a core": round(core, 2), "seconds": round(clock, 2), **found}
    print(row, flush=True)
    return row


def clump_rows(kind: str, n: int, n_columns: int = 20_000, n_pairs: int = 10_000) -> list[dict[str, Any]]:
    """Time the correlations of the members of random pairs, and the clumps; every ten columns are correlated."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 3, size=(n, n_columns // 10), dtype=np.int8), 10, axis=1)
    X = np.where(rng.random(X.shape, dtype=np.float32) < 0.15, rng.integers(0, 3, size=X.shape, dtype=np.int8), X)
    if kind == "numbers":
        X = X + 0.3 * rng.normal(size=X.shape).astype(np.float32)
    tuples = np.array([rng.choice(n_columns, 2, replace=False) for _ in range(n_pairs)])
    members = np.unique(tuples)
    table = as_table(X)

    def work() -> dict[str, Any]:
        linkage = make_linkage(table, members, members, np.full(len(members), kind == "numbers"))
        assert linkage is not None
        return {"leads": len(np.unique(clump_tuples(tuples, linkage, 0.2)))}

    return [measured("clumps", work, columns=n_columns, pairs=n_pairs, members=len(members), samples=n, of=kind)]


def tagging_rows(kind: str, n: int, n_leads: int, n_neighbours: int) -> list[dict[str, Any]]:
    """Time the verdicts on pairs of two regions; each has neighbours that are correlated with its members."""
    rng = np.random.default_rng(0)
    size = n_neighbours + 1
    bases = rng.integers(0, 3, size=(2, n, 1))
    parts = [np.where(rng.random((n, size)) < 0.4, rng.integers(0, 3, size=(n, size)), base) for base in bases]
    X = np.hstack(parts).astype(np.int8)
    signal = 3 * (bases[0, :, 0] - 1) * (bases[1, :, 0] - 1)
    noise = rng.normal(size=n)
    outcomes: dict[str, Any] = {
        "classes": (signal + 0.5 * noise > 0).astype(int),
        "numbers": signal + 0.5 * noise,
        "times": (rng.exponential(np.exp(-0.5 * signal)), rng.random(n) < 0.7),
    }
    y = outcomes[kind]
    side = int(np.ceil(np.sqrt(n_leads))) + 3
    found = interplay.interactions(X[:, size - side : size + side], y, top=n_leads, n_jobs=1, coding="levels")
    tuples = found.tested.tuples + size - side
    members = np.unique(tuples)
    of_all = replace(
        found,
        names=[f"x{v}" for v in range(X.shape[1])],
        tested=replace(found.tested, tuples=tuples),
        cuts=tuple(replace(cuts, variable=cuts.variable + size - side) for cuts in found.cuts),
        linkage=make_linkage(as_table(X), members, members, np.zeros(len(members), dtype=bool)),
    )

    def work() -> dict[str, Any]:
        tagged = of_all.with_tagging(X, y, r2=1.0, max_neighbours=n_neighbours, n_jobs=1).tagged
        assert tagged is not None
        counts = {verdict: tagged.verdict.count(verdict) for verdict in sorted(set(tagged.verdict))}
        return {"leads": len(tagged.verdict), "neighbours": int(np.median(tagged.n_neighbours)), "verdicts": counts}

    return [measured("tagging", work, samples=n, of=kind)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leads", type=int, default=1000)
    parser.add_argument("--neighbours", type=int, default=500)
    parser.add_argument("--only", default="", help="clumps, tagging")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if asked.only in "clumps":
        for kind in ("dosages", "numbers"):
            rows += clump_rows(kind, 1000)
    if asked.only in "tagging":
        for n in (1000, 2000):
            for kind in ("classes", "numbers", "times"):
                rows += tagging_rows(kind, n, asked.leads, asked.neighbours)
    if not asked.only:
        write_result("realness_speed", {"rows": rows})


if __name__ == "__main__":
    main()
