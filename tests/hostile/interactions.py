"""interactions(), and what users hold after it."""

import numpy as np
import pandas as pd

import interplay
from hostile.case import Area, each_refused, refused, same
from hostile.data import CODES, FRAME, X, Y, selected, with_value


def found(table=X, y=Y, **settings):
    return interplay.interactions(table, y, **{"max_p": 1} | settings)


DONORS = np.arange(60) // 6
LOCO = pd.DataFrame({"1": np.zeros(60), "2": np.ones(60)})
TIMES = (np.linspace(1, 9, 60), np.ones(60))


def grouped(table=X, y=DONORS % 2, **settings):
    return found(table, y, **{"groups": DONORS, "max_p": None, "top": None, "n_permutations": 40} | settings)


def table_of(table=X, y=Y, **settings):
    return found(table, y, **settings).table


def near(distance, positions):
    return found(min_distance=distance, positions=positions)


def columns_alone(frame):
    """What does not speak of names."""
    return frame.drop(columns=["members", "cell"])


AREA = Area(
    "`interactions`",
    [
        refused("`X=None`", lambda: found(None), "X"),
        refused("one variable", lambda: found(X[:, :1]), "dimensions=2 needs at least 2 variables"),
        refused("NaN with `missing='error'`", lambda: found(with_value(np.nan), missing="error"), "X has 1 missing"),
        refused("`y` of one class", lambda: found(X, np.zeros(60)), "y has one class only"),
        refused("`y` of another length", lambda: found(X, Y[:-1]), "y must have one value per sample"),
        refused("`dimensions=1`", lambda: found(dimensions=1), "dimensions must be a whole number of at least 2"),
        refused("`dimensions=2.0`", lambda: found(dimensions=2.0), "dimensions must be a whole number"),
        refused("`dimensions=9`", lambda: found(dimensions=9), "dimensions=9 needs at least 9 variables"),
        *each_refused(found, divisions=[0], discretizations=[0], engine=[7]),
        *each_refused(found, "must be a number in", max_p=[0, float("nan"), "all"], level=[1], holdout=[1.5]),
        refused("`top=0`", lambda: found(top=0), "top must be a whole number of at least 1"),
        refused("`top=10**12`", lambda: found(top=10**12), "top must be at most"),
        refused("`p_adjust='hommel'`", lambda: found(p_adjust="hommel"), "needs the p-values of all tuples"),
        refused("`p_adjust` of a column", lambda: found(p_adjust=pd.Series(Y)), "^p_adjust must be one of 'holm', "),
        refused("`only_significant` of a column", lambda: found().rules(only_significant=pd.Series(Y)), "^only_signi"),
        refused("`only_leads` of a column", lambda: found().graph(only_leads=pd.Series(Y)), "^only_leads must be True"),
        refused("`combine` of a table", lambda: interplay.combine(FRAME), "^results must be a list of results"),
        refused("`covariates={}`", lambda: found().replicate(X, Y, covariates={}), "^covariates has no columns: name"),
        refused("`p_adjust=None`", lambda: found(p_adjust=None), "p_adjust must be one of"),
        refused("`coding='additive'`", lambda: found(X, X[:, 0], coding="additive"), "coding must be one of"),
        refused("`coding=None`", lambda: found(X, X[:, 0], coding=None), "coding must be one of"),
        refused("`coding='dosage'` and classes", lambda: found(coding="dosage"), "coding='dosage' is for an"),
        refused(
            "`coding='dosage'` and labels",
            lambda: found(FRAME.assign(word=np.resize(["a", "b", "c"], 60)), X[:, 0], coding="dosage"),
            "coding='dosage' needs numbers, and 'word' has labels",
        ),
        refused(
            "`coding='dosage'`, missing values as a level",
            lambda: found(with_value(np.nan), X[:, 0], coding="dosage", missing="level"),
            "has no number for missing values",
        ),
        refused(
            "`coding='product'`, groups",
            lambda: found(coding="product", groups=np.arange(60) // 3),
            "coding='product' does not go with groups",
        ),
        same(
            "a number outcome in another unit",
            lambda: table_of(X, X[:, 0] ** 3)[["f", "p_value"]],
            "the outcome in its first unit",
            lambda: table_of(X, 1000 * X[:, 0] ** 3 + 7)[["f", "p_value"]],
        ),
        refused("`missing='drop'`", lambda: found(missing="drop"), "missing must be one of"),
        refused("`variables='v1'`", lambda: found(FRAME, variables="v1"), "variables must be a list"),
        refused("`variables` that there are not", lambda: found(variables=[7]), "variables"),
        refused("`partners` without `variables`", lambda: found(partners=[1]), "give variables too"),
        refused("`partners` of a variable with itself", lambda: found(variables=[1], partners=[1]), "no tuple of 2"),
        refused("`min_distance` without positions", lambda: found(min_distance=3), "positions of the variables"),
        refused("`min_distance=0`", lambda: near(0, range(5)), "min_distance must be a number in"),
        refused("`min_distance` beyond all", lambda: near(99, range(5)), "there is no tuple"),
        refused("`positions` of another length", lambda: near(3, range(4)), "positions must be one number"),
        refused("`positions={}`", lambda: near(3, {}), "^positions has no entries: give one number"),
        refused("`positions='here'`", lambda: near(3, "here"), "positions must be one number"),
        refused("`positions` of texts", lambda: near(3, list("abcde")), "positions must be one number"),
        refused("`positions` with NaN", lambda: near(3, [1, 5, np.nan, 9, 13]), "no position for variable 'x2'"),
        refused("`positions` with None", lambda: near(3, [1, 5, None, 9, 13]), "no position for variable 'x2'"),
        refused("an infinite position", lambda: near(3, [1, 5, 9, np.inf, 13]), "no position for variable 'x3'"),
        refused("`positions` of no chromosome", lambda: near(3, [(None, n) for n in range(5)]), "no chromosome for"),
        refused("`positions` in a table of other columns", lambda: near(3, FRAME), "columns variable and position"),
        refused("`holdout=60` of 60", lambda: found(holdout=60), "holdout must be a whole number"),
        refused("`holdout` of too few", lambda: found(holdout=2), "leaves fewer than 2 samples"),
        refused("`groups` of another length", lambda: grouped(groups=DONORS[:-1]), "^groups must have one value per"),
        refused("`groups` with NaN", lambda: grouped(groups=np.r_[np.nan, DONORS[1:]]), "^groups has missing values"),
        refused("one group", lambda: grouped(groups=np.zeros(60)), "^groups has one group only"),
        refused(
            "`groups` naming an unknown column", lambda: grouped(table=FRAME, groups="donor"), "^groups names 'donor'"
        ),
        refused(
            "three against three donors",
            lambda: grouped(y=np.arange(60) // 10 % 2, groups=np.arange(60) // 10),
            "^groups: 3 against 3 groups",
        ),
        refused("`n_permutations=0`", lambda: grouped(n_permutations=0), "^n_permutations"),
        refused("`n_permutations='many'` without groups", lambda: found(n_permutations="many"), "^n_permutations"),
        refused("`n_permutations=10`", lambda: grouped(n_permutations=10), "^n_permutations=10 gives no p-value below"),
        refused("groups and `max_p`", lambda: grouped(max_p=1), "^max_p=1 does not go with groups"),
        refused("groups and `holdout`", lambda: grouped(holdout=0.5), "^holdout=0.5 does not go with groups"),
        refused("groups and `shard`", lambda: grouped(shard="1/2"), "^shard='1/2' does not go with groups"),
        refused("groups and `checkpoint`", lambda: grouped(checkpoint="a.ckpt"), "^checkpoint='a.ckpt' does not go"),
        refused("groups and a false discovery rate", lambda: grouped(p_adjust="BH"), "^p_adjust='BH' does not go"),
        refused("groups and `top=20000`", lambda: grouped(top=20_000), "^top must be at most 10000 with groups"),
        same("groups as texts", lambda: grouped(groups=DONORS.astype(str)).table, "numbers", lambda: grouped().table),
        refused("`covariates` of another length", lambda: found(covariates=[1, 2]), "^covariates must have one value"),
        refused(
            "`covariates` of an unknown column", lambda: found(FRAME, covariates=["age"]), "^covariates names 'age'"
        ),
        refused("a constant covariate", lambda: found(covariates=np.ones(60)), "has one value"),
        refused("a covariate that is the outcome", lambda: found(covariates=Y), "^covariates determine y"),
        refused("`offset` of another length", lambda: found(offset=[1, 2]), "^offset must have one value per sample"),
        refused("`offset` and three classes", lambda: found(y=np.arange(60) % 3, offset=X[:, 0]), "^offset is one"),
        refused("`offset` by chromosome, no positions", lambda: found(offset=LOCO), "^positions of the variables"),
        refused("`offset` by chromosome and `holdout`", lambda: found(offset=LOCO, holdout=9), "^holdout does not go"),
        refused("`entry` without times", lambda: found(entry=np.zeros(60)), "^entry is for times"),
        refused("times and `holdout` of too few", lambda: found(y=TIMES, holdout=3), "leaves . events to test in"),
        refused(
            "`replicate` of times without times", lambda: found(y=TIMES).replicate(X, Y), "^y must be \\(time, event\\)"
        ),
        refused("`pseudocount`", lambda: found(pseudocount=1), "pseudocount"),
        refused("`plot.why(0)` of no tuples", lambda: found(max_p=1e-99).plot.why(0), "^the result lists no tuples"),
        refused("`counts_of(99)`", lambda: found().counts_of(99), "row must be a whole number from 0 to 9"),
        refused(
            "`replicate` without a variable", lambda: found(FRAME).replicate(FRAME[["v0"]], Y), "lacks the variable"
        ),
        refused("`replicate` of another class", lambda: found().replicate(X, Y + 1), "y has the class '2'"),
        refused("`replicate` of a replication", lambda: found(holdout=20).replicate(X, Y), "is a replication already"),
        refused(
            "`Selection.interactions` in 1D", lambda: selected(dimensions=1).interactions(), "dimensions=2 or more"
        ),
        same("a list of lists", lambda: table_of(X.tolist(), Y.tolist()), "arrays", table_of),
        same("a frame", lambda: columns_alone(table_of(FRAME)), "the array", lambda: columns_alone(table_of())),
        same(
            "whole numbers as text",
            lambda: table_of(CODES.astype(str), Y),
            "the numbers",
            lambda: table_of(CODES, Y, coding="levels"),
        ),
        same("`missing='omit'` with nothing missing", lambda: table_of(missing="omit"), "no argument", table_of),
        same(
            "an empty column",
            lambda: columns_alone(table_of(FRAME.assign(v4=np.nan), missing="omit").query("p_value < 1")),
            "a constant one",
            lambda: columns_alone(table_of(FRAME.assign(v4=1.0)).query("p_value < 1")),
        ),
    ],
)
