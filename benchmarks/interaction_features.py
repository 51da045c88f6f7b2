"""What do interactions that were found gain in a model? Nested cross-validation, beside each model alone.

    python benchmarks/interaction_features.py [--jobs 16] [--tables 5] [--vars 500] [--save FILE]

Tables: an XOR of two columns, a parity of three, and a mixed table (a main effect, an XOR, and a product of a number
and a genotype). In each of five outer folds the tuples are searched in the training samples alone, and the
regularisation of the linear model is chosen by an inner cross-validation. Models: logistic regression, an explainable
boosting machine (interpret) and LightGBM, each alone and with our tuples: as InteractionFeatures, as
`interactions=terms()`, as `interaction_constraints=terms("lightgbm")`. EBM alone searches for ten pairs itself. The
score is the area under the ROC curve, 0.5 by chance. With permuted outcomes nothing may be learnt. Needs interpret-core
and lightgbm; a model whose package is not installed is left out. Writes benchmarks/results/interaction_features.json,
docs/interaction_features_table.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import interplay
from machine import RESULTS, stamp

PAGE = Path(__file__).resolve().parent.parent / "docs" / "interaction_features_table.md"
PROBLEMS = ("XOR pair", "parity of three", "mixed")
MODELS = ("linear", "linear + features", "EBM", "EBM + terms", "LightGBM", "LightGBM + constraints")


def table(problem: str, n_vars: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, n_vars))
    if problem == "XOR pair":
        logit = 2.0 * np.sign(X[:, 3] * X[:, 11])
    elif problem == "parity of three":
        logit = 2.5 * np.sign(X[:, 3] * X[:, 11] * X[:, 20])
    else:
        X[:, :10] = rng.integers(0, 3, size=(n, 10))  # genotypes among numbers
        logit = 0.8 * X[:, 30] + 1.5 * np.sign(X[:, 3 + 10] * X[:, 21]) + 1.2 * (X[:, 4] - 1) * X[:, 40]
    return X, (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)


def linear() -> Any:
    model = LogisticRegressionCV(Cs=5, cv=3, penalty="l1", solver="liblinear", random_state=0, scoring="roc_auc")
    return make_pipeline(StandardScaler(), model)


def scores(X: np.ndarray, y: np.ndarray, k: int, names: list[str]) -> dict[str, float]:
    """The area under the curve of each model, over predictions of all outer folds."""
    predicted = {name: np.zeros(len(y)) for name in names}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        inside, labels = X[train], y[train]
        found = interplay.interactions(inside, labels, dimensions=k, n_jobs=1, progress=False)
        features = interplay.InteractionFeatures(k, n_jobs=1, progress=False)
        ebm_settings: dict[str, Any] = {"n_jobs": 1, "outer_bags": 4, "random_state": 0}
        for name in names:
            if name == "linear":
                model = linear()
            elif name == "linear + features":
                model = make_pipeline(features, linear())
            elif name.startswith("EBM"):
                from interpret.glassbox import ExplainableBoostingClassifier

                terms = found.terms() if "terms" in name else 10
                model = ExplainableBoostingClassifier(interactions=terms, **ebm_settings)
            else:
                from lightgbm import LGBMClassifier

                asked = {"interaction_constraints": found.terms("lightgbm")} if "constraints" in name else {}
                model = LGBMClassifier(
                    n_estimators=200, learning_rate=0.05, n_jobs=1, verbose=-1, random_state=0, **asked
                )
            predicted[name][test] = model.fit(inside, labels).predict_proba(X[test])[:, 1]
    return {name: float(roc_auc_score(y, values)) for name, values in predicted.items()}


def one_table(job: tuple[str, bool, int, int, int, list[str]]) -> tuple[str, bool, dict[str, float]]:
    problem, permuted, seed, n_vars, n_samples, names = job
    rng = np.random.default_rng([seed, PROBLEMS.index(problem)])
    X, y = table(problem, n_vars, n_samples, rng)
    if permuted:
        y = rng.permutation(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem, permuted, scores(X, y, 3 if "three" in problem else 2, names)


def installed() -> list[str]:
    from importlib.util import find_spec

    lacking = [word for word, package in (("EBM", "interpret"), ("LightGBM", "lightgbm")) if find_spec(package) is None]
    return [name for name in MODELS if not name.startswith(tuple(lacking))] if lacking else list(MODELS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--vars", type=int, default=500)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--models", nargs="+", choices=MODELS, help="default: all that are installed")
    parser.add_argument("--save", default=str(RESULTS / "interaction_features.json"))
    given = parser.parse_args()
    if given.vars < 41:
        parser.error("--vars must be at least 41")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    names = given.models or installed()
    jobs = [
        (problem, permuted, seed, given.vars, given.samples, names)
        for seed in range(given.tables)
        for problem in PROBLEMS
        for permuted in (False, True)
    ]
    found: dict[tuple[str, bool], list[dict[str, float]]] = {}
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for problem, permuted, row in pool.imap_unordered(one_table, jobs):
            found.setdefault((problem, permuted), []).append(row)
            print(problem, "permuted" * permuted, {name: round(value, 3) for name, value in row.items()}, flush=True)
    rows = []
    for problem in PROBLEMS:
        for permuted in (False, True):
            of_tables = found[problem, permuted]
            means = {name: float(np.mean([row[name] for row in of_tables])) for name in names}
            rows.append({"problem": problem, "permuted": permuted, **means})
    asked = f"--tables {given.tables} --vars {given.vars} --samples {given.samples}"
    command = f"python benchmarks/interaction_features.py {asked}"
    about = stamp()
    result = {"machine": about, "command": command, "rows": rows}
    Path(given.save).write_text(json.dumps(result, indent=1) + "\n")
    lines = [f"| area under the ROC curve | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for row in rows:
        what = row["problem"] + (", outcome permuted" if row["permuted"] else "")
        lines.append(f"| {what} | " + " | ".join(f"{row[name]:.3f}" for name in names) + " |")
    size = f"{given.vars} columns, {given.samples} samples, mean over {given.tables} tables, five outer folds"
    made = f"*{size}. Made by `{command}`, {about['date']}.*"
    PAGE.write_text("\n".join([*lines, "", made, ""]))


if __name__ == "__main__":
    main()
