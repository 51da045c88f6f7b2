"""Calibration of combined studies on effects that add up: shares of pairs with p below 0.05, 0.01 and 0.001.

``python benchmarks/combined_studies.py --jobs 2 --tables 40 --out FILE.json``. Each table has columns with effects of
their own and no interaction; every pair is tested in each study, and combined by effects (two levels) or by p-values
(three levels). Rows "sites" are searches over sites that withhold tables with a count below 3 or 5, other than 0; a
pair that all sites withhold counts as one with p = 1.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay.show.results.provenance import versions
from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites

#: Levels of a column, studies, samples of each, share of cases at the average.
SETTINGS = (
    (2, 2, 150, 0.5),
    (2, 3, 60, 0.3),
    (2, 5, 200, 0.1),
    (3, 2, 600, 0.5),
    (3, 3, 500, 0.2),
    (3, 5, 300, 0.3),
)
#: Of three levels: genotypes of an allele with a frequency of 0.37.
SHARES = {2: [0.5, 0.5], 3: [0.4, 0.46, 0.14]}
LEVELS_OF_P = (0.05, 0.01, 0.001)
N_COLUMNS = 12


def tables(seed: int, n_levels: int, n_studies: int, n: int, share: float) -> list[tuple[Any, Any]]:
    """Return tables without interactions: log odds are sums of effects of single columns; studies differ in them."""
    rng = np.random.default_rng([seed, n_levels, n_studies, n])
    made = []
    for _ in range(n_studies):
        X = rng.choice(n_levels, (n, N_COLUMNS), p=SHARES[n_levels])
        effects = (X[:, :6] * rng.normal(0, 0.4, 6)).sum(axis=1)
        logit = np.log(share / (1 - share)) + effects - effects.mean()
        made.append((X, rng.random(n) < 1 / (1 + np.exp(-logit))))
    return made


def p_values(task: tuple[int, tuple[int, int, int, float]]) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the p-values of all pairs by each test, and the share of tables that sites withhold."""
    seed, setting = task
    withheld: dict[str, float] = {}
    studies = tables(seed, *setting)
    results = [interplay.interactions(X, y, max_p=1, coding="levels") for X, y in studies]
    both = interplay.combine(results).table
    found = {"combined": both["p_value"].dropna().tolist()}
    if setting[0] == 2:
        found["heterogeneity"] = both["p_heterogeneity"].dropna().tolist()
    names = [f"site {number}" for number in range(len(studies))]
    plan = plan_sites(
        sites=names,
        levels={f"x{v}": list(range(setting[0])) for v in range(N_COLUMNS)},
        classes=[False, True],
        max_p=1,
    )
    by_name = dict(zip(names, studies, strict=True))
    lists = [list_at_site(plan, *table, site=name) for name, table in by_name.items()]
    for min_cell in (0, 3, 5):
        counts = [
            count_at_site(plan, *table, site=name, lists=lists, min_cell=min_cell) for name, table in by_name.items()
        ]
        name = f"sites, cells from {min_cell}"
        found[name] = combine_sites(plan, counts).table["p_value"].tolist()
        withheld[name] = float(np.mean([one.is_withheld.mean() for one in counts]))
    return found, withheld


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for setting in SETTINGS:
            found: dict[str, list[float]] = {}
            withheld: dict[str, list[float]] = {}
            for one, shares in pool.map(p_values, [(seed, setting) for seed in range(arguments.tables)]):
                for name, values in one.items():
                    found.setdefault(name, []).extend(values)
                for name, share in shares.items():
                    withheld.setdefault(name, []).append(share)
            for name, values in found.items():
                below = {str(level): float(np.mean(np.array(values) < level)) for level in LEVELS_OF_P}
                about = dict(zip(("levels", "studies", "samples of a study", "cases"), setting, strict=True))
                kept_back = {"withheld": round(float(np.mean(withheld[name])), 3)} if name in withheld else {}
                rows.append(about | {"test": name, "pairs": len(values), **kept_back, "share below": below})
                print(json.dumps(rows[-1]), flush=True)
    if arguments.out:
        how = f"python benchmarks/combined_studies.py --tables {arguments.tables}"
        arguments.out.write_text(
            json.dumps({"made_by": how, "versions": versions(), "rows": rows}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
