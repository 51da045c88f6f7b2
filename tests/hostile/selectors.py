"""MDFSSelector: scikit-learn's rules on top of ours."""

import numpy as np
import pandas as pd

from hostile.case import Area, refused, same
from hostile.data import FRAME, X, Y, with_value
from interplay import InteractionFeatures, MDFSSelector, interactions


def fitted(table=X, y=Y, **settings):
    return MDFSSelector(**{"dimensions": 2, "n_contrast": 30, "random_state": 0} | settings).fit(table, y)


def features(table=X, y=Y, *, encoding="cells", **given):
    return InteractionFeatures(encoding=encoding, min_tuples=1).fit(table, y, **given).transform(table)


def with_setting(**settings):
    return InteractionFeatures(**settings).fit(X, Y)


def p_values(*given, **settings):
    return fitted(*given, **settings).p_values_


AREA = Area(
    "`MDFSSelector` and `InteractionFeatures`",
    [
        refused("`X=None`", lambda: fitted(None), "Expected 2D array", theirs="2D array"),
        refused("no `y`", lambda: MDFSSelector(dimensions=2).fit(X), "requires y"),
        refused("`X` of one dimension", lambda: fitted(X[:, 0]), "Expected 2D array", theirs="2D array"),
        refused("no rows", lambda: fitted(X[:0], Y[:0]), "minimum of 1 is required|no samples"),
        refused("complex numbers", lambda: fitted(X + 1j), "Complex data not supported", theirs="supported"),
        refused("NaN with `missing='error'`", lambda: fitted(with_value(np.nan), missing="error"), "^X contains NaN"),
        refused("infinity", lambda: fitted(with_value(np.inf)), "infinity"),
        refused("infinity in a frame", lambda: fitted(FRAME.mask(FRAME > 2, np.inf)), "of X holds infinity"),
        refused("`y` of another length", lambda: fitted(X, Y[:-1]), "y must have one value per sample|inconsistent"),
        refused("`y` with NaN", lambda: fitted(X, np.r_[np.nan, Y[1:]]), "y has 1 missing value"),
        refused("one class", lambda: fitted(X, np.zeros(60)), "y has one class only"),
        refused("`dimensions=0`", lambda: fitted(dimensions=0), "'dimensions' parameter", theirs="must be "),
        refused("`dimensions=9`", lambda: fitted(dimensions=9), "^dimensions=9 needs"),
        refused("`divisions=1.0`", lambda: fitted(divisions=1.0), "'divisions' parameter", theirs="must be "),
        refused("`range_=nan`", lambda: fitted(range_=float("nan")), "range_"),
        refused("`pseudocount=nan`", lambda: fitted(pseudocount=float("nan")), "pseudocount"),
        refused("`pseudocount=-1`", lambda: fitted(pseudocount=-1), "'pseudocount' parameter", theirs="must be "),
        refused("`level=2`", lambda: fitted(level=2), "'level' parameter", theirs="must be "),
        refused("`null_fit=None`", lambda: fitted(null_fit=None), "'null_fit' parameter", theirs="must be "),
        refused("`n_contrast=3`", lambda: fitted(n_contrast=3), "^n_contrast must be 0 or at least"),
        refused("`n_contrast=10**12`", lambda: fitted(n_contrast=10**12), "^n_contrast must be"),
        refused("`random_state=-1`", lambda: fitted(random_state=-1), "random_state"),
        refused("`engine=7`", lambda: fitted(engine=7), "'engine' parameter", theirs="must be "),
        refused("`discrete=7`", lambda: fitted(discrete=7), "'discrete' parameter", theirs="must be "),
        refused("`min_features=-1`", lambda: fitted(min_features=-1), "'min_features' parameter", theirs="must be "),
        refused("`min_features=9`", lambda: fitted(min_features=9), "^min_features=9 needs as many"),
        refused(
            "`min_features` above `max_features`",
            lambda: fitted(min_features=3, max_features=2),
            "^min_features=3 must not be larger",
        ),
        refused("`redundancy=0`", lambda: fitted(redundancy=0), "'redundancy' parameter", theirs="must be "),
        refused("`short_list=2`", lambda: fitted(short_list=2), "'short_list' parameter", theirs="must be "),
        refused("`max_features=0`", lambda: fitted(max_features=0), "'max_features' parameter", theirs="must be "),
        refused(
            "`sample_weight`",
            lambda: MDFSSelector(dimensions=2).fit(X, Y, sample_weight=Y),
            "^sample_weight is not supported",
        ),
        refused(
            "a fit parameter that does not exist", lambda: MDFSSelector(dimensions=2).fit(X, Y, weights=Y), "'weights'"
        ),
        refused(
            "`strata` as a name",
            lambda: MDFSSelector(dimensions=2).fit(FRAME, Y, strata="v0"),
            "^strata must hold one value",
        ),
        refused("`transform` before `fit`", lambda: MDFSSelector(dimensions=2).transform(X), "not fitted"),
        refused("`transform` of other columns", lambda: fitted().transform(X[:, :3]), "3 features"),
        refused(
            "`transform` of other names",
            lambda: fitted(FRAME).transform(FRAME.rename(columns={"v0": "w"})),
            "feature names",
            theirs="feature names",
        ),
        same(
            "read-only Fortran memory of the other byte order",
            lambda: p_values(np.asfortranarray(X).astype(">f8")),
            "the plain array",
            p_values,
        ),
        same("a list of lists", lambda: p_values(X.tolist(), Y.tolist()), "arrays", p_values),
        same("a pandas frame", lambda: p_values(FRAME, pd.Series(Y)), "the plain array", p_values),
        same(
            "numpy numbers as settings",
            lambda: p_values(dimensions=np.int64(2), level=np.float32(0.05)),
            "Python's",
            p_values,
        ),
        refused("`InteractionFeatures` without `y`", lambda: InteractionFeatures().fit(X), "requires y"),
        refused(
            "`InteractionFeatures` of NaN",
            lambda: with_setting(missing="error").fit(with_value(np.nan), Y),
            "^X contains NaN",
        ),
        refused(
            "`InteractionFeatures(dimensions=1)`",
            lambda: with_setting(dimensions=1),
            "'dimensions' parameter",
            theirs="must be ",
        ),
        refused("`InteractionFeatures(dimensions=9)`", lambda: with_setting(dimensions=9), "^dimensions=9 needs"),
        refused("`encoding=[]`", lambda: features(encoding=[]), "^encoding must name one or more"),
        refused('`encoding=["sums"]`', lambda: features(encoding=["sums"]), "^encoding must be one of"),
        refused('`encoding="sums"`', lambda: features(encoding="sums"), "'encoding' parameter", theirs="must be "),
        refused('`search="gains"`', lambda: with_setting(search="gains"), "'search' parameter", theirs="must be "),
        refused("`cv=1`", lambda: with_setting(cv=1), "'cv' parameter", theirs="must be "),
        refused("`min_tuples=-1`", lambda: with_setting(min_tuples=-1), "'min_tuples' parameter", theirs="must be "),
        refused("`max_tuples=0`", lambda: with_setting(max_tuples=0), "'max_tuples' parameter", theirs="must be "),
        refused(
            "`covariates` by name", lambda: features(covariates="age"), "^covariates must hold one value per sample"
        ),
        refused(
            "`sample_weight` of features", lambda: features(sample_weight=np.ones(60)), "^sample_weight is not supp"
        ),
        refused('`terms("r")`', lambda: interactions(X, Y).terms("r"), "^form must be one of"),
        refused('`rules("r")`', lambda: interactions(X, Y).rules("r"), "^form must be one of"),
        refused("`rules(row=9)`", lambda: interactions(X, Y, top=2).rules(row=9), "^row must be"),
        same("a list of one encoding", lambda: features(encoding=["cells"]), "the encoding", features),
    ],
)
