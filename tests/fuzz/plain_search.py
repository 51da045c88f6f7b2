"""A drawn search in plain loops, from the table to the gains, with nothing of the product but the imputed values."""

import math
from itertools import combinations

import numpy as np

import reference
from interplay.data.codes.survey import imputed

TOLERANCE = 1e-9


class PlainSearch:
    """The codes of a drawn search, and what follows from them."""

    def __init__(self, search):
        self._search = search
        X, y, strata = search.table()
        filled = _filled(search, X, first_variable=0)
        self.levels, self.codes = _coded(search, filled, first_variable=0, discrete=None)
        self.contrast_levels: list[int] = []
        self.contrast_codes: list[list[list[int]]] = [[] for _ in range(search.discretizations)]
        contrast = search.contrast(X, strata)
        if contrast:
            discrete = [_is_discrete(search, filled[:, source]) for source in contrast["contrast_sources"]]
            columns = _filled(search, contrast["contrast"], first_variable=search.n_vars)
            self.contrast_levels, self.contrast_codes = _coded(
                search, columns, first_variable=search.n_vars, discrete=discrete
            )
        if search.continuous:
            cut = reference.discretize(
                y.tolist(), variable=0, discretization=0, divisions=search.n_classes - 1, range_=0.0, seed=0
            )
            y = np.unique(cut, return_inverse=True)[1]
        self.classes = y.tolist()
        self.n_classes = max(self.classes) + 1
        self.strata = None
        if strata is not None and len(set(strata.tolist())) > 1:
            self.strata = np.unique(strata, return_inverse=True)[1].tolist()

    def assert_gains(self, found):
        """Gains of all variables and degrees of freedom, where they are found, and of equal ones the lowest."""
        search = self._search
        gains = reference.all_gains(
            self.codes, self.levels, self.classes, self.n_classes, search.dimensions, search.pseudocount,
            self.contrast_codes, self.contrast_levels, search.variables, search.require, self.strata,
        )  # fmt: skip
        near = reference.near_maxima(gains, tolerance=TOLERANCE * 10)
        n_found = 0
        for row, df_of_groups in enumerate(found.df_by_group.tolist()):
            for group, df in enumerate(df_of_groups):
                gain, discretization = found.gain_by_group[row, group], int(found.discretization_by_group[row, group])
                if (row, df) not in near:
                    assert (gain, discretization) == (-np.inf, -1)
                    continue
                n_found += 1
                candidates = near[row, df]
                best = max(candidate.gain for candidate in candidates)
                assert math.isclose(gain, best, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (row, df, gain, best)
                where = (discretization, tuple(found.tuples_by_group[row, group].tolist()))
                order = [(candidate.discretization, candidate.tuple) for candidate in candidates]
                assert where in order, (row, df, where, order)
                alike = self._alike(row, *where)
                lower = [other for other in order[: order.index(where)] if self._alike(row, *other) == alike]
                assert not lower, f"variable {row}: {where} is named, {lower[0]} has the same counts and is lower"
        assert n_found == len(near)

    def _alike(self, variable, discretization, members):
        codes = [*self.codes[discretization], *self.contrast_codes[discretization]]
        levels = [*self.levels, *self.contrast_levels]
        columns, tuple_levels = [codes[v] for v in members], [levels[v] for v in members]
        if self.strata is not None:
            columns.append(self.strata)
            tuple_levels.append(max(self.strata) + 1)
        return reference.counts_alike(columns, tuple_levels, self.classes, self.n_classes, members.index(variable))

    def rows(self, *, with_decision):
        """Every value of `interesting_tuples`, by tuple and variable."""
        search = self._search
        rows = reference.interesting_tuples(
            self.codes, self.levels, self.classes if with_decision else None, self.n_classes, search.dimensions,
            search.pseudocount, stat=search.stat, average=search.average, variables=search.variables,
            require=search.require,
        )  # fmt: skip
        return {(members, variable): value for members, variable, value in rows}


def n_tuples(search):
    """Return how many tuples the plain loops have to look at."""
    real = math.comb(search.n_vars, search.dimensions)
    with_contrast = search.n_contrast * sum(1 for _ in combinations(range(search.n_vars), search.dimensions - 1))
    return (real + with_contrast) * search.discretizations


def _coded(search, X, *, first_variable, discrete):
    """Levels of each column, at least two, and its codes in each discretisation."""
    levels: list[int] = []
    codes: list[list[list[int]]] = [[] for _ in range(search.discretizations)]
    for v, column in enumerate(X.T):
        as_it_is = _is_discrete(search, column) if discrete is None else discrete[v]
        observed = column[~np.isnan(column)].tolist()
        has_gaps = len(observed) < len(column)
        values = sorted(set(observed))
        n_levels = len(values) if as_it_is else search.divisions + 1
        for d in range(search.discretizations):
            if as_it_is:
                of_observed = [values.index(value) for value in observed]
            else:
                of_observed = reference.discretize(
                    observed, variable=first_variable + v, discretization=d, divisions=search.divisions,
                    range_=search.range_, seed=search.seed,
                )  # fmt: skip
            of_observed.reverse()
            codes[d].append([n_levels if math.isnan(value) else of_observed.pop() for value in column.tolist()])
        levels.append(max(n_levels + has_gaps, 2))
    return levels, codes


def _is_discrete(search, column):
    if search.discrete != "auto":
        return search.discrete == "all"
    return len(set(column[~np.isnan(column)].tolist())) <= max(3, search.divisions + 1)


def _filled(search, X, *, first_variable):
    """Fill in what is missing as the product does, which draws it from streams of its own."""
    gaps = np.flatnonzero(np.isnan(X).any(axis=0))
    if search.missing != "impute":
        return X
    return imputed(np.ascontiguousarray(X.T), gaps, first_variable + np.arange(X.shape[1]), search.seed).T
