"""A table → what was found in it, how many shuffled columns were found, and the messages of a first attempt."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import interplay
from benchmarks.real_tables.tables import RealTable

#: As many shuffled columns as there are variables, within these bounds, are searched beside them: any that is found is
#: a false find.
FEWEST_SHUFFLED, MOST_SHUFFLED = 10, 60


def study(table: RealTable, frame: pd.DataFrame, *, seed: int, jobs: int) -> dict[str, Any]:
    """Run a first attempt, the search that it advises, and the same beside shuffled columns."""
    how: dict[str, Any] = {"random_state": seed, "n_jobs": jobs}
    first = _said(lambda: interplay.select(*_split(table, frame, raw=True), **how))[1]
    X, y = _split(table, frame, raw=False)
    started = time.perf_counter()
    found, advice = _said(lambda: interplay.select(X, y, **how, **table.settings))
    seconds = time.perf_counter() - started
    shuffled = _shuffled(X, table, seed)
    beside, _ = _said(lambda: interplay.select(pd.concat([X, shuffled], axis=1), y, **how, **table.settings))
    false = [name for name in beside.relevant if name in shuffled.columns]
    result = {
        "package": table.package, "name": table.name, "target": table.target, "event": table.event,
        "n_samples": len(X), "n_vars": found.table.shape[0], "known": table.known, "relevant": found.relevant,
        "interactions": _interactions(found), "n_shuffled": shuffled.shape[1], "false": false, "first_attempt": first,
        "advised": advice,
        "settings": {**table.settings, "drop": table.drop}, "seconds": round(seconds, 2),
    }  # fmt: skip
    if table.pair is not None:
        result["pair"] = _pair(table, X, y, how)
    return result | {"wrong": wrong(table, result)}


def _interactions(found: interplay.Selection) -> list[dict[str, Any]]:
    """Return the tuples that `select` calls interactions, the clearest first."""
    if "verdict" not in found.table:  # one variable has no tuples
        return []
    rows = found.table[found.table["verdict"] == "interaction"].sort_values("p_interaction")
    clearest = {tuple(sorted(row.interacting)): float(row.p_interaction) for row in rows.iloc[::-1].itertuples()}
    return [
        {"members": list(members), "p_adjusted": p} for members, p in sorted(clearest.items(), key=lambda each: each[1])
    ]


def wrong(table: RealTable, result: dict[str, Any]) -> list[str]:
    """Return what is not as it has to be, in words."""
    relevant, said = result["relevant"], " — ".join(result["first_attempt"])
    problems = [f"{pattern} is not found" for pattern in table.must if not _any(pattern, relevant)]
    problems += [f"{pattern} is found" for pattern in table.never if _any(pattern, relevant)]
    problems += [
        f"the first attempt does not say {pattern!r}" for pattern in table.says if not re.search(pattern, said)
    ]
    return problems


def _any(pattern: str, names: list[str]) -> bool:
    return any(re.search(pattern, name) for name in names)


def _split(table: RealTable, frame: pd.DataFrame, *, raw: bool) -> tuple[Any, Any]:
    """Return X and y; `raw` as a user would at first, with all columns and events as they are coded."""
    known = frame if raw else frame[frame[table.target].notna()].drop(columns=table.drop).reset_index(drop=True)
    X = known.drop(columns=[table.target] if table.event is None else [table.target, table.event])
    if table.event is None:
        return X, known[table.target]
    event = known[table.event] if raw else known[table.event] == table.occurred
    return X, (known[table.target], event)


def _shuffled(X: pd.DataFrame, table: RealTable, seed: int) -> pd.DataFrame:
    """Return copies of variables, each shuffled on its own."""
    rng = np.random.default_rng(seed)
    variables = [name for name in X.columns if name != table.settings.get("groups")]
    n = min(max(len(variables), FEWEST_SHUFFLED), MOST_SHUFFLED)
    sources = [
        variables[v % len(variables)] for v in (rng.permutation(len(variables)) if n <= len(variables) else range(n))
    ]
    return pd.DataFrame(
        {f"shuffled {i}: {name}": X[name].to_numpy()[rng.permutation(len(X))] for i, name in enumerate(sources[:n])}
    )


def _pair(table: RealTable, X: pd.DataFrame, y: Any, how: dict[str, Any]) -> dict[str, Any]:
    """Say at which place of the smallest p-values of all pairs a known pair stands."""
    assert table.pair is not None
    found, _ = _said(lambda: interplay.interactions(X, y, top=200, **how, coding="levels"))
    one, other = (re.compile(pattern) for pattern in table.pair)
    for row, members in enumerate(found.table["members"]):
        if any(one.search(a) and other.search(b) for a, b in (members, members[::-1])):
            about = found.table.iloc[row]
            return {"place": row + 1, "members": list(members), "p_value": float(about["p_value"]),
                    "p_adjusted": float(about["p_adjusted"]), "n_tests": found.n_tests}  # fmt: skip
    return {"place": None, "n_tests": found.n_tests}


def _said(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return the result of a call, or None, and its warnings and error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result, error = None, []
        try:
            result = call()
        except (ValueError, TypeError) as refused:
            error = [f"error: {refused}"]
    return result, [*(str(warning.message) for warning in caught), *error]
