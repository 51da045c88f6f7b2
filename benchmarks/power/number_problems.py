"""Tables with a number, ordered classes or counts as the outcome, whose relevant variables are known.

Columns are normal and independent, unless a line says otherwise; the relevant ones stand first. No line, effect or seed
was used to choose a test, an arm or a weight.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

#: Part of every seed: these tables are of this study alone.
STUDY = 18_112_026

Generator = np.random.Generator


@dataclass(frozen=True)
class NumberTable:
    X: np.ndarray
    y: np.ndarray
    n_relevant: int  # the first columns


@dataclass(frozen=True)
class Line:
    """One kind of table: an effect of the first columns, and noise."""

    name: str
    effect: Callable[[np.ndarray], np.ndarray]
    n_relevant: int
    n_samples: int = 300
    n_vars: int = 100
    noise: str = "normal"
    columns: str = "normal"
    spread: Callable[[np.ndarray], np.ndarray] | None = None  # what multiplies the noise
    outcome: str = "number"  # or "classes" (five, ordered) or "counts"
    settings: dict[str, Any] = field(default_factory=dict)  # of select()

    @property
    def group(self) -> str:
        """What stands before the first comma or number: the kind of effect."""
        return self.name.split(",")[0].rstrip(" .0123456789")

    def table(self, number: int) -> NumberTable:
        rng = np.random.default_rng([STUDY, zlib.crc32(self.name.encode()), number])
        X = COLUMNS[self.columns](rng, (self.n_samples, self.n_vars))
        signal = self.effect(X)
        if self.outcome == "counts":
            return NumberTable(X, rng.poisson(2 * np.exp(signal)), self.n_relevant)
        noise = NOISE[self.noise](rng, self.n_samples)
        if self.spread is not None:
            noise = noise * self.spread(X)
        y = signal + noise
        if self.outcome == "classes":
            y = np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y)
        return NumberTable(X, y, self.n_relevant)


NOISE: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1,
    "t2": lambda rng, n: rng.standard_t(2, size=n),
}


def _genotypes(rng: Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.binomial(2, rng.uniform(0.1, 0.5, shape[1]), size=shape).astype(float)


def _correlated(rng: Generator, shape: tuple[int, int]) -> np.ndarray:
    """Blocks of ten columns with a correlation of 0.7."""
    shared = np.repeat(rng.normal(size=(shape[0], -(-shape[1] // 10))), 10, axis=1)[:, : shape[1]]
    return np.sqrt(0.7) * shared + np.sqrt(0.3) * rng.normal(size=shape)


COLUMNS: dict[str, Callable[[Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "genotypes": _genotypes,
    "correlated": _correlated,
}


def _side(x: np.ndarray, quantile: float = 0.5) -> np.ndarray:
    """1 above a quantile, -1 below."""
    return np.where(x > np.quantile(x, quantile), 1.0, -1.0)


def nothing(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X))


def linear(X: np.ndarray, b: float) -> np.ndarray:
    return b * X[:, 0]


def step(X: np.ndarray, b: float) -> np.ndarray:
    return b * _side(X[:, 0])


def u_shape(X: np.ndarray, b: float) -> np.ndarray:
    return b * (X[:, 0] ** 2 - 1) / np.sqrt(2)


def threshold(X: np.ndarray, b: float) -> np.ndarray:
    return b * _side(X[:, 0], 0.8)


def product(X: np.ndarray, b: float) -> np.ndarray:
    return b * X[:, 0] * X[:, 1]


def xor(X: np.ndarray, b: float, first: float = 0.5, second: float = 0.5) -> np.ndarray:
    return b * _side(X[:, 0], first) * _side(X[:, 1], second)


def modifier(X: np.ndarray, b: float) -> np.ndarray:
    """An effect of the first column that grows with the second, which has none alone."""
    return b * X[:, 0] * (1 + X[:, 1])


def switch(X: np.ndarray, b: float) -> np.ndarray:
    """An effect of the first column where the second is above its median."""
    return b * X[:, 0] * (_side(X[:, 1]) > 0)


def three_way(X: np.ndarray, b: float) -> np.ndarray:
    return b * _side(X[:, 0]) * _side(X[:, 1]) * _side(X[:, 2])


def mixed(X: np.ndarray, b: float) -> np.ndarray:
    """Two linear effects, a step, a U, a product and an XOR."""
    pair = X[:, 4] * X[:, 5] + _side(X[:, 6]) * _side(X[:, 7])
    return b * (X[:, 0] - X[:, 1] + _side(X[:, 2]) + (X[:, 3] ** 2 - 1) / np.sqrt(2) + pair)


def strong(X: np.ndarray) -> np.ndarray:
    """Two effects that explain three quarters of the outcome."""
    return 1.2 * X[:, 0] + 1.2 * X[:, 1]


def grows(X: np.ndarray, b: float = 0.5) -> np.ndarray:
    """The noise grows with the first column."""
    return np.exp(b * X[:, 0])


def _line(name: str, effect: Callable[..., np.ndarray], n_relevant: int, b: float, **more: Any) -> Line:
    return Line(f"{name} {b:g}", partial(effect, b=b), n_relevant, **more)


def _noise_lines() -> list[Line]:
    lines = [
        Line(f"noise alone, {kind}, N = {n}", nothing, 0, n_samples=n, noise=kind)
        for kind in NOISE
        for n in (100, 300, 1000)
    ]
    lines += [
        Line("noise alone, 30 variables", nothing, 0, n_vars=30),
        Line("noise alone, 200 variables", nothing, 0, n_vars=200),
        Line("noise alone, exponential columns, t2", nothing, 0, columns="exponential", noise="t2"),
        Line("noise alone, genotypes", nothing, 0, columns="genotypes"),
        Line("noise alone, correlated columns", nothing, 0, columns="correlated"),
        Line("noise alone, five classes", nothing, 0, outcome="classes", settings={"decision": "number"}),
        Line("noise alone, counts", nothing, 0, outcome="counts"),
    ]
    lines += [
        Line(f"mixed truth, {kind}, N = {n}", partial(mixed, b=b), 8, n_samples=n, noise=kind)
        for kind, n, b in (
            ("normal", 100, 0.6),
            ("normal", 300, 0.4),
            ("normal", 1000, 0.25),
            ("exponential", 300, 0.4),
            ("t2", 300, 0.6),
        )
    ]
    lines += [
        Line("mixed truth, two strong effects", strong, 2),
        Line("mixed truth, two strong effects, exponential columns", strong, 2, columns="exponential"),
        Line("unequal spread, no other effect", nothing, 1, spread=grows),
        Line("unequal spread, no other effect, N = 1000", nothing, 1, spread=grows, n_samples=1000),
        Line("unequal spread, linear effect of the same variable", partial(linear, b=1.0), 1, spread=grows),
        Line("unequal spread, linear effect of the same variable, t2", partial(linear, b=1.0), 1, spread=grows,
             noise="t2"),
        Line("unequal spread, two strong effects", strong, 2, spread=grows),
        Line("unequal spread, two strong effects, N = 1000", strong, 2, spread=grows, n_samples=1000),
    ]  # fmt: skip
    return lines


def _power_lines() -> list[Line]:
    lines = [_line("linear", linear, 1, b) for b in (0.2, 0.25, 0.3)]
    lines += [_line("product", product, 2, b) for b in (0.25, 0.3, 0.4)]
    lines += [_line("XOR at the medians,", xor, 2, b) for b in (0.3, 0.4)]
    quantiles = partial(xor, first=0.3, second=0.6)
    lines += [_line("XOR at .3 and .6,", quantiles, 2, b) for b in (0.4, 0.55, 0.75)]
    lines += [_line("three-way", three_way, 3, b) for b in (0.35, 0.45)]
    lines += [_line("modifier", modifier, 2, b) for b in (0.25, 0.35)]
    lines += [_line("modifier, switch,", switch, 2, b) for b in (0.5, 0.7)]
    lines += [_line("step", step, 1, b) for b in (0.2, 0.25, 0.3)]
    lines += [_line("U", u_shape, 1, b) for b in (0.2, 0.25, 0.3)]
    lines += [_line("threshold at .8,", threshold, 1, b) for b in (0.3, 0.4)]
    for kind, factor in (("exponential", 1.0), ("t2", 1.6)):  # t2 has no variance; its middle half is this much wider
        lines += [
            _line(f"{name}, {kind} noise,", effect, n_relevant, round(b * factor, 2), noise=kind)
            for name, effect, n_relevant, b in (
                ("linear", linear, 1, 0.25),
                ("U", u_shape, 1, 0.25),
                ("product", product, 2, 0.3),
                ("XOR at the medians", xor, 2, 0.3),
                ("XOR at .3 and .6", quantiles, 2, 0.55),
                ("three-way", three_way, 3, 0.35),
            )
        ]
    for n, factor in ((100, 1.8), (1000, 0.54)):  # about √(300/n)
        lines += [
            _line(f"{name}, N = {n},", effect, n_relevant, round(b * factor, 2), n_samples=n)
            for name, effect, n_relevant, b in (
                ("linear", linear, 1, 0.25),
                ("step", step, 1, 0.25),
                ("U", u_shape, 1, 0.25),
                ("product", product, 2, 0.3),
                ("XOR at the medians", xor, 2, 0.3),
                ("XOR at .3 and .6", quantiles, 2, 0.55),
                ("modifier", modifier, 2, 0.3),
                ("three-way", three_way, 3, 0.35),
            )
        ]
    ordered: dict[str, Any] = {"outcome": "classes", "settings": {"decision": "number"}}
    lines += [_line("five classes, linear", linear, 1, b, **ordered) for b in (0.2, 0.25, 0.3)]
    lines += [_line("counts, linear", linear, 1, b, outcome="counts") for b in (0.15, 0.2)]
    return lines


#: Nothing but the relevant variables may be selected: the share of tables in which something else is.
NOISE_LINES = {line.name: line for line in _noise_lines()}
#: The share of the relevant variables that are found.
POWER_LINES = {line.name: line for line in _power_lines()}
