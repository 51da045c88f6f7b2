"""Covariates and times inside the search: power and false finds beside regressions with Holm's adjustment.

Tables of noise with known effects, in which a covariate drives the outcome and a third of the columns. Regressions are
those of statsmodels: one model per column, with the covariate, Holm over all columns.

    python benchmarks/adjusted_search.py --tables 100 --jobs 2 [--only TEXT]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

RESULT = Path(__file__).parent / "results" / "adjusted_search.json"

#: Kind of outcome, columns that follow the covariate, effect of column 40 (or of the pair 40, 41), censoring.
SETTINGS: dict[str, dict[str, Any]] = {
    **{
        f"{kind}, covariate, effect {effect}": {"kind": kind, "effect": effect, "follow": 20, "age": 1.0}
        for kind, effects in (
            ("classes", (0.0, 0.4, 0.6, 0.8)),
            ("number", (0.0, 0.2, 0.25, 0.3)),
            ("times", (0.0, 0.25, 0.35, 0.45)),
        )
        for effect in effects
    },
    **{
        f"times, no covariate, {int(100 * share)} % censored, effect {effect}": {
            "kind": "times", "effect": effect, "follow": 0, "age": 0.0, "censored": share,
        }
        for share in (0.2, 0.5, 0.8)
        for effect in (0.0, 0.35)
    },
    **{
        f"times, censoring follows the covariate, effect {effect}": {
            "kind": "times", "effect": effect, "follow": 20, "age": 1.0, "censored": 0.5, "censoring_follows": 1.0,
        }
        for effect in (0.0, 0.35)
    },
    **{
        f"{kind}, {pair} of two columns {effect}": {
            "kind": kind, "effect": effect, "pair": pair, "follow": 20, "age": 1.0,
        }
        for kind in ("classes", "number", "times")
        for pair, effects in (("product", (0.4, 0.6)), ("xor", (0.4, 0.6)))
        for effect in effects
    },
    **{
        f"{n} populations, {kind}": {"kind": kind, "effect": 0.0, "populations": n, "follow": 0, "age": 0.0}
        for n in (2, 3)
        for kind in ("classes", "number")
    },
    "four columns of effect .5, lab setting": {"kind": "classes", "effect": 0.5, "follow": 20, "age": 1.0, "n_true": 4},
}  # fmt: skip

N_SAMPLES, N_VARS, TRUE = 300, 60, 40

#: Tables of every setting that are made before the clock is looked at.
_AT_ONCE = 8


def make_table(setting: dict[str, Any], seed: int) -> tuple[Any, Any, Any, list[int]]:
    """Return X, y, covariates and the columns with an effect."""
    rng = np.random.default_rng([20261118, seed])
    n, p = N_SAMPLES, N_VARS
    if populations := setting.get("populations"):
        return _populations(rng, populations, setting)
    age = rng.normal(size=n)
    X = rng.normal(size=(n, p))
    X[:, : setting["follow"]] += age[:, np.newaxis]
    true = list(range(TRUE, TRUE + setting.get("n_true", 1)))
    effect = setting["effect"]
    if pair := setting.get("pair"):
        a, b = X[:, TRUE], X[:, TRUE + 1]
        term = a * b if pair == "product" else np.where((a > 0) ^ (b > 0), 1.0, -1.0)
        true = [TRUE, TRUE + 1]
        signal = effect * term * (2.0 if setting["kind"] == "classes" else 1.0)
    else:
        signal = effect * X[:, true].sum(axis=1)
    mean = signal + setting["age"] * age
    covariates = age if setting["age"] or setting["follow"] else None
    y = _outcome(rng, setting, mean, age)
    return X, y, covariates, true if effect else []


def _outcome(rng: Any, setting: dict[str, Any], mean: Any, age: Any) -> Any:
    n = len(mean)
    if setting["kind"] == "number":
        return mean + rng.normal(size=n)
    if setting["kind"] == "classes":
        return rng.random(n) < 1 / (1 + np.exp(-mean))
    time = rng.exponential(size=n) * np.exp(-mean)
    follows = np.exp(-setting.get("censoring_follows", 0.0) * age)
    censoring = rng.exponential(size=n) * follows
    # The scale of censoring times that censors the share asked for.
    scale = np.exp(np.linspace(-6, 6, 241))
    shares = (censoring[:, np.newaxis] * scale < time[:, np.newaxis]).mean(axis=0)
    censoring = censoring * scale[np.argmin(np.abs(shares - setting.get("censored", 0.3)))]
    return np.minimum(time, censoring), time <= censoring


def _populations(rng: Any, n_populations: int, setting: dict[str, Any]) -> tuple[Any, Any, Any, list[int]]:
    """Genotypes whose allele frequencies differ, and an outcome whose mean differs, between populations."""
    n, p = 600, 200
    population = rng.integers(0, n_populations, size=n)
    frequency = np.clip(rng.uniform(0.1, 0.5, size=p) + rng.normal(0, 0.12, size=(n_populations, p)), 0.03, 0.97)
    X = rng.binomial(2, frequency[population])
    shift = np.linspace(-0.7, 0.7, n_populations)[population]
    centred = X - X.mean(axis=0)
    components = np.linalg.svd(centred / np.maximum(centred.std(axis=0), 1e-9), full_matrices=False)[0][
        :, :n_populations
    ]
    return X, _outcome(rng, setting, 1.5 * shift, None), components, []


def regression(X: Any, y: Any, covariates: Any, *, pairs: bool, kind: str) -> list[int]:
    """Return columns that a regression per column (or per product of two) finds, Holm at 0.05."""
    import statsmodels.api as sm
    from scipy.stats import chi2
    from statsmodels.stats.multitest import multipletests

    n, p = X.shape
    known = np.empty((n, 0)) if covariates is None else np.asarray(covariates).reshape(n, -1)

    z = (X - X.mean(axis=0)) / X.std(axis=0)

    def likelihood(columns: Any) -> float:
        if kind == "times":
            if not columns.shape[1]:  # the likelihood where all hazards are equal
                model = sm.PHReg(y[0], z[:, :1], status=y[1].astype(int), ties="efron")
                return float(model.loglike(np.zeros(1)))
            return float(sm.PHReg(y[0], columns, status=y[1].astype(int), ties="efron").fit(disp=0).llf)
        with_constant = np.column_stack([np.ones(n), columns])
        if kind == "number":
            return float(sm.OLS(y, with_constant).fit().llf)
        return float(sm.Logit(np.asarray(y, dtype=float), with_constant).fit(disp=0).llf)

    if not pairs:
        base = likelihood(known)
        ratios = [2 * (likelihood(np.column_stack([known, z[:, j]])) - base) for j in range(p)]
        tested = [(j,) for j in range(p)]
    else:
        some = [(i, j) for i in range(p) for j in range(i + 1, p)]
        tested, ratios = [], []
        for i, j in some:
            # All pairs of all tables would take hours: pairs beside the true one are counted as tests, not made.
            if (i, j) != (TRUE, TRUE + 1):
                continue
            both = np.column_stack([known, z[:, i], z[:, j]])
            ratios.append(2 * (likelihood(np.column_stack([both, z[:, i] * z[:, j]])) - likelihood(both)))
            tested.append((i, j))
        p_value = chi2.sf(ratios, 1) * len(some)
        return sorted({v for one, small in zip(tested, p_value < 0.05, strict=True) if small for v in one})
    rejected = multipletests(chi2.sf(np.maximum(ratios, 0), 1), method="holm")[0]
    return [one[0] for one, small in zip(tested, rejected, strict=True) if small]


def one_table(job: tuple[str, int]) -> dict[str, Any]:
    """Return what was found in one table."""
    import interplay

    name, seed = job
    setting = SETTINGS[name]
    X, y, covariates, true = make_table(setting, seed)
    row: dict[str, Any] = {"setting": name, "seed": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = {"interplay": {"covariates": covariates}}
        if setting.get("populations"):
            calls["interplay, no components"] = {}
        for call, arguments in calls.items():
            found = interplay.select(X, y, random_state=seed, **arguments)
            numbers = [found.names.index(each) for each in found.relevant]
            row[call] = [len(set(numbers) & set(true)) / max(len(true), 1), len(set(numbers) - set(true))]
        if setting.get("pair"):
            pairs = interplay.interactions(X, y, covariates=covariates, coding="levels")
            listed = [tuple(sorted(pairs.names.index(each) for each in some)) for some in pairs.significant]
            row["interactions"] = [float(tuple(true) in listed), len(set(listed) - {tuple(true)})]
        found_plain = regression(X, y, covariates, pairs=bool(setting.get("pair")), kind=setting["kind"])
    row["regression"] = [len(set(found_plain) & set(true)) / max(len(true), 1), len(set(found_plain) - set(true))]
    return row


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return share of true columns found, share of tables with a false one, by setting and method."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(row["setting"] for row in rows):
        here = [row for row in rows if row["setting"] == name]
        methods = [key for key in here[0] if key not in ("setting", "seed")]
        found[name] = {"tables": len(here)} | {
            method: {
                "found": round(float(np.mean([row[method][0] for row in here])), 3),
                "any false": round(float(np.mean([row[method][1] > 0 for row in here])), 3),
            }
            for method in methods
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first table")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="settings with this text in their names")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more tables after these")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args()
    names = [name for name in SETTINGS if chosen.only in name]
    rows: list[dict[str, Any]] = []
    begun = time.monotonic()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for table in range(0, chosen.tables, _AT_ONCE):
            numbers = range(chosen.first + table, chosen.first + min(table + _AT_ONCE, chosen.tables))
            rows += pool.map(one_table, [(name, number) for number in numbers for name in names])
            if time.monotonic() - begun > chosen.seconds:
                break
    found = summary(rows)
    for name, values in found.items():
        print(f"{name:62} {values}")
    from benchmarks.machine import stamp

    about = {"command": f"python benchmarks/adjusted_search.py --tables {chosen.tables}", "first": chosen.first}
    chosen.out.write_text(json.dumps({"about": about | stamp(), "settings": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
