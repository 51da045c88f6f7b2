"""Do groups= and permutations= keep the error they promise, and what do they cost in power?

python benchmarks/group_calibration.py [--tables 200] [--jobs 16] [--only TEXT] [--save]

Cells of donors, members of families, in 1D and 2D. Without signal: the share of tables in which anything is selected at
0.05. With signal: the share of the relevant variables that are selected. Beside them a t-test of the donors' means
(pseudobulk), adjusted by Holm's method, and select() without groups.
"""

from __future__ import annotations

import argparse
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import interplay
from machine import write_result

N_VARS = 100
N_RELEVANT = 5
LEVEL = 0.05


@dataclass
class Study:
    """A table with its groups."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    strata: np.ndarray | None = None


def donors(
    rng: np.random.Generator, sizes: list[int], icc: float | np.ndarray, shift: float = 0.0, n_first: int | None = None
) -> Study:
    """Cells of donors, each of one class; of the relevant variables all cells of a class are shifted."""
    n_donors = len(sizes)
    of_cell = np.repeat(np.arange(n_donors), sizes)
    label = np.arange(n_donors) % 2 if n_first is None else (np.arange(n_donors) >= n_first).astype(int)
    label = rng.permutation(label)
    icc = np.broadcast_to(icc, (N_VARS,))
    X = np.sqrt(1 - icc) * rng.normal(size=(len(of_cell), N_VARS))
    X += (np.sqrt(icc) * rng.normal(size=(n_donors, N_VARS)))[of_cell]
    y = label[of_cell]
    X[:, :N_RELEVANT] += shift * y[:, np.newaxis]
    return Study(X, y, of_cell)


def even(n_donors: int, n_cells: int, icc: float, shift: float = 0.0) -> Callable[[np.random.Generator], Study]:
    return lambda rng: donors(rng, [n_cells] * n_donors, icc, shift)


def unequal(icc: float, shift: float = 0.0) -> Callable[[np.random.Generator], Study]:
    sizes = np.geomspace(5, 150, 20).astype(int)
    return lambda rng: donors(rng, rng.permutation(sizes).tolist(), icc, shift)


def mixed(shift: float = 0.0) -> Callable[[np.random.Generator], Study]:
    """Half of the variables, also of the relevant ones, are alike within donors."""
    icc = np.where(np.arange(N_VARS) % 2, 0.5, 0.0)
    return lambda rng: donors(rng, [30] * 20, icc, shift)


def families(n_families: int, icc: float, shift: float = 0.0) -> Callable[[np.random.Generator], Study]:
    """Two to five members each, some of them ill, and more so in some families than in others."""

    def make(rng: np.random.Generator) -> Study:
        sizes = rng.integers(2, 6, n_families)
        family = np.repeat(np.arange(n_families), sizes)
        n = len(family)
        liability = np.sqrt(0.5) * rng.normal(size=n_families)[family] + np.sqrt(0.5) * rng.normal(size=n)
        y = (liability > 0).astype(int)
        X = (
            np.sqrt(1 - icc) * rng.normal(size=(n, N_VARS))
            + np.sqrt(icc) * rng.normal(size=(n_families, N_VARS))[family]
        )
        X[:, :N_RELEVANT] += shift * y[:, np.newaxis]
        return Study(X, y, family)

    return make


def cell_types(rng: np.random.Generator) -> Study:
    """Cells of two types, which differ in all variables; ill donors have more of one type, and nothing else."""
    study = donors(rng, [30] * 20, 0.2)
    share = np.where(study.y == 1, 0.7, 0.3)
    kind = (rng.random(len(study.y)) < share).astype(int)
    study.X += kind[:, np.newaxis] * rng.normal(size=N_VARS)
    return Study(study.X, study.y, study.groups, kind)


def batches(rng: np.random.Generator) -> Study:
    """Donors of three batches, which differ in all variables and in the share of the ill."""
    label = np.concatenate([np.arange(8) < n_ill for n_ill in (2, 4, 6)]).astype(int)
    donor = np.repeat(np.arange(24), 20)
    batch = donor // 8
    X = np.sqrt(0.8) * rng.normal(size=(480, N_VARS)) + np.sqrt(0.2) * rng.normal(size=(24, N_VARS))[donor]
    X += rng.normal(size=(3, N_VARS))[batch]
    return Study(X, label[donor], donor, batch)


def independent(shift: float = 0.0) -> Callable[[np.random.Generator], Study]:
    def make(rng: np.random.Generator) -> Study:
        y = rng.permutation(np.arange(600) % 2)
        X = rng.normal(size=(600, N_VARS))
        X[:, :N_RELEVANT] += shift * y[:, np.newaxis]
        return Study(X, y, np.arange(600))

    return make


NOTHING_TRUE: dict[str, Callable[[np.random.Generator], Study]] = {
    "20x30, ICC .05": even(20, 30, 0.05),
    "20x30, ICC .2": even(20, 30, 0.2),
    "20x30, ICC .5": even(20, 30, 0.5),
    "sizes 5 to 150, ICC .2": unequal(0.2),
    "8 against 8, ICC .2": even(16, 30, 0.2),
    "5 against 5, ICC .2": even(10, 30, 0.2),
    "4 against 4, ICC .2": even(8, 30, 0.2),
    "half ICC 0, half .5": mixed(),
    "150 families, classes vary": families(150, 0.3),
    "40 families, ICC .9": families(40, 0.9),
    "cell types as strata": cell_types,
    "batches as strata": batches,
    "independent samples": independent(),
}

SOMETHING_TRUE: dict[str, Callable[[np.random.Generator], Study]] = {
    "20x30, ICC .2, shift 1": even(20, 30, 0.2, 1.0),
    "20x30, ICC 0, shift .25": even(20, 30, 0.0, 0.25),
    "8 against 8, ICC .2, shift 1": even(16, 30, 0.2, 1.0),
    "5 against 5, ICC .2, shift 1.5": even(10, 30, 0.2, 1.5),
    "sizes 5 to 150, ICC .2, shift 1": unequal(0.2, 1.0),
    "half ICC 0, half .5, shift .5": mixed(0.5),
    "150 families, shift .5": families(150, 0.3, 0.5),
    "independent samples, shift .35": independent(0.35),
}


def pseudobulk(study: Study) -> list[int]:
    """Holm-adjusted t-tests of the donors' means; of variables that are selected, the numbers."""
    from scipy.stats import ttest_ind

    if study.strata is not None or any(len(set(study.y[study.groups == g])) > 1 for g in np.unique(study.groups)):
        return []
    order = np.unique(study.groups)
    means = np.stack([study.X[study.groups == g].mean(axis=0) for g in order])
    label = np.array([study.y[study.groups == g][0] for g in order])
    p = ttest_ind(means[label == 0], means[label == 1]).pvalue
    ascending = np.argsort(p)
    adjusted = np.maximum.accumulate(p[ascending] * np.arange(len(p), 0, -1))
    return ascending[adjusted < LEVEL].tolist()


def selected(study: Study, dimensions: int, seed: int, **settings: Any) -> list[int]:
    found = interplay.select(
        study.X, study.y, dimensions=dimensions, strata=study.strata, random_state=seed, progress=False, **settings
    )
    return found.ranked.tolist()


def interactions(study: Study, seed: int) -> list[int] | None:
    """Return whether any interaction is significant, where interactions() knows of groups."""
    function = getattr(interplay, "interactions", None)
    if function is None or "groups" not in inspect.signature(function).parameters or study.strata is not None:
        return None
    found = function(
        study.X[:, :30], study.y, groups=study.groups, random_state=seed, n_permutations=99, progress=False
    )
    return [0] * int(np.asarray(found.table["significant"]).any())


def one_table(make: Callable[[np.random.Generator], Study], seed: int, is_null: bool) -> dict[str, list[int] | None]:
    warnings.simplefilter("ignore")
    study = make(np.random.default_rng(seed))
    found: dict[str, list[int] | None] = {"pseudobulk t": pseudobulk(study)}
    for dimensions in (1, 2):
        found[f"maxT {dimensions}D"] = selected(study, dimensions, seed, groups=study.groups)
        found[f"without groups {dimensions}D"] = selected(study, dimensions, seed)
    found["group contrast 2D"] = selected(study, 2, seed, groups=study.groups, permutations=False)
    if is_null:
        found["interactions 2D"] = interactions(study, seed)
    return found


def summarised(tables: list[dict[str, list[int] | None]], *, is_null: bool) -> dict[str, float]:
    """Return the share of tables with a find, or of the relevant variables that are found."""
    rates = {}
    for method in tables[0]:
        finds = [table[method] for table in tables]
        if any(find is None for find in finds):
            continue
        if is_null:
            rates[method] = float(np.mean([len(find or []) > 0 for find in finds]))
        else:
            rates[method] = float(np.mean([sum(v < N_RELEVANT for v in find or []) / N_RELEVANT for find in finds]))
            rates[f"{method}, false"] = float(np.mean([any(v >= N_RELEVANT for v in find or []) for find in finds]))
    return {name: round(rate, 4) for name, rate in rates.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="settings whose names hold this text")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/group_calibration.json")
    arguments = parser.parse_args()
    results: dict[str, Any] = {"tables": arguments.tables, "variables": N_VARS, "level": LEVEL}
    for kind, settings in (("family-wise error", NOTHING_TRUE), ("power", SOMETHING_TRUE)):
        results[kind] = {}
        for number, (name, make) in enumerate(settings.items()):
            if arguments.only not in name:
                continue
            is_null = kind == "family-wise error"
            seeds = [10_000 * (number + 100 * (not is_null)) + table for table in range(arguments.tables)]
            tables = Parallel(n_jobs=arguments.jobs)(delayed(one_table)(make, seed, is_null) for seed in seeds)
            results[kind][name] = summarised(tables, is_null=is_null)
            print(f"{kind}; {name}: {results[kind][name]}", flush=True)
    if arguments.save:
        print("written:", write_result("group_calibration", results).name)


if __name__ == "__main__":
    main()
