"""Plain tests of a number outcome, as one would write them with numpy and scipy. All use Holm's adjustment."""

from __future__ import annotations

import numpy as np
from scipy import stats

LEVEL = 0.05


def standardized(values: np.ndarray) -> np.ndarray:
    centred = values - values.mean(axis=0)
    return centred / np.maximum(centred.std(axis=0), 1e-300)


def p_of_correlation(r: np.ndarray, df: int) -> np.ndarray:
    r = np.clip(r, -1, 1)
    return 2 * stats.t.sf(np.abs(r) * np.sqrt(df / np.maximum(1 - r * r, 1e-15)), df)


def holm(p: np.ndarray, level: float = LEVEL) -> np.ndarray:
    """Whether each is significant."""
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    chosen = np.zeros(len(p), dtype=bool)
    chosen[order] = adjusted < level
    return chosen


def pearson(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """p-value of each column's correlation with y."""
    return p_of_correlation(standardized(X).T @ standardized(y) / len(y), len(y) - 2)


def spearman(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return pearson(stats.rankdata(X, axis=0), stats.rankdata(y))


def parabola(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """p-value of each column by the F test of the regression of y on x and x²."""
    z, t = standardized(X), standardized(y)
    square = standardized(z**2)
    between = (z * square).mean(axis=0)
    r1, r2 = z.T @ t / len(t), square.T @ t / len(t)
    explained = (r1**2 + r2**2 - 2 * r1 * r2 * between) / np.maximum(1 - between**2, 1e-12)
    explained = np.clip(explained, 0, 1 - 1e-15)
    return stats.f.sf(explained / 2 / ((1 - explained) / (len(t) - 3)), 2, len(t) - 3)


def products(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p-value of the product in the regression of y on two columns and their product, and both columns, of all pairs.

    The partial correlation of y and the product, given both columns, is found from correlations alone.
    """
    n = len(y)
    z, t = standardized(X), standardized(y)
    between = z.T @ z / n
    deviation = np.sqrt(np.maximum((z**2).T @ z**2 / n - between**2, 1e-12))  # of the products
    with_y = (z * t[:, np.newaxis]).T @ z / n / deviation
    with_first = (z**2).T @ z / n / deviation  # [i, j]: of the product with column i
    with_second = with_first.T
    alone = z.T @ t / n
    first, second = alone[:, np.newaxis], alone[np.newaxis, :]
    rest = np.maximum(1 - between**2, 1e-12)

    def explained(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
        """What two columns give to the correlation of two others, of which (a, b) and (c, d) are correlations."""
        return (a * c + b * d - between * (a * d + b * c)) / rest

    shared = with_y - explained(first, second, with_first, with_second)
    of_product = 1 - explained(with_first, with_second, with_first, with_second)
    of_y = 1 - explained(first, second, first, second)
    i, j = np.triu_indices(X.shape[1], 1)
    r = (shared / np.sqrt(np.maximum(of_product * of_y, 1e-12)))[i, j]
    return p_of_correlation(r, n - 4), i, j


def members(p: np.ndarray, i: np.ndarray, j: np.ndarray, n_vars: int, level: float = LEVEL) -> np.ndarray:
    """Whether each column is in a significant pair."""
    chosen = np.zeros(n_vars, dtype=bool)
    significant = holm(p, level)
    chosen[i[significant]] = chosen[j[significant]] = True
    return chosen


def plain_tests(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Columns that each test selects."""
    of_pairs = products(X, y)
    of_ranks = spearman(X, y)
    n_vars = X.shape[1]
    return {
        "Spearman": holm(of_ranks),
        "Pearson": holm(pearson(X, y)),
        "x and x²": holm(parabola(X, y)),
        "products": members(*of_pairs, n_vars),
        "Spearman + products": holm(of_ranks, LEVEL / 2) | members(*of_pairs, n_vars, LEVEL / 2),
    }


def boruta(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Boruta with the forest of its documentation, of regression trees."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(n_jobs=1, max_depth=5, random_state=seed)
    return np.asarray(BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y).support_)


def mutual_information(X: np.ndarray, y: np.ndarray, seed: int, n_permutations: int = 99) -> np.ndarray:
    """k-NN mutual information beside its largest value among all columns in permutations of y (Westfall and Young)."""
    from sklearn.feature_selection import mutual_info_regression

    rng = np.random.default_rng(seed)
    largest = [mutual_info_regression(X, rng.permutation(y), random_state=seed).max() for _ in range(n_permutations)]
    found = mutual_info_regression(X, y, random_state=seed)
    above = (np.array(largest)[:, np.newaxis] >= found).sum(axis=0)
    return (above + 1) / (n_permutations + 1) <= LEVEL


#: Slow ones, given the first tables only, if their packages are there.
SLOW = {"Boruta": ("boruta", boruta), "mutual information": ("sklearn", mutual_information)}
