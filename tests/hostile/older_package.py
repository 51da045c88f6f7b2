"""interplay.compat: what scripts of the older package hand over."""

import numpy as np

from hostile.case import Area, refused, same
from hostile.data import CODES, X, Y, with_value
from interplay import compat

V = np.random.default_rng(0).random(60)


def discretized(data=X, **given):
    settings = {"variable_idx": 0, "divisions": 1, "discretization_nr": 1, "seed": 0, "range_": 0.5} | given
    return compat.discretize(data, **settings).discretized_var


def max_ig(data=X, decision=Y, **given):
    return compat.compute_max_ig(data, decision, **{"seed": 0} | given).max_igs


def fit(chisq=V, contrast=V, **given):
    return compat.fit_p_value(chisq, contrast, **{"exponential_fit": True} | given).p_values


AREA = Area(
    "`interplay.compat`",
    [
        refused("`run` of `None`", lambda: compat.run(None, Y), "^X must be a table"),
        refused("`run` with one class", lambda: compat.run(X, np.zeros(60)), "^y has one class only"),
        refused("`run(n_contrast=3)`", lambda: compat.run(X, Y, dimensions=2, n_contrast=3), "^n_contrast must be"),
        refused("`run(n_contrast=-1)`", lambda: compat.run(X, Y, n_contrast=-1), "^n_contrast must be"),
        refused("`run(n_contrast=10**12)`", lambda: compat.run(X, Y, n_contrast=10**12), "^n_contrast must be"),
        refused("`run(level=0)`", lambda: compat.run(X, Y, level=0), "^level must be"),
        refused(
            '`run(p_adjust_method="x")`', lambda: compat.run(X, Y, p_adjust_method="x"), "^p_adjust_method must be"
        ),
        refused("`run(seed=-1)`", lambda: compat.run(X, Y, seed=-1), "^seed must be"),
        refused("`run(seed=2**32)`", lambda: compat.run(X, Y, seed=2**32), "^seed must be"),
        refused("`run(seed=1.0)`", lambda: compat.run(X, Y, seed=1.0), "^seed must be"),
        refused("`compute_max_ig` of NaN", lambda: max_ig(with_value(np.nan)), "^X has 1 missing value"),
        refused("`compute_max_ig(dimensions=6)`", lambda: max_ig(dimensions=6, range_=0), "^dimensions=6 needs"),
        refused('`compute_max_ig(dimensions="2")`', lambda: max_ig(dimensions="2"), "^dimensions must be"),
        refused("`compute_max_ig(divisions=0)`", lambda: max_ig(divisions=0), "^divisions must be"),
        refused(
            "`compute_max_ig(discretizations=10**12)`", lambda: max_ig(discretizations=10**12, range_=0.5), "^discreti"
        ),
        refused("`compute_max_ig(range_=2)`", lambda: max_ig(range_=2), "^range_ must be"),
        refused("`compute_max_ig(pc_xi=-1)`", lambda: max_ig(pc_xi=-1), "^pc_xi must be"),
        refused("`compute_max_ig(pc_xi=nan)`", lambda: max_ig(pc_xi=float("nan")), "^pc_xi must be"),
        refused(
            "`compute_max_ig(interesting_vars=[9])`", lambda: max_ig(interesting_vars=[9]), "in interesting_vars must"
        ),
        refused(
            "`compute_max_ig(interesting_vars=9)`", lambda: max_ig(interesting_vars=9), "^interesting_vars must be"
        ),
        refused(
            "too few `interesting_vars`",
            lambda: max_ig(dimensions=2, interesting_vars=[1], require_all_vars=True),
            "^interesting_vars must hold at least 2",
        ),
        refused(
            "`contrast_data` of another length", lambda: max_ig(contrast_data=X[:9]), "^contrast_data has 9 samples"
        ),
        refused("few samples for so many dimensions", lambda: max_ig(X[:8], Y[:8], dimensions=4), "^range_: 8 samples"),
        refused(
            "`compute_max_ig_discrete` of measurements",
            lambda: compat.compute_max_ig_discrete(np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2),
            "^data has 900 distinct values",
        ),
        refused(
            "`compute_max_ig_discrete` of NaN",
            lambda: compat.compute_max_ig_discrete(with_value(np.nan), Y),
            "missing values",
        ),
        refused(
            "`compute_max_ig_discrete(dimensions=0)`",
            lambda: compat.compute_max_ig_discrete(CODES, Y, dimensions=0),
            "^dimensions must be",
        ),
        refused(
            "`compute_tuples(dimensions=1)`", lambda: compat.compute_tuples(X, Y, dimensions=1), "^dimensions must be"
        ),
        refused(
            "`compute_tuples(stat_mode=9)`", lambda: compat.compute_tuples(X, Y, stat_mode=9), "^stat_mode must be"
        ),
        refused(
            "`compute_tuples(stat_mode=None)`", lambda: compat.compute_tuples(X, Y, stat_mode=None), "^stat_mode must"
        ),
        refused(
            "`compute_tuples(ig_thr=nan)`", lambda: compat.compute_tuples(X, Y, ig_thr=float("nan")), "^ig_thr must be"
        ),
        refused("`discretize(variable_idx=5)` of 0 … 4", lambda: discretized(variable_idx=5), "^variable_idx must be"),
        refused("`discretize(variable_idx=-1)`", lambda: discretized(variable_idx=-1), "^variable_idx must be"),
        refused(
            "`discretize(discretization_nr=-1)`", lambda: discretized(discretization_nr=-1), "^discretization_nr must"
        ),
        refused(
            "`discretize(discretization_nr=10**12)`",
            lambda: discretized(discretization_nr=10**12),
            "^discretization_nr",
        ),
        refused("`discretize(range_=None)`", lambda: discretized(range_=None), "^range_ must be"),
        refused("`gen_contrast_variables(X, 0)`", lambda: compat.gen_contrast_variables(X, 0), "^n_contrast must be"),
        refused(
            "`gen_contrast_variables(X, 10**12)`", lambda: compat.gen_contrast_variables(X, 10**12), "^n_contrast must"
        ),
        refused("`get_suggested_range(0, 2, 1)`", lambda: compat.get_suggested_range(0, 2, 1), "^n must be"),
        refused("`get_suggested_range(10, 5, 1)`", lambda: compat.get_suggested_range(10, 5, 1), "^range_: 10 samples"),
        refused(
            "`get_suggested_range(100, 2, 1, k=0)`", lambda: compat.get_suggested_range(100, 2, 1, k=0), "^k must be"
        ),
        refused("`fit_p_value` of gains", lambda: fit(50 * V), "^chisq must hold probabilities"),
        refused("`fit_p_value` of NaN", lambda: fit(np.r_[np.nan, V]), "^chisq must hold probabilities"),
        refused("`fit_p_value` of a matrix", lambda: fit(V[None]), "^chisq must be one-dimensional"),
        refused("`fit_p_value` of five", lambda: fit(V[:5], None), "needs at least 6"),
        refused("`fit_p_value` of nothing", lambda: fit([], None), "^chisq|^gains|needs at least"),
        refused("`fit_p_value(search_points=0)`", lambda: fit(search_points=0), "^search_points must be"),
        refused("`fit_p_value(ign_low_ig_vars_num=-1)`", lambda: fit(ign_low_ig_vars_num=-1), "^ign_low_ig_vars_num"),
        refused("`fit_p_value(irr_vars_num=10**9)`", lambda: fit(irr_vars_num=10**9), "irrelevant|irr_vars_num"),
        same(
            "C order, which the older package refuses",
            lambda: max_ig(np.ascontiguousarray(X)),
            "Fortran order",
            lambda: max_ig(np.asfortranarray(X)),
        ),
        same("an outcome of texts", lambda: max_ig(decision=np.where(Y, "b", "a")), "0 and 1", max_ig),
        same(
            "`discretize` of a read-only view",
            lambda: discretized(np.broadcast_to(X, X.shape)),
            "the array",
            discretized,
        ),
    ],
)
