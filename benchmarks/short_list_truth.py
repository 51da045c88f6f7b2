"""Tables with a known truth → short lists with a variable that does not matter given the others.

Causes matter; copies are made from causes; noise is made from nothing. A listed variable is too many if it is noise, or
a copy whose cause is listed as well: given the cause, it says nothing. A copy in place of its cause is not counted,
since given the other listed variables it does matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

KINDS = ("numbers", "classes", "three classes", "times")
SIZES = (200, 1000)
N_NOISE = 8


class Truth(NamedTuple):
    """Columns of a table, the cause of each copy, and the signal that the outcome is made from."""

    columns: dict[str, Any]
    cause_of: dict[str, str]
    signal: np.ndarray
    covariates: np.ndarray | None = None


def _copies_of(causes: dict[str, np.ndarray], copy: Callable[[np.ndarray, int], Any], n_copies: int = 3) -> Any:
    columns = {f"{name} copy {i}": copy(cause, i) for name, cause in causes.items() for i in range(n_copies)}
    return columns, {name: name.split(" copy")[0] for name in columns}


def _plain(rng: np.random.Generator, n: int) -> Truth:
    causes = dict(zip("abc", rng.normal(size=(3, n)), strict=True))
    copies, cause_of = _copies_of(causes, lambda cause, i: cause + 0.5 * (i + 1) * rng.normal(size=n))
    return Truth({**causes, **copies}, cause_of, sum(causes.values()))


def _correlated(rng: np.random.Generator, n: int) -> Truth:
    shared = rng.normal(size=n)
    causes = {name: 0.7 * shared + 0.7 * rng.normal(size=n) for name in "abc"}
    copies, cause_of = _copies_of(causes, lambda cause, i: cause + 0.5 * (i + 1) * rng.normal(size=n))
    return Truth({**causes, **copies}, cause_of, sum(causes.values()))


def _bent(rng: np.random.Generator, n: int) -> Truth:
    """Effects that are not linear in the causes' scores, and copies that are skewed or cut."""
    causes = dict(zip("abc", rng.normal(size=(3, n)), strict=True))

    def copy(cause: np.ndarray, i: int) -> np.ndarray:
        near = cause + 0.7 * rng.normal(size=n)
        return (np.exp(near), near**3, np.maximum(near, 0.0))[i]

    copies, cause_of = _copies_of(causes, copy)
    signal = 1.5 * (causes["a"] > 0.8) + np.exp(0.8 * causes["b"]) / 1.5 + np.maximum(causes["c"], 0) * 1.5
    return Truth({**causes, **copies}, cause_of, signal - signal.mean())


def _u_shaped(rng: np.random.Generator, n: int) -> Truth:
    causes = dict(zip("ab", rng.normal(size=(2, n)), strict=True))
    copies, cause_of = _copies_of(causes, lambda cause, i: cause + 0.4 * (i + 1) * rng.normal(size=n))
    return Truth({**causes, **copies}, cause_of, causes["a"] ** 2 - 1 + causes["b"])


def _labels(rng: np.random.Generator, n: int) -> Truth:
    causes = {"a": rng.integers(0, 3, n), "b": rng.integers(0, 2, n), "c": rng.integers(0, 4, n)}

    def copy(cause: np.ndarray, i: int) -> Any:
        if i == 2:
            return cause + 1.2 * rng.normal(size=n)
        changed = rng.random(n) < (0.2, 0.4)[i]
        return pd.Categorical(np.where(changed, rng.permutation(cause), cause).astype(str))

    copies, cause_of = _copies_of(causes, copy)
    effect = {"a": np.array([-0.9, 1.1, -0.2]), "b": np.array([-0.7, 0.7]), "c": np.array([0.8, -0.8, 0.8, -0.8])}
    signal = sum(effect[name][values] for name, values in causes.items())
    texts = {name: pd.Categorical(values.astype(str)) for name, values in causes.items()}
    return Truth({**texts, **copies}, cause_of, 1.2 * np.asarray(signal))


def _pair(rng: np.random.Generator, n: int) -> Truth:
    """One cause by itself, and two that matter only together."""
    causes = dict(zip("abc", rng.normal(size=(3, n)), strict=True))
    copies, cause_of = _copies_of(causes, lambda cause, i: cause + 0.4 * (i + 1) * rng.normal(size=n))
    return Truth({**causes, **copies}, cause_of, causes["a"] + 1.2 * np.sign((causes["b"] - 0.3) * (causes["c"] + 0.2)))


def _covariate(rng: np.random.Generator, n: int) -> Truth:
    age = rng.normal(size=n)
    causes = {name: 0.6 * age + 0.8 * rng.normal(size=n) for name in "ab"}
    copies, cause_of = _copies_of(causes, lambda cause, i: cause + 0.5 * (i + 1) * rng.normal(size=n))
    of_age = {f"age copy {i}": age + rng.normal(size=n) for i in range(3)}
    cause_of |= dict.fromkeys(of_age, "")
    return Truth({**causes, **copies, **of_age}, cause_of, sum(causes.values()) + age, age)


SETTINGS: dict[str, Callable[[np.random.Generator, int], Truth]] = {
    "copies": _plain,
    "correlated causes": _correlated,
    "bent effects, skewed copies": _bent,
    "U-shaped effect": _u_shaped,
    "labels": _labels,
    "an interacting pair": _pair,
    "a covariate": _covariate,
}


def _outcome(kind: str, signal: np.ndarray, rng: np.random.Generator) -> Any:
    n = len(signal)
    if kind == "numbers":
        return signal + 1.2 * rng.normal(size=n)
    if kind == "classes":
        return np.where(rng.random(n) < 1 / (1 + np.exp(-1.5 * signal)), "ill", "well")
    if kind == "three classes":
        return np.digitize(signal + rng.logistic(size=n) / 1.5, (-0.7, 0.7))
    return (rng.exponential(np.exp(-signal)), rng.random(n) < 0.7)


def short_list_of(job: tuple[str, str, int, int]) -> dict[str, int]:
    """Return how many causes are in the short list of one table, and whether there is a variable too many."""
    import interplay

    setting, kind, n, seed = job
    rng = np.random.default_rng([seed, n, list(SETTINGS).index(setting), KINDS.index(kind)])
    truth = SETTINGS[setting](rng, n)
    noise = {f"noise {i}": rng.normal(size=n) for i in range(N_NOISE)}
    X = pd.DataFrame({**truth.columns, **noise})
    y = _outcome(kind, truth.signal, rng)
    result = interplay.select(X, y, covariates=truth.covariates, random_state=seed, dimensions=(1, 2), n_jobs=1)
    listed = set(result.short_list)
    too_many = {
        name for name in listed if name in noise or (name in truth.cause_of and truth.cause_of[name] in listed | {""})
    }
    causes = set(truth.columns) - set(truth.cause_of)
    return {
        "causes": len(causes),
        "causes listed": len(causes & listed),
        "listed": len(listed),
        "too many": int(bool(too_many)),
        "noise listed": int(bool(too_many & set(noise))),
    }
