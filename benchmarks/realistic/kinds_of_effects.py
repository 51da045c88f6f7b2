"""Effects of every kind, in the default call, beside the plain test that was told the kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, Test, selected, smallest


def _number(rng: Rng, n: int, p: int, true: list[int], effect: Callable[[Rng, np.ndarray], np.ndarray]) -> Table:
    X = rng.normal(size=(n, p))
    y = effect(rng, X[:, true].sum(axis=1) / np.sqrt(max(len(true), 1)))
    return Table(X, y, frozenset(true))


def _classes(rng: Rng, n: int, p: int, true: list[int], *, shift: float = 0.0, spread: float = 1.0) -> Table:
    y, X = np.arange(n) % 2, rng.normal(size=(n, p))
    X[:, true] = X[:, true] * np.where(y == 1, spread, 1.0)[:, np.newaxis] + shift * y[:, np.newaxis]
    return Table(X, y, frozenset(true))


def _genotypes(rng: Rng, n: int, p: int, true: list[int], *, odds: float) -> Table:
    X = rng.binomial(2, rng.uniform(0.2, 0.5, p), size=(n, p))
    log_odds = np.log(odds) * ((X[:, true] == 1) - 0.5).sum(axis=1)
    return Table(X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int), frozenset(true))


def _times(rng: Rng, n: int, p: int, true: list[int], *, log_ratio: float = 0.0) -> Table:
    X = rng.normal(size=(n, p))
    time, end = rng.exponential(np.exp(-log_ratio * X[:, true].sum(axis=1))), rng.exponential(2.0, n)
    return Table(X, (np.minimum(time, end), time <= end), frozenset(true))


def _spread_of_number(rng: Rng, x: np.ndarray) -> np.ndarray:
    return np.exp(0.3 * x) * rng.normal(size=len(x))


def _sine(rng: Rng, x: np.ndarray) -> np.ndarray:
    return 0.55 * np.sin(4 * np.pi * stats.norm.cdf(x)) + rng.normal(size=len(x))


def _steep(rng: Rng, x: np.ndarray) -> np.ndarray:
    return 0.85 * x + rng.normal(size=len(x))


def _line(rng: Rng, x: np.ndarray) -> np.ndarray:
    return 0.2 * x + rng.normal(size=len(x))


def _by_column(table: Table, test: Callable[[np.ndarray, np.ndarray], float]) -> set[int]:
    return smallest(np.array([test(x, table.y) for x in table.X.T]))


def _far(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.spearmanr(x, np.abs(y - np.median(y))).pvalue)


def _bins(x: np.ndarray, y: np.ndarray) -> float:
    eighth = (stats.rankdata(x) * 8 / (len(x) + 1)).astype(int)
    return float(stats.f_oneway(*[y[eighth == b] for b in range(8)]).pvalue)


def _martingale(x: np.ndarray, y: tuple[np.ndarray, np.ndarray]) -> float:
    """Of times: the correlation of normal scores with events less expected ones (Nelson and Aalen)."""
    order = np.argsort(y[0])
    hazard = np.empty(len(order))
    hazard[order] = np.cumsum(y[1][order] / np.arange(len(order), 0, -1))
    return float(stats.pearsonr(stats.norm.ppf((stats.rankdata(x) - 0.5) / len(x)), y[1] - hazard).pvalue)


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.spearmanr(x, y).pvalue)


def _levene(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.levene(x[y == 0], x[y == 1]).pvalue)


def _welch(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.ttest_ind(x[y == 0], x[y == 1], equal_var=False).pvalue)


def _chi2(x: np.ndarray, y: np.ndarray) -> float:
    counts = np.array([[np.sum((x == level) & (y == c)) for c in (0, 1)] for level in np.unique(x)])
    return float(stats.chi2_contingency(counts, correction=False).pvalue)


def _design(name: str, make: Callable[[Rng, bool], Table], plain: Test, plain_name: str, tables: int) -> Design:
    return Design(name, make, selected, plain, plain_name, tables=tables, planted=tables)


def _made(make: Callable[..., Table], n: int, p: int, n_true: int, rng: Rng, planted: bool, **more: object) -> Table:
    if not planted:
        more = {name: value for name, value in more.items() if name == "effect"} and {"effect": _nothing}
        more |= {"odds": 1.0} if make is _genotypes else {}
    return make(rng, n, p, list(range(3, 3 + n_true)) if planted else [], **more)


def _nothing(rng: Rng, x: np.ndarray) -> np.ndarray:
    return rng.normal(size=len(x))


def _of(make: Callable[..., Table], n: int, p: int, n_true: int, **more: object) -> Callable[[Rng, bool], Table]:
    return partial(_made, make, n, p, n_true, **more)


def _told(test: Callable[[np.ndarray, np.ndarray], float]) -> Test:
    return partial(_by_column, test=test)


LINE = Line(
    "Effects of every kind",
    "The default call was not told which kind of effect to look for; the plain test was. *Found* is the share of the "
    "columns with an effect, of numbers and classes, in small tables and in wide ones.",
    [
        _design("number: its spread follows x", _of(_number, 500, 40, 1, effect=_spread_of_number), _told(_far),
                "Spearman of the distance from the median", 100),
        _design("number: two periods of a sine", _of(_number, 500, 40, 1, effect=_sine), _told(_bins),
                "F of eight bins", 100),
        _design("number: a line", _of(_number, 500, 40, 1, effect=_line), _told(_spearman), "Spearman", 100),
        _design("classes: spread of x", _of(_classes, 300, 100, 3, spread=1.5), _told(_levene), "Levene", 100),
        _design("classes: shift, 300 samples, 100 columns", _of(_classes, 300, 100, 3, shift=0.45), _told(_welch),
                "Welch", 100),
        _design("classes: shift, 60 samples, 2000 columns, ten true", _of(_classes, 60, 2000, 10, shift=1.5),
                _told(_welch), "Welch", 40),
        _design("classes: shift, 100 samples, 2000 columns, one true", _of(_classes, 100, 2000, 1, shift=1.1),
                _told(_welch), "Welch", 40),
        _design("classes: shift, 100 samples, 5000 columns, one true", _of(_classes, 100, 5000, 1, shift=1.15),
                _told(_welch), "Welch", 40),
        _design("genotypes: over-dominant", _of(_genotypes, 500, 200, 1, odds=2.4), _told(_chi2), "χ² of 2 × 3", 100),
        _design("number: a line, 60 samples, 2000 columns", _of(_number, 60, 2000, 1, effect=_steep), _told(_spearman),
                "Spearman", 40),
        _design("times: 300 samples, 100 columns", _of(_times, 300, 100, 2, log_ratio=0.3), _told(_martingale),
                "score test of Cox's model", 100),
        _design("times: 100 samples, 1000 columns", _of(_times, 100, 1000, 1, log_ratio=0.7), _told(_martingale),
                "score test of Cox's model", 40),
    ],
)  # fmt: skip
