"""Logistic and multinomial regression of statsmodels on tables of counts, to compare the interaction test with."""

from __future__ import annotations

import warnings
from itertools import combinations, product

import numpy as np


def independent_columns(cells, shape, largest_part):
    """Dummy variables of all parts of up to so many members, in the cells that are there, if they add to the rank."""
    kept = []
    for size in range(largest_part + 1):
        for members in combinations(range(len(shape)), size):
            for levels in product(*(range(1, shape[i]) for i in members)):
                column = np.prod([cells[:, i] == c for i, c in zip(members, levels, strict=True)], axis=0)
                column = np.broadcast_to(column, len(cells)).astype(float)
                if np.linalg.matrix_rank(np.column_stack([*kept, column])) > len(kept):
                    kept.append(column)
    return np.column_stack(kept)


def regression(table, largest_part):
    """Log-likelihood and number of parameters of the (multinomial) logistic regression of statsmodels."""
    import statsmodels.api as sm

    n_classes = table.shape[-1]
    sizes = table.sum(axis=-1)
    cells = np.argwhere(sizes > 0)
    columns = independent_columns(cells, table.shape[:-1], largest_part)
    row, y = np.divmod(np.repeat(np.arange(len(cells) * n_classes), table[sizes > 0].ravel()), n_classes)
    model = (sm.Logit if n_classes == 2 else sm.MNLogit)(y, columns[row])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(method="newton", maxiter=200, tol=1e-12, disp=0)
    return fit.llf, columns.shape[1] * (n_classes - 1)


def p_of_classes(chi2, df, class_sizes, n_columns):
    """p-value of a likelihood ratio of classes by F, with as many samples as the classes are worth."""
    from scipy.stats import f

    n = float(class_sizes.sum())
    worth = n - float((class_sizes.astype(float) ** 3).sum()) / n**2
    left = max(worth - n_columns, 1.0)
    return float(f.sf(np.expm1(chi2 / worth) * left / df, df, left))
