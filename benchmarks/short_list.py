"""The short list of `select` beside forward selection, on six tables; and its variables too many, where truth is known.

    python benchmarks/short_list.py [--jobs N] [--tables NAME ...] [--repetitions N] [--of-times N]

Tables: scikit-learn's breast cancer, wine, diabetes and iris, its digits 3 and 8, and one like Madelon. In each of five
folds, variables are chosen from four fifths of the samples, and a model of these (logistic or linear regression, and a
random forest, which sees interactions) is scored in the last fifth: with all relevant variables, the short list, as
many variables by forward selection (scikit-learn's SequentialFeatureSelector, cross-validated), and as many of the
smallest p-values. Truth: tables of causes, copies of these and noise (short_list_truth.py); counted are lists with a
variable that does not matter given the others, and the causes found.

Writes benchmarks/results/short_list.json, with the command and versions that made it; rows of tables that are not
named stay as they are.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from short_list_truth import KINDS, SETTINGS, SIZES, short_list_of

RESULTS = Path(__file__).parent / "results" / "short_list.json"
N_FOLDS = 5
TABLES = ("breast cancer", "wine", "diabetes", "iris", "digits 3 and 8", "madelon-like")


def load_table(name: str) -> tuple[pd.DataFrame, np.ndarray, bool]:
    """Return X, y and whether the outcome is a number."""
    from sklearn import datasets

    import interplay

    if name == "madelon-like":
        X, y, _ = interplay.datasets.make_madelon(n_samples=600, n_vars=40, random_state=1)
        return pd.DataFrame(X, columns=[f"x{v}" for v in range(X.shape[1])]), np.asarray(y), False
    load = {
        "breast cancer": datasets.load_breast_cancer,
        "wine": datasets.load_wine,
        "diabetes": datasets.load_diabetes,
        "iris": datasets.load_iris,
        "digits 3 and 8": datasets.load_digits,
    }[name]
    data = load(as_frame=True)
    X, y = data.data, data.target.to_numpy()
    if name.startswith("digits"):
        chosen = np.isin(y, (3, 8))
        X, y = X[chosen].reset_index(drop=True), y[chosen]
        X = X.loc[:, X.std() > 0]
    return X, y, name == "diabetes"


def compare(name: str) -> dict[str, Any]:
    """Score four choices of variables of a table in each fold."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.model_selection import KFold, StratifiedKFold

    import interplay

    X, y, is_number = load_table(name)
    folds = (KFold if is_number else StratifiedKFold)(N_FOLDS, shuffle=True, random_state=0)
    found: dict[str, list[Any]] = {}
    for train, test in folds.split(X, y):
        started = time.perf_counter()
        result = interplay.select(X.iloc[train], y[train], random_state=0, dimensions=(1, 2))
        seconds_select = time.perf_counter() - started
        short = result.short_list or list(X.columns[:1])
        started = time.perf_counter()
        forward = SequentialFeatureSelector(
            linear_model(is_number), n_features_to_select=min(len(short), X.shape[1] - 1), cv=5
        ).fit(X.iloc[train], y[train])
        seconds_forward = time.perf_counter() - started
        choices = {
            "relevant": result.relevant or short,
            "short list": short,
            "forward": list(X.columns[forward.get_support()]),
            "smallest p": (result.relevant or short)[: len(short)],
        }
        for choice, names in choices.items():
            found.setdefault(f"n {choice}", []).append(len(names))
            for kind, model in (("linear", linear_model(is_number)), ("forest", forest(is_number))):
                score = model.fit(X.iloc[train][names], y[train]).score(X.iloc[test][names], y[test])
                found.setdefault(f"{choice}, {kind}", []).append(round(float(score), 4))
        found.setdefault("seconds select", []).append(round(seconds_select, 2))
        found.setdefault("seconds forward", []).append(round(seconds_forward, 2))
    means = {key: round(float(np.mean(values)), 4) for key, values in found.items()}
    return {
        "table": name,
        "samples": len(y),
        "variables": X.shape[1],
        "score": "R²" if is_number else "accuracy",
    } | means


def linear_model(is_number: bool) -> Any:
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LinearRegression() if is_number else LogisticRegression(max_iter=2000))


def forest(is_number: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return (RandomForestRegressor if is_number else RandomForestClassifier)(100, random_state=0)


def _rates(found: pd.DataFrame) -> dict[str, Any]:
    return {
        "tables": len(found),
        "with a variable too many": int(found["too many"].sum()),
        "with noise": int(found["noise listed"].sum()),
        "share of causes listed": round(float(found["causes listed"].sum() / found["causes"].sum()), 3),
        "mean length": round(float(found["listed"].mean()), 2),
    }


def main() -> None:
    """Run both parts and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=TABLES, metavar="NAME")
    parser.add_argument("--repetitions", type=int, default=25, help="tables of known truth of each kind and size")
    parser.add_argument("--of-times", type=int, default=8, help="the same of times, whose models take longer")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    import sklearn

    import interplay

    jobs = [
        (setting, kind, n, arguments.seed + i)
        for setting in SETTINGS
        for n in SIZES
        for kind in KINDS
        for i in range(arguments.of_times if kind == "times" else arguments.repetitions)
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        truths = list(pool.map(short_list_of, jobs))
        compared = {row["table"]: row for row in pool.map(compare, arguments.tables)}
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["tables"] if RESULTS.exists() else []
    rows = {row["table"]: row for row in kept} | compared
    tables = [rows[name] for name in TABLES if name in rows]
    found = pd.concat(
        [pd.DataFrame(jobs, columns=["setting", "kind", "samples", "seed"]), pd.DataFrame(truths)], axis=1
    )
    truth = {
        "all": _rates(found),
        **{
            f"{by}: {value}": _rates(some) for by in ("setting", "kind", "samples") for value, some in found.groupby(by)
        },
    }
    made = {
        "command": f"python benchmarks/short_list.py {' '.join(sys.argv[1:])}".strip(),
        "interplay": interplay.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }
    RESULTS.write_text(json.dumps({"made": made, "tables": tables, "truth": truth}, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({"tables": tables, "truth": truth}, indent=1))


if __name__ == "__main__":
    main()
