"""python benchmarks/beside_others.py [FOLDER] [--page]: one table in SHAP, Boruta, permutation importance and `select`.

The table is mlc_churn of R's package modeldata, with a shuffled copy of every column: whatever finds one of these is
wrong. Needs shap and Boruta (PyPI); those that are not there are left out. Writes the rows of the
table in docs/beside_others.md; --page does so from the results that there are.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))

import interplay
from benchmarks.first_attempts.sources import read
from benchmarks.machine import RESULTS, write_result

_SHOWN = 6
PAGE = Path(__file__).parents[1] / "docs" / "beside_others.md"
#: Below it stand the rows of the table.
_RULE = "|---|---|---:|---:|---:|---:|\n"


def table(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Return the columns, beside a shuffled copy of each, and the outcome."""
    found = read("r-cran-modeldata", "mlc_churn", folder).reset_index(drop=True).rename(columns=str)
    X, y = found.drop(columns="churn"), found["churn"].astype(str)
    rng = np.random.default_rng(0)
    shuffled = {f"shuffled {name}": X[name].to_numpy()[rng.permutation(len(X))] for name in X}
    return pd.concat([X, pd.DataFrame(shuffled)], axis=1), y


def coded(X: pd.DataFrame) -> pd.DataFrame:
    """Return labels as numbers, for forests."""
    labels = X.select_dtypes(exclude="number").columns
    return X.assign(**{name: pd.factorize(X[name], sort=True)[0] for name in labels})


def forest(n_trees: int = 200) -> RandomForestClassifier:
    return RandomForestClassifier(n_trees, random_state=0, n_jobs=1, class_weight="balanced", max_depth=8)


def by_permutation(X: pd.DataFrame, y: pd.Series) -> tuple[list[str], list[str]]:
    """Return all by mean loss on held-out rows, and those more than two standard deviations above none."""
    train, test, of_train, of_test = train_test_split(coded(X), y, random_state=0, stratify=y)
    found = permutation_importance(forest().fit(train, of_train), test, of_test, n_repeats=10, random_state=0)
    order = np.argsort(-found.importances_mean)
    kept = found.importances_mean - 2 * found.importances_std > 0
    return [X.columns[v] for v in order], [X.columns[v] for v in order if kept[v]]


def by_shap(X: pd.DataFrame, y: pd.Series) -> tuple[list[str], list[str]]:
    """Return all by the mean of the absolute SHAP value; it has no bar."""
    import shap

    model = forest(100).fit(coded(X), y)
    values = np.asarray(shap.TreeExplainer(model).shap_values(coded(X).iloc[:1000]))
    values = values[..., 1] if values.ndim == 3 and values.shape[-1] == 2 else values
    order = np.argsort(-np.abs(values).mean(axis=0))
    return [X.columns[v] for v in order], []


def by_boruta(X: pd.DataFrame, y: pd.Series) -> tuple[list[str], list[str]]:
    """Return all by their ranks, and those that are confirmed."""
    from boruta import BorutaPy

    found = BorutaPy(forest(), n_estimators=100, random_state=0, max_iter=40)
    found.fit(coded(X).to_numpy(), y.eq("yes").to_numpy().astype(int))
    order = np.argsort(found.ranking_, kind="stable")
    return [X.columns[v] for v in order], [X.columns[v] for v in np.flatnonzero(found.support_)]


def by_select(X: pd.DataFrame, y: pd.Series) -> tuple[list[str], list[str]]:
    """Return the relevant variables."""
    found = interplay.select(X, y, random_state=0, n_jobs=1)
    return found.relevant, found.relevant


WAYS: dict[str, Callable[[pd.DataFrame, pd.Series], tuple[list[str], list[str]]]] = {
    "interplay.select": by_select,
    "permutation importance": by_permutation,
    "SHAP": by_shap,
    "Boruta": by_boruta,
}


def write_page(rows: list[dict[str, Any]]) -> None:
    """Write the rows of the table in docs/beside_others.md."""
    lines = ""
    for row in rows:
        kept = "no bar" if row["way"] == "SHAP" else row["kept"]
        false = "–" if row["way"] == "SHAP" else row["false"]
        first = ", ".join(f"`{name}`" for name in row["first"])
        place = row["place of the first shuffled"] or "–"
        lines += f"| {row['way']} | {first} | {kept} | {false} | {place} | {row['cpu_seconds']:.0f} |\n"
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(_RULE, 1)
    after = rest.split(":::\n", 1)[1]
    PAGE.write_text(f"{before}{_RULE}{lines}:::\n{after}", encoding="utf-8")


def main() -> None:
    if "--page" in sys.argv:
        write_page(json.loads((RESULTS / "beside_others.json").read_text())["rows"])
        return
    X, y = table(Path(sys.argv[1] if len(sys.argv) > 1 else "build/debian"))
    rows = []
    for name, way in WAYS.items():
        started = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                order, kept = way(X, y)
        except ImportError as missing:
            print(f"{name}: left out, {missing}")
            continue
        false = [each for each in kept if each.startswith("shuffled")]
        first_false = next((place for place, each in enumerate(order, 1) if each.startswith("shuffled")), None)
        row = {"way": name, "first": order[:_SHOWN], "kept": len(kept) - len(false), "false": len(false),
               "place of the first shuffled": first_false, "cpu_seconds": round(time.process_time() - started, 1),
               "kept names": kept}  # fmt: skip
        rows.append(row)
        print(row, flush=True)
    write_result("beside_others", {"made_by": "python benchmarks/beside_others.py", "rows": rows})
    write_page(rows)


if __name__ == "__main__":
    main()
