"""Tables whose relevant variables are known, from weak single effects to effects of three loci together.

A problem makes a new table for each repetition. Relevant variables stand anywhere among the columns.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

import interplay
from power import penetrance

#: Of the genotypes that matter. Those that do not have shares of minor alleles from 0.05 to 0.5.
MINOR_ALLELE_SHARE = 0.3


@dataclass(frozen=True)
class Table:
    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray  # columns that matter, ascending
    genotypes: bool = False  # values are 0, 1 and 2 and nothing between


#: Of the effects, as multiples of what the study's own tables have.
STRENGTHS = {"weak": 0.7, "medium": 1.0, "strong": 1.4}


@dataclass(frozen=True)
class Problem:
    name: str
    title: str  # over a panel of the picture
    short: str  # over a column of the table
    make: Callable[..., Table]  # of a seed and, where it is not 1, a multiple of the effects

    def table(self, repetition: int, strength: str = "medium") -> Table:
        """A table of its own: the same numbers in no other problem."""
        name = self.name if strength == "medium" else f"{self.name}, {strength}"
        seed = (zlib.crc32(name.encode()) + repetition) % 2**32
        return self.make(seed) if strength == "medium" else self.make(seed, STRENGTHS[strength])


def _labels(log_odds: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    return (rng.random_sample(len(log_odds)) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)


def _shuffled(
    relevant: np.ndarray, noise: np.ndarray, y: np.ndarray, rng: np.random.RandomState, *, genotypes: bool = False
) -> Table:
    columns = np.hstack([relevant, noise])
    place = rng.permutation(columns.shape[1])  # column i moves to place[i]
    X = np.empty_like(columns)
    X[:, place] = columns
    return Table(X, y, np.sort(place[: relevant.shape[1]]), genotypes)


# --- Measurements: gaussian variables ---------------------------------------------------------------------------


def additive(
    seed: int,
    strength: float = 1.0,
    n_samples: int = 400,
    n_vars: int = 100,
    n_relevant: int = 10,
    effect: float = 0.45,
) -> Table:
    """Each relevant variable adds a little to the log odds; no two have anything to do with each other."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    y = _labels(strength * effect * X[:, :n_relevant].sum(axis=1), rng)
    return _shuffled(X[:, :n_relevant], X[:, n_relevant:], y, rng)


def parity(seed: int, group: int, n_groups: int, effect: float, n_samples: int = 400, n_vars: int = 100) -> Table:
    """Groups of variables whose signs multiply to a sign that shifts the log odds: fewer than all say nothing."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    n_relevant = group * n_groups
    products = np.sign(X[:, :n_relevant]).reshape(n_samples, n_groups, group).prod(axis=2)
    y = _labels(effect * products.sum(axis=1), rng)
    return _shuffled(X[:, :n_relevant], X[:, n_relevant:], y, rng)


def interaction_and_main(seed: int, strength: float = 1.0, n_samples: int = 400, n_vars: int = 100) -> Table:
    """Two pairs; of each, one variable has an effect alone, and the other only modifies it. No steps, only products."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    alone, modifier = X[:, 0:2], X[:, 2:4]
    y = _labels(strength * (0.8 * alone + 1.0 * alone * modifier).sum(axis=1), rng)
    return _shuffled(X[:, :4], X[:, 4:], y, rng)


def madelon(seed: int, strength: float = 1.0, n_samples: int = 600, n_vars: int = 200) -> Table:
    """Corners of a five-dimensional cube with random labels; 15 of 20 relevant variables are redundant.

    Its effect is what it is: more samples make it stronger.
    """
    X, y, truth = interplay.datasets.make_madelon(round(n_samples * strength), n_vars, random_state=seed)
    return Table(X.astype(np.float64), y.astype(np.int64), truth.relevant)


def xor_at_quantiles(seed: int, strength: float = 1.0, n_samples: int = 400, n_vars: int = 100) -> Table:
    """Two pairs, an exclusive or of steps that are not at the medians but anywhere between 0.2 and 0.8."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    signs = np.sign(X[:, :4] - ndtri(rng.uniform(0.2, 0.8, size=4)))
    y = _labels(strength * 1.1 * (signs[:, 0] * signs[:, 1] + signs[:, 2] * signs[:, 3]), rng)
    return _shuffled(X[:, :4], X[:, 4:], y, rng)


def smooth_products(seed: int, strength: float = 1.0, n_samples: int = 400, n_vars: int = 100) -> Table:
    """Two pairs whose products shift the log odds; no variable has an effect alone."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    y = _labels(strength * 0.7 * (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3]), rng)
    return _shuffled(X[:, :4], X[:, 4:], y, rng)


def single_steps(seed: int, strength: float = 1.0, n_samples: int = 400, n_vars: int = 100) -> Table:
    """Six variables, each with a step somewhere between its quantiles 0.1 and 0.9."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    quantile = rng.uniform(0.1, 0.9, size=6)
    y = _labels(strength * 1.2 * ((X[:, :6] > ndtri(quantile)) - (1 - quantile)).sum(axis=1), rng)
    return _shuffled(X[:, :6], X[:, 6:], y, rng)


def u_shapes(seed: int, strength: float = 1.0, n_samples: int = 400, n_vars: int = 100) -> Table:
    """Four variables of which both high and low values are rare in one class: means and medians are the same."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    y = _labels(strength * 0.45 * (X[:, :4] ** 2 - 1).sum(axis=1), rng)
    return _shuffled(X[:, :4], X[:, 4:], y, rng)


def correlated_signal(seed: int, strength: float = 1.0, n_samples: int = 400, n_vars: int = 100) -> Table:
    """Pairs of correlated variables (0.5), both with an effect; all other variables are independent of these.

    Two of four pairs add up, two are exclusive ors, so that the correlation hides as much as it helps.
    """
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    X[:, 4:8] = 0.5 * X[:, 0:4] + np.sqrt(0.75) * X[:, 4:8]
    together = np.sign(X[:, [2, 3]] * X[:, [6, 7]]) - 1 / 3  # what a correlation of 0.5 makes of the mean
    y = _labels(strength * (0.4 * X[:, [0, 1, 4, 5]].sum(axis=1) + 0.9 * together.sum(axis=1)), rng)
    return _shuffled(X[:, :8], X[:, 8:], y, rng)


def three_classes(seed: int, strength: float = 1.0, n_samples: int = 450, n_vars: int = 100) -> Table:
    """Four single effects and two exclusive ors, each on the odds of another class than the next."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n_samples, n_vars))
    scores = np.zeros((n_samples, 3))
    for v in range(4):
        scores[:, v % 3] += 0.6 * X[:, v]
    for pair in range(2):
        scores[:, pair + 1] += 1.3 * np.sign(X[:, 4 + 2 * pair] * X[:, 5 + 2 * pair])
    noise = rng.gumbel(size=scores.shape)
    return _shuffled(X[:, :8], X[:, 8:], (strength * scores + noise).argmax(axis=1), rng)


# --- Genotypes --------------------------------------------------------------------------------------------------


def case_control(
    seed: int,
    model: Callable[[np.random.RandomState], np.ndarray],
    n_samples: int,
    n_vars: int = 100,
) -> Table:
    """Cases and controls whose genotypes at the model's loci differ, and at no other."""
    rng = np.random.RandomState(seed)
    loci, y = penetrance.draw_cases_and_controls(model(rng), MINOR_ALLELE_SHARE, n_samples, rng)
    n_noise = n_vars - loci.shape[1]
    noise = rng.binomial(2, rng.uniform(0.05, 0.5, size=n_noise), size=(n_samples, n_noise)).astype(np.float64)
    return _shuffled(loci, noise, y, rng, genotypes=True)


def _pure(n_loci: int, heritability: float) -> Callable[[np.random.RandomState], np.ndarray]:
    return lambda rng: penetrance.pure(n_loci, MINOR_ALLELE_SHARE, heritability, prevalence=0.5, rng=rng)


PROBLEMS = {
    problem.name: problem
    for problem in [
        Problem("additive", "Additive:\nten weak effects", "additive", additive),
        Problem("interaction_and_main", "Main effects\nand modifiers", "modifiers", interaction_and_main),
        Problem(
            "xor_pairs",
            "XOR:\ntwo pairs",
            "XOR 2",
            lambda seed, strength=1.0: parity(seed, group=2, n_groups=2, effect=0.8 * strength),
        ),
        Problem(
            "xor_triples",
            "XOR:\ntwo triples",
            "XOR 3",
            lambda seed, strength=1.0: parity(seed, group=3, n_groups=2, effect=1.0 * strength),
        ),
        Problem(
            "parity_of_4",
            "Parity of four,\nof 30 variables",
            "parity 4",
            lambda seed, strength=1.0: parity(seed, group=4, n_groups=1, effect=1.5 * strength, n_vars=30),
        ),
        Problem("madelon", "Madelon-like:\n20 of 200 variables", "Madelon", madelon),
        Problem(
            "snp_multiplicative",
            "Two loci,\nmultiplicative",
            "mult. 2",
            lambda seed, strength=1.0: case_control(
                seed, lambda _: penetrance.multiplicative(2, effect=1.0 * strength), n_samples=600
            ),
        ),
        Problem(
            "snp_threshold",
            "Two loci,\nthreshold",
            "thresh. 2",
            lambda seed, strength=1.0: case_control(
                seed, lambda _: penetrance.threshold(2, effect=2.5 * strength), n_samples=600
            ),
        ),
        Problem(
            "snp_threshold_3",
            "Three loci,\nthreshold",
            "thresh. 3",
            lambda seed, strength=1.0: case_control(
                seed, lambda _: penetrance.threshold(3, effect=5.0 * strength), n_samples=600
            ),
        ),
        Problem(
            "snp_pure_2",
            "Two loci,\npure epistasis",
            "pure 2",
            lambda seed, strength=1.0: case_control(seed, _pure(2, heritability=0.07 * strength**2), n_samples=400),
        ),
        Problem(
            "snp_pure_3",
            "Three loci,\npure epistasis",
            "pure 3",
            lambda seed, strength=1.0: case_control(seed, _pure(3, heritability=0.15 * strength**2), n_samples=400),
        ),
    ]
}

#: Problems on which only the methods of `one_call_power.py` are compared, beside those above.
MORE_PROBLEMS = {
    problem.name: problem
    for problem in [
        Problem("xor_at_quantiles", "XOR at random\nquantiles", "XOR q", xor_at_quantiles),
        Problem("smooth_products", "Smooth products:\ntwo pairs", "products", smooth_products),
        Problem("single_steps", "Single steps at\nrandom quantiles", "steps", single_steps),
        Problem("u_shapes", "U shapes", "U", u_shapes),
        Problem("correlated_signal", "Correlated\nsignal", "correlated", correlated_signal),
        Problem("three_classes", "Three classes:\nsingle and XOR", "3 classes", three_classes),
    ]
}
