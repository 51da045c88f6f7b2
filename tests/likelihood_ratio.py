"""What the tests of interactions are compared with: statsmodels on tables of counts, F of classes, products."""

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


def covariate_products(covariates, members):
    """Columns of covariates, (n, c), times levels of all members but one, which goes with covariates (Keller's)."""
    found = []
    covariates = np.asarray(covariates, dtype=float)
    n = len(covariates)
    known = np.column_stack([np.ones(n), covariates])
    for j, left_out in enumerate(members):
        of_levels = np.column_stack([left_out == level for level in np.unique(left_out)[1:]]).astype(float)
        centred = of_levels - of_levels.mean(axis=0)
        fitted = known @ np.linalg.pinv(known) @ centred
        rank, n_columns = np.linalg.matrix_rank(known) - 1, centred.shape[1]
        explained = np.trace(np.linalg.pinv(centred.T @ centred) @ (fitted.T @ fitted))
        if explained <= n_columns * rank / (n - 1):
            continue
        cells = list(zip(*(members[i] for i in range(len(members)) if i != j), strict=True))
        for cell in sorted(set(cells))[1:]:
            in_cell = np.array([one == cell for one in cells], dtype=float)
            more = [in_cell * column for column in covariates.T]
            found += [each for each in more if np.linalg.matrix_rank(np.column_stack([*found, each])) > len(found)]
    return np.column_stack(found) if found else np.empty((n, 0))
