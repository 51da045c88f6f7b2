"""What do interactions that were found gain in a model? Nested cross-validation, beside each model alone.

    python benchmarks/interaction_features.py [--jobs 16] [--tables 1] [--vars 500 5000] [--save FILE] [--go-on]

Tables: an XOR of two columns, a parity of three, and a mixed table (a main effect, an XOR, and a product of a number
and a genotype). In each outer fold the tuples are searched once, in the training samples alone, and the regularisation
of the linear model is chosen by an inner cross-validation. Models: logistic regression, an explainable boosting machine
(interpret), LightGBM and XGBoost, each alone and with our tuples: as InteractionFeatures, as `interactions=terms()`, as
`interaction_constraints=terms("lightgbm")` and `terms("xgboost")`. EBM alone searches for ten pairs itself in tables of
at most 500 columns with pairs, and has none elsewhere: its own search of 12 million pairs takes too long. To make
thousands of columns possible, EBM has one bag, 32 bins and at most 40 rounds (10 of more than 1000 columns), boosted
trees have 32 bins and 100 rounds (50). The score is the area under the ROC curve of each of two outer folds, 0.5 by
chance.

With permuted outcomes nothing may be learnt: the three best tuples are used there, significant or not, since otherwise
there would be none; models alone are left out. Parities of three are searched in at most 1000 columns, since 5000 have
2e10 triples. About 50 seconds of a core for a fold of 500 columns, 37 of them EBM's own search, and as long for one of
5000. `--go-on` keeps the folds that the file has. Needs interpret-core, lightgbm and xgboost; a model whose package is
not installed is left out. Writes benchmarks/results/interaction_features.json and docs/interaction_features_table.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
import warnings
from importlib.util import find_spec
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
MODELS = (
    "linear",
    "linear + features",
    "EBM",
    "EBM + terms",
    "LightGBM",
    "LightGBM + constraints",
    "XGBoost",
    "XGBoost + constraints",
)
PACKAGES = {"EBM": "interpret", "LightGBM": "lightgbm", "XGBoost": "xgboost"}
#: EBM searches all pairs of its own up to this many columns.
MOST_FOR_EBM = 500
MOST_FOR_TRIPLES = 1000
#: Tables of more columns have fewer rounds.
WIDE = 1000
N_FOLDS = 2
#: Tuples that are used with permuted outcomes.
USED_ANYWAY = 3


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
    model = LogisticRegressionCV(Cs=np.logspace(-2, 0, 4), cv=3, penalty="l1", solver="liblinear", scoring="roc_auc")
    return make_pipeline(StandardScaler(), model)


def boosted(name: str, found: interplay.Interactions) -> Any:
    """Return a model that takes a list of interactions, alone or with the tuples that were found."""
    package, _, has_tuples = name.partition(" + ")
    is_wide = len(found.names) > WIDE
    if package == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier

        own = 10 if len(found.names) <= MOST_FOR_EBM and found.settings["dimensions"] == 2 else 0
        return ExplainableBoostingClassifier(
            interactions=found.terms(only_significant=False) if has_tuples else own,
            outer_bags=1,
            max_bins=32,
            max_rounds=10 if is_wide else 40,
            learning_rate=0.05,
            greedy_ratio=0,
            smoothing_rounds=0,
            interaction_smoothing_rounds=0,
            early_stopping_rounds=5,
            n_jobs=1,
            random_state=0,
        )
    settings: dict[str, Any] = {"learning_rate": 0.1, "n_jobs": 1, "random_state": 0}
    settings["n_estimators"] = 50 if is_wide else 100
    if has_tuples:
        settings["interaction_constraints"] = found.terms(package.lower(), only_significant=False)
    if package == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(max_bin=31, verbose=-1, **settings)
    from xgboost import XGBClassifier

    return XGBClassifier(max_bin=32, **settings)


def one_fold(job: tuple[str, bool, int, int, int, int, list[str]]) -> dict[str, Any]:
    """The area under the curve of each model in one outer fold, and its seconds."""
    problem, permuted, n_vars, n_samples, seed, fold, names = job
    rng = np.random.default_rng([seed, n_vars, PROBLEMS.index(problem)])
    X, y = table(problem, n_vars, n_samples, rng)
    if permuted:
        y = rng.permutation(y)
    train, test = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))[fold]
    row: dict[str, Any] = {"problem": problem, "permuted": permuted, "vars": n_vars, "seed": seed, "fold": fold}
    seconds: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        features = interplay.InteractionFeatures(
            3 if "three" in problem else 2, min_tuples=USED_ANYWAY * permuted, n_jobs=1, progress=False
        )
        inside = features.fit_transform(X[train], y[train])
        seconds["search"] = round(time.process_time() - started, 2)
        row["tuples"] = features.tuples_
        for name in (name for name in names if " + " in name or not permuted):
            started = time.process_time()
            if name == "linear + features":
                predicted = linear().fit(inside, y[train]).predict_proba(features.transform(X[test]))
            else:
                model = linear() if name == "linear" else boosted(name, features.result_)
                predicted = model.fit(X[train], y[train]).predict_proba(X[test])
            row[name] = float(roc_auc_score(y[test], predicted[:, 1]))
            seconds[name] = round(time.process_time() - started, 2)
    return {**row, "seconds": seconds}


def installed() -> list[str]:
    lacking = tuple(word for word, package in PACKAGES.items() if find_spec(package) is None)
    return [name for name in MODELS if not name.startswith(lacking)] if lacking else list(MODELS)


def page(folds: list[dict[str, Any]], names: list[str]) -> list[str]:
    """Return the table of means over folds and tables, with standard errors."""
    lines = [f"| columns | outcome | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    settings = list(dict.fromkeys((row["vars"], row["problem"], row["permuted"]) for row in folds))
    for n_vars, problem, permuted in sorted(settings, key=lambda one: (one[0], PROBLEMS.index(one[1]), one[2])):
        rows = [row for row in folds if (row["vars"], row["problem"], row["permuted"]) == (n_vars, problem, permuted)]
        cells = []
        for name in names:
            scores = [row[name] for row in rows if name in row]
            error = f" ± {np.std(scores, ddof=1) / len(scores) ** 0.5:.2f}" if len(scores) > 1 else ""
            cells.append(f"{np.mean(scores):.2f}{error}" if scores else "")
        what = problem + (", permuted" if permuted else "")
        lines.append(f"| {n_vars} | {what} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=1)
    parser.add_argument("--vars", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--models", nargs="+", choices=MODELS, help="default: all that are installed")
    parser.add_argument("--save", default=str(RESULTS / "interaction_features.json"))
    parser.add_argument("--go-on", action="store_true", help="keep the folds that the file has, and run the others")
    given = parser.parse_args()
    if min(given.vars) < 41:
        parser.error("--vars must be at least 41")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    names = given.models or installed()
    jobs = []
    for n_vars in given.vars:
        for problem in PROBLEMS:
            columns = min(n_vars, MOST_FOR_TRIPLES) if "three" in problem else n_vars
            for permuted in (False, True):
                for seed in range(given.tables):
                    size = (problem, permuted, columns, given.samples, seed)
                    jobs += [(*size, fold, names) for fold in range(N_FOLDS)]
    asked = f"--tables {given.tables} --vars {' '.join(map(str, given.vars))} --samples {given.samples}"
    command = f"python benchmarks/interaction_features.py {asked}"
    # The longest ones last.
    jobs.sort(key=lambda job: ("three" in job[0] and job[2] > MOST_FOR_EBM, job[2] > WIDE, job[1]))
    about = stamp()
    folds = json.loads(Path(given.save).read_text())["folds"] if given.go_on else []
    done = {tuple(row[name] for name in ("problem", "permuted", "vars", "seed", "fold")) for row in folds}
    jobs = [job for job in jobs if (*job[:3], *job[4:6]) not in done]
    size_in_words = f"{given.samples} samples, {given.tables} table(s) each, mean ± standard error over outer folds"
    made = f"*Area under the ROC curve, {size_in_words}. Made by `{command}`, {about['date']}.*"
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for row in pool.imap(one_fold, jobs):
            folds.append(row)
            print(json.dumps(row), flush=True)
            kept = {"machine": about, "command": command, "folds": folds}
            Path(given.save).write_text(json.dumps(kept, indent=1) + "\n")
            PAGE.write_text("\n".join([*page(folds, names), "", made, ""]))


if __name__ == "__main__":
    main()
