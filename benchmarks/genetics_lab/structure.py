"""Populations, families and a polygenic background: false pairs, and power, with components and polygenic offsets.

    python -m benchmarks.genetics_lab.structure [--tables 60] [--jobs 1] [--only TEXT]

Tables of 600 people and 400 variants on ten chromosomes; Holm at 0.05 over all 79,800 pairs.

- populations: three, as far from each other as F_ST 0.05 makes them (Balding and Nichols); the outcome differs between
  them and follows 100 additive causes. No pair interacts.
- families: 150 of four sibs, whose parents are not in the study; additive effects of 100 variants make 50 % of the
  outcome and what a family shares 20 %. No pair interacts.
- background: unrelated people; 300 additive causes make 60 % of the outcome, and the product of two variants on
  different chromosomes 5 % (classes: of the liability, 12 %, and 1200 people).

- alone: `select` of single variants, on populations and families whose causes are on nine chromosomes; "any false"
  counts the variants of the first one, adjusted for all 400.

Ways: as the call is without covariates; with ten principal components of the same variants (--pcs 10); with polygenic
offsets (--loco auto). "any false" is the share of tables with a significant pair that does not interact;
"any below" counts all p-values, also where the search calls nothing significant because of structure. Writes
results/structure.json beside this file; what it has is not made again.
"""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import numpy as np

import interplay
from benchmarks.genetics_lab.rows import means, options, run_cells
from interplay.data.study.table import as_table

N, CHROMOSOMES, EACH = 600, 10, 40
P = CHROMOSOMES * EACH
POSITIONS = [(str(v // EACH + 1), 1000.0 * (v % EACH)) for v in range(P)]
PAIR = (5, 5 + 6 * EACH)
SEED = 20261120


def scaled(values: Any) -> Any:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def populations(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return genotypes of three populations, and what differs between them."""
    ancestral = rng.uniform(0.2, 0.8, P)
    f = 0.05
    shape = (1 - f) / f
    frequency = rng.beta(ancestral * shape, (1 - ancestral) * shape, size=(3, P)).clip(0.02, 0.98)
    population = rng.integers(0, 3, n)
    return rng.binomial(2, frequency[population]), 1.2 * (population - 1.0)


def families(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Return genotypes of sibs, four a family, and what a family shares."""
    frequency = rng.uniform(0.2, 0.5, P)
    parents = (rng.random((n // 4, 2, 2, P)) < frequency).astype(np.int8)
    family = np.repeat(np.arange(n // 4), 4)
    X = np.zeros((n, P), dtype=np.int64)
    for parent in range(2):
        # Within a chromosome a sib has long parts of one grandparent: a change every 20 variants on average.
        side = rng.integers(0, 2, (n, P))
        changes = rng.random((n, P)) < 0.05
        changes[:, ::EACH] = True
        last = np.maximum.accumulate(np.where(changes, np.arange(P), 0), axis=1)
        side = np.take_along_axis(side, last, axis=1)
        X += parents[family[:, np.newaxis], parent, side, np.arange(P)]
    return X, rng.normal(size=n // 4)[family]


def unrelated(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    return rng.binomial(2, rng.uniform(0.2, 0.5, P), (n, P)), np.zeros(n)


#: Kind of people, number of additive causes, and shares of the outcome: additive, shared, the pair.
SCENARIOS: dict[str, tuple[Any, int, float, float, float]] = {
    "populations": (populations, 100, 0.3, 0.3, 0.0),
    "families": (families, 100, 0.5, 0.2, 0.0),
    "background": (unrelated, 300, 0.6, 0.0, 0.05),
}


def make_table(scenario: str, outcome: str, table: int, first_cause: int = 0) -> tuple[Any, Any]:
    people, n_causes, additive, shared, pair = SCENARIOS[scenario]
    rng = np.random.default_rng([SEED, list(SCENARIOS).index(scenario), table])
    n = N
    if outcome == "classes" and pair:
        n, pair = 2 * N, 0.12
    X, common = people(rng, n)
    causes = first_cause + rng.choice(P - first_cause, n_causes, replace=False)
    y = np.sqrt(additive) * scaled(scaled(X[:, causes]) @ rng.normal(size=n_causes))
    y += np.sqrt(shared) * (scaled(common) if shared else 0)
    y += np.sqrt(pair) * scaled(scaled(X[:, PAIR[0]]) * scaled(X[:, PAIR[1]]))
    y += np.sqrt(1 - additive - shared - pair) * rng.normal(size=n)
    return X, y if outcome == "number" else y > np.median(y)


#: Ways of a scenario: principal components say nothing of sibs, or of people without structure.
WAYS = {
    "populations": ("nothing", "--pcs 10", "--loco auto"),
    "families": ("nothing", "--loco auto"),
    "background": ("nothing", "--loco auto"),
}
TRUE = tuple(f"x{v}" for v in PAIR)


def searched(X: Any, y: Any, way: str, has_pair: bool) -> dict[str, float]:
    """Return what a search in one way finds, and its CPU seconds."""
    started = time.process_time()
    given: dict[str, Any] = {}
    if "--pcs" in way:
        given["covariates"] = interplay.genetics.principal_components(X, 10)
    if "--loco" in way:
        given["offset"] = interplay.genetics.polygenic_offsets(X, y, given.get("covariates"), positions=POSITIONS)
        given["positions"] = POSITIONS
    found = interplay.interactions(X, y, n_jobs=1, **given)
    expected = {TRUE} if has_pair else set()
    below = {tuple(row.members) for row in found.table.itertuples() if row.p_adjusted < 0.05}
    return {
        **({"found": float(TRUE in found.significant)} if has_pair else {}),
        "any false": float(bool(set(found.significant) - expected)),
        "any below": float(bool(below - expected)),
        "CPU seconds": time.process_time() - started,
    }


def searched_alone(X: Any, y: Any, way: str) -> dict[str, float]:
    """Return what a search of single variants calls relevant on the chromosome without causes."""
    genotypes = as_table(X)
    # Tables of arrays have no positions; those of files of genotypes have.
    genotypes.__class__ = type("Placed", (type(genotypes),), {"positions": POSITIONS})
    given: dict[str, Any] = {}
    if "--loco" in way:
        given["offset"] = interplay.genetics.polygenic_offsets(genotypes, y)
    found = interplay.select(genotypes, y, dimensions=1, random_state=0, n_jobs=1, **given)
    p = found.p_value[:EACH]
    return {
        "any false": float(found.is_relevant[:EACH].any()),
        "p < .05": float((p < 0.05).mean()),
        "found": float(found.is_relevant[EACH:].sum()),
    }


def record(cell: str, table: int) -> dict[str, float]:
    """Return what one search of one table finds."""
    warnings.simplefilter("ignore")
    scenario, outcome, way = cell.split(", ")
    if scenario.endswith(" alone"):
        return searched_alone(*make_table(scenario.removesuffix(" alone"), outcome, table, EACH), way)
    X, y = make_table(scenario, outcome, table)
    return searched(X, y, way, SCENARIOS[scenario][-1] > 0)


CELLS = [
    f"{scenario}, {outcome}, {way}"
    for scenario in SCENARIOS
    for outcome in ("number", "classes")
    for way in WAYS[scenario]
] + [
    f"{scenario} alone, {outcome}, {way}"
    for scenario in ("populations", "families")
    for outcome in ("number", "classes")
    for way in ("nothing", "--loco auto")
]


def main() -> None:
    print(json.dumps(means(run_cells("structure", CELLS, record, options(__doc__, tables=60).parse_args())), indent=1))


if __name__ == "__main__":
    main()
