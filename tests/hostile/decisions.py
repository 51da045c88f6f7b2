"""y and strata: decisions and groups."""

import datetime

import numpy as np
import pandas as pd
import polars as pl

import interplay
from hostile.case import Area, refused, same
from hostile.data import FRAME, N_SAMPLES, X, Y, gains, selected

TEXT = np.where(Y, "ill", "well")
GROUPS = np.arange(N_SAMPLES) % 3


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


AREA = Area(
    "Outcomes and strata (`y`, `strata`)",
    [
        refused("`y=None`", lambda: gains(y=None), "^y must hold one value per sample, not None"),
        refused("a number", lambda: gains(y=1), "^y must be one-dimensional"),
        refused("a generator", lambda: gains(y=(v for v in Y)), "^y must be one-dimensional"),
        refused("a dict", lambda: gains(y={"a": 1}), "^y must be one-dimensional"),
        refused("a set", lambda: gains(y={0, 1}), "^y must be one-dimensional"),
        refused("nothing", lambda: gains(y=[]), "^y must have one value per sample"),
        refused("too few", lambda: gains(y=Y[:-1]), "^y must have one value per sample of X: 59 values, 60 samples"),
        refused("too many", lambda: gains(y=np.r_[Y, 0]), "^y must have one value per sample of X: 61 values"),
        refused("a row instead of a column", lambda: gains(y=Y[None]), "^y must be one column, not 60"),
        refused("two columns", lambda: gains(y=np.c_[Y, Y]), "^y must be one column, not 2"),
        refused(
            "one-hot columns, as a dataframe",
            lambda: selected(y=pd.DataFrame({"no": 1 - Y, "yes": Y})),
            "^y has one-hot columns: give the classes in one column",
        ),
        refused(
            "time and event, as a dataframe",
            lambda: selected(y=pd.DataFrame({"time": np.arange(60.0), "event": Y})),
            "^y has the columns 'time' and 'event', which look like a time and its event",
        ),
        refused(
            "several outcomes of which one is constant",
            lambda: selected(y=pd.DataFrame({"a": np.arange(60.0) ** 2, "b": np.ones(60)})),
            "^y has one class only.*trait 'b'",
        ),
        refused(
            "names of which one is no column", lambda: selected(FRAME, ["v0", "ill"]), "^y.* names 'ill', which is"
        ),
        refused("three dimensions", lambda: gains(y=Y[:, None, None]), "^y must be one-dimensional"),
        refused("lists of different lengths", lambda: gains(y=[[1], [1, 2]] * 30), "^y must be one-dimensional"),
        refused("one class", lambda: gains(y=np.zeros(60)), "^y has one class only"),
        refused("a class of one sample", lambda: gains(y=np.r_[Y[:-1], 7]), "^y has a class with fewer than 2 samples"),
        refused("every sample its own text", lambda: gains(y=[str(i) for i in range(60)]), "^y has a class with fewer"),
        refused("NaN", lambda: gains(y=np.r_[Y[:-1], np.nan]), "^y has 1 missing value .the first at sample 59"),
        refused(
            "`None` among texts", lambda: gains(y=[None, *TEXT[1:]]), "^y has 1 missing value .the first at sample 0"
        ),
        refused("`pandas.NA`", lambda: gains(y=pd.array([None, *Y[1:]], dtype="Int64")), "^y has 1 missing value"),
        refused(
            "a masked value", lambda: gains(y=np.ma.array(Y, mask=np.arange(60) == 3)), "^y has 1 missing .*sample 3"
        ),
        refused("all NaN", lambda: gains(y=np.full(60, np.nan)), "^y has 60 missing values"),
        refused("complex numbers", lambda: gains(y=Y + 0j), "^y holds complex numbers"),
        refused("dates", lambda: gains(y=Y.astype("M8[s]")), "^y holds dates or times"),
        refused("Python dates", lambda: gains(y=[datetime.date(2020, 1, 1)] * 60), "^y holds dates or times"),
        refused("a structured array", lambda: gains(y=np.zeros(60, [("a", int)])), "^y holds values of no usable kind"),
        refused("numbers and texts mixed", lambda: gains(y=[1, "a"] * 30), "^y mixes"),
        refused("lists in cells", lambda: gains(y=pd.Series([[1], [2]] * 30)), "^y holds nested values"),
        refused("the name of no column", lambda: gains(FRAME, "ill"), "^y names 'ill', which is not a column of X"),
        refused("a name with a plain array", lambda: gains(X, "v0"), "^y names 'v0', which is not a column of X"),
        refused(
            "a grade of one sample",
            lambda: gains(y=np.r_[np.arange(59) % 4, 4]),
            "^y has a class with fewer than 2 samples.*decision='number' if the values have an order$",
        ),
        refused("labels taken as continuous", lambda: gains(y=TEXT, decision="continuous"), "^decision='continuous'"),
        refused(
            "labels taken as numbers", lambda: gains(y=TEXT, decision="number"), "^decision='number' needs numbers"
        ),
        refused("one number", lambda: gains(y=np.ones(60), decision="number"), "^y has one value only"),
        refused(
            "infinite numbers compared by values",
            lambda: gains(y=np.r_[np.inf, X[1:, 0]], scale="values"),
            "^y has infinite values, which scale='values' cannot average: use scale='ranks'",
        ),
        refused(
            "numbers cut in two, half of them the highest",
            lambda: gains(y=np.minimum(X[:, 0], -0.5), decision_divisions=1),
            "^y has one class only: too many samples share the highest value",
        ),
        same(
            "numbers, half of them the highest",
            lambda: gains(y=np.minimum(X[:, 0], -0.5)),
            "their ranks",
            lambda: gains(y=np.minimum(X[:, 0], -0.5) ** 3),
        ),
        same(
            "an infinite number",
            lambda: gains(y=np.r_[np.inf, X[1:, 0]]),
            "1e300",
            lambda: gains(y=np.r_[1e300, X[1:, 0]]),
        ),
        same(
            "seven counts, the highest once",
            lambda: gains(y=np.r_[np.arange(59) % 6, 20]),
            "numbers",
            lambda: gains(y=np.r_[np.arange(59) % 6, 20], decision="number"),
        ),
        same(
            '`decision="continuous"`',
            lambda: gains(y=X[:, 0], decision="continuous"),
            '`"number"`',
            lambda: gains(y=X[:, 0], decision="number"),
        ),
        same("bool", lambda: gains(y=Y > 0), "0 and 1", gains),
        same("text", lambda: gains(y=TEXT), "0 and 1", lambda: gains(y=1 - Y)),
        same("bytes", lambda: gains(y=TEXT.astype("S")), "text", lambda: gains(y=TEXT)),
        same(
            "texts with line breaks, HTML and control characters",
            lambda: gains(y=np.array(["\n<b>", "\0\x1b["])[Y]),
            "0 and 1",
            gains,
        ),
        same("two numbers far apart", lambda: gains(y=np.where(Y, 1e300, -1e300)), "0 and 1", gains),
        same("two numbers next to each other", lambda: gains(y=np.where(Y, np.nextafter(1, 2), 1.0)), "0 and 1", gains),
        same("infinities", lambda: gains(y=np.where(Y, np.inf, -np.inf)), "0 and 1", gains),
        same(
            "−0.0 and 0.0, and 1", lambda: gains(y=np.where(Y, 1.0, np.where(X[:, 0] > 0, -0.0, 0.0))), "0 and 1", gains
        ),
        same("int64 at both ends of its range", lambda: gains(y=np.where(Y, 2**63 - 1, -(2**63))), "0 and 1", gains),
        same("uint64", lambda: gains(y=np.where(Y, np.uint64(2**64 - 1), np.uint64(0))), "0 and 1", gains),
        same("Python integers beyond 64 bits", lambda: gains(y=[10**30 if v else 0 for v in Y]), "0 and 1", gains),
        same("float16", lambda: gains(y=Y.astype(np.float16)), "0 and 1", gains),
        same("long double", lambda: gains(y=Y.astype(np.longdouble)), "0 and 1", gains),
        same("the other byte order", lambda: gains(y=Y.astype(">i8")), "0 and 1", gains),
        same("negative strides", lambda: gains(y=Y[::-1].copy()[::-1]), "0 and 1", gains),
        same("read-only memory", lambda: gains(y=read_only(Y)), "0 and 1", gains),
        same("a column of shape (60, 1)", lambda: gains(y=Y[:, None]), "shape (60,)", gains),
        same("`np.matrix` of one column", lambda: gains(y=np.asmatrix(Y).T), "shape (60,)", gains),
        same("a masked array with nothing masked", lambda: gains(y=np.ma.array(Y)), "0 and 1", gains),
        same("a pandas Index", lambda: gains(y=pd.Index(Y)), "0 and 1", gains),
        same("a frame of one column", lambda: gains(y=pl.DataFrame({"y": Y})), "the column", gains),
        same(
            "a Categorical with unused levels",
            lambda: gains(y=pd.Categorical(Y, categories=[5, 0, 9, 1])),
            "0 and 1",
            gains,
        ),
        same("`range`", lambda: gains(y=range(60)), "numbers 0 to 59", lambda: gains(y=np.arange(60))),
        # --- Strata
        refused(
            "`strata` of another length", lambda: gains(strata=GROUPS[:-1]), "^strata must have one value per sample"
        ),
        refused(
            "`strata` with NaN", lambda: gains(strata=np.r_[np.nan, GROUPS[1:]]), "^strata has missing values in 1"
        ),
        refused("`strata` that are the outcome", lambda: gains(strata=Y), "^strata determines the classes of y"),
        refused(
            "`strata` that determine a number",
            lambda: gains(y=GROUPS + 0.5, strata=GROUPS),
            "^strata determines y: all samples of a stratum have the same value",
        ),
        refused("`strata` of complex numbers", lambda: gains(strata=GROUPS + 0j), "^strata holds complex numbers"),
        refused(
            "300 strata",
            lambda: gains(np.tile(X, (10, 1)), np.tile(Y, 10), strata=np.arange(600) % 300),
            "^strata has 300 different values",
        ),
        refused("`strata` naming an unknown column", lambda: gains(FRAME, strata="batch"), "^strata names 'batch'"),
        refused("`strata` as a dict", lambda: gains(strata={"a": 1}), "^strata must be one-dimensional"),
        refused("`strata` of three dimensions", lambda: gains(strata=np.zeros((60, 1, 1))), "^strata must be one-dim"),
        refused("`strata` as rows of different lengths", lambda: gains(strata=[[1, 2], [1]] * 30), "^strata"),
        refused("y and strata are all columns", lambda: gains(FRAME[["v0", "v1"]], "v0", strata="v1"), "^X has no var"),
        same("one stratum", lambda: gains(strata=np.zeros(60)), "no strata", gains),
        same("strata as texts", lambda: gains(strata=GROUPS.astype(str)), "numbers", lambda: gains(strata=GROUPS)),
        same(
            "strata as two columns that say the same",
            lambda: gains(strata=np.c_[GROUPS, 7 - GROUPS]),
            "one of them",
            lambda: gains(strata=GROUPS),
        ),
        same(
            "strata as a read-only view of the other byte order",
            lambda: gains(strata=read_only(GROUPS.astype(">i2"))),
            "the plain array",
            lambda: gains(strata=GROUPS),
        ),
        refused(
            "`select`: `strata` that are the outcome", lambda: selected(strata=Y), "^strata determines the classes"
        ),
        refused(
            "`contrast_variables`: `strata` of another length",
            lambda: interplay.contrast_variables(X, 3, strata=GROUPS[:5]),
            "^strata must have one value per sample",
        ),
    ],
)
