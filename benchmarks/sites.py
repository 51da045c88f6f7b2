"""Searches over sites beside one table: seconds, tuples that are listed and counted, bytes that leave the sites.

``python benchmarks/sites.py --out FILE.json`` runs all settings; ``--jobs N`` gives threads. Every result is compared
with that of `interactions` with all samples in one table, byte for byte.

``--small-cells TABLES`` asks how much `min_cell=5` loses, and how much of it `merge_rare` gives back: three sites of
1000 people, 60 genotypes in neighbourhoods (r² about 0.5), six single effects and a pair of carriers.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay.show.results.provenance import versions
from interplay.show.results.result import table_bytes
from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites

#: Sites, samples of each, columns of genotypes.
SETTINGS = ((2, 3000, 1000), (3, 2000, 1000), (5, 1200, 1000), (10, 600, 300), (20, 300, 300))


def genotypes(n: int, p: int, rng: np.random.Generator) -> tuple[Any, Any]:
    frequency = rng.uniform(0.1, 0.5, p)
    X = (rng.random((2, n, p)) < frequency).sum(axis=0).astype(np.uint8)
    risk = 0.2 * X[:, 0] + 0.5 * (X[:, 3] > 0) * (X[:, 7] > 0) * 2 - 1
    return X, rng.random(n) < 1 / (1 + np.exp(-risk))


def measured(n_sites: int, n: int, p: int, n_jobs: int) -> dict[str, Any]:
    rng = np.random.default_rng(n_sites)
    X, y = genotypes(n_sites * n, p, rng)
    names = [f"site {number:02}" for number in range(n_sites)]
    site = np.repeat(names, n)
    tables = {name: (X[site == name], y[site == name]) for name in names}
    levels = {f"x{v}": [0, 1, 2] for v in range(p)}
    plan = plan_sites(sites=names, levels=levels, classes=[False, True])
    with tempfile.TemporaryDirectory() as folder:
        seconds: dict[str, float] = {}
        lists, counts, bytes_sent = [], [], []
        for name, table in tables.items():
            started = time.perf_counter()
            lists.append(list_at_site(plan, *table, site=name, n_jobs=n_jobs))
            seconds["list, the longest"] = max(seconds.get("list, the longest", 0.0), time.perf_counter() - started)
        for name, table in tables.items():
            started = time.perf_counter()
            made = count_at_site(plan, *table, site=name, lists=lists, n_jobs=n_jobs)
            made.save(Path(folder) / name)
            seconds["count, the longest"] = max(seconds.get("count, the longest", 0.0), time.perf_counter() - started)
            counts.append(Path(folder) / name)
            bytes_sent.append((Path(folder) / name).stat().st_size)
        started = time.perf_counter()
        found = combine_sites(plan, counts, n_jobs=n_jobs)
        seconds["combine"] = time.perf_counter() - started
    started = time.perf_counter()
    pooled = interplay.interactions(X, y, strata=site, n_jobs=n_jobs, coding="levels")
    seconds["one table"] = time.perf_counter() - started
    return {
        "sites": n_sites,
        "samples of a site": n,
        "columns": p,
        "tuples": plan.n_tuples,
        "expected share": plan.expected_share(),
        "listed by a site, mean": float(np.mean([len(one) for one in lists])),
        "counted": len(made),
        "largest file, bytes": max(bytes_sent),
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "significant": len(found.significant),
        "equal": table_bytes(found.table, "csv") == table_bytes(pooled.table, "csv"),
    }


def neighbours(n: int, p: int, rng: np.random.Generator) -> Any:
    """Return genotypes in which each variant resembles the one before it, but for the first of every ten."""
    alleles = np.empty((2, n, p), dtype=bool)
    frequency = np.repeat(rng.uniform(0.05, 0.5, p // 10), 10)
    for v in range(p):
        alleles[:, :, v] = rng.random((2, n)) < frequency[v]
        if v % 10:
            alleles[:, :, v] = np.where(rng.random((2, n)) < 0.7, alleles[:, :, v - 1], alleles[:, :, v])
    return alleles.sum(axis=0)


def small_cells(n_tables: int) -> dict[str, dict[str, float]]:
    """Return the shares of tables that are withheld, of pairs found, and of tables with a false one, by the plan."""
    n, p, names = 3000, 60, ["a", "b", "c"]
    site = np.repeat(names, n // 3)
    found: dict[str, list[tuple[float, ...]]] = {}
    for table in range(n_tables):
        rng = np.random.default_rng([50, table])
        X = neighbours(n, p, rng)
        pair = tuple(rng.choice(p // 10, 2, replace=False) * 10 + 5)
        singles = rng.choice(p, 6, replace=False)
        carriers = (X[:, pair[0]] > 0) & (X[:, pair[1]] > 0)
        risk = X[:, singles] @ rng.choice([-0.4, 0.4], 6) + 1.4 * carriers
        y = rng.random(n) < 1 / (1 + np.exp(np.median(risk) - risk))
        for name, asked, min_cell in (
            ("nothing withheld", {}, 0),
            ("min_cell=5", {}, 5),
            ("min_cell=5, merge_rare=0.05", {"merge_rare": 0.05}, 5),
            ("min_cell=5, merge_rare=0.15", {"merge_rare": 0.15}, 5),
        ):
            plan = plan_sites(X, y, sites=names, **asked)
            tables = [(X[site == one], y[site == one]) for one in names]
            lists = [list_at_site(plan, *of, site=one) for one, of in zip(names, tables, strict=True)]
            counts = [
                count_at_site(plan, *of, site=one, lists=lists, min_cell=min_cell)
                for one, of in zip(names, tables, strict=True)
            ]
            result = combine_sites(plan, counts)
            # A neighbour of both stands for the pair.
            near = {tuple(sorted(int(name[1:]) // 10 for name in members)) for members in result.significant}
            true = tuple(sorted(v // 10 for v in pair))
            withheld = np.mean([one.is_withheld.mean() for one in counts])
            found.setdefault(name, []).append((float(withheld), float(true in near), float(bool(near - {true}))))
    what = ("tables withheld", "pair found", "any false")
    return {
        name: dict(zip(what, np.round(np.mean(rows, axis=0), 3).tolist(), strict=True)) for name, rows in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of sites")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--small-cells", type=int, metavar="TABLES")
    arguments = parser.parse_args()
    if arguments.small_cells:
        result = {"tables": arguments.small_cells, **small_cells(arguments.small_cells)}
        print(json.dumps(result, indent=1))
        if arguments.out:
            arguments.out.write_text(json.dumps(result | {"versions": versions()}, indent=1) + "\n", encoding="utf-8")
        return
    rows = []
    for setting in SETTINGS:
        if not arguments.only or setting[0] in arguments.only:
            rows.append(measured(*setting, arguments.jobs))
            print(json.dumps(rows[-1]), flush=True)
    if arguments.out:
        made_by = {"made_by": "python benchmarks/sites.py", "jobs": arguments.jobs, "versions": versions()}
        arguments.out.write_text(json.dumps(made_by | {"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
