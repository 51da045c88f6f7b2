"""clumps() and tagging(): is a find one signal, and is it real?"""

import numpy as np

import interplay
from hostile.case import Area, refused, same
from hostile.data import FRAME, X, Y, selected
from hostile.interactions import DONORS, found, grouped


def clumps(*arguments, **named):
    return found().clumps(*arguments, **named)


def tagging(table=X, y=Y, **named):
    return found(level=0.9, p_adjust="none").tagging(table, y, **named)


def parts():
    return interplay.merge_interactions([found(shard=(i, 2)) for i in (1, 2)])


def of_times():
    return found(X, (np.arange(60) + 1.0, Y == 1), level=0.9, p_adjust="none")


AREA = Area(
    "`clumps` and `tagging`",
    [
        refused("`r2=0`", lambda: clumps(0), "r2 must be a number in"),
        refused("`r2=0.01`", lambda: clumps(0.01), "r2=0.01 is too small"),
        refused("`r2=2`", lambda: clumps(2), "r2 must be a number in"),
        refused("`r2='0.2'`", lambda: clumps("0.2"), "r2 must be a number in"),
        refused("`with_clumps(0)`", lambda: found().with_clumps(0), "r2 must be a number in"),
        refused("`clumps` of merged parts", lambda: parts().clumps(), "^X is needed"),
        refused("`clumps` with another X", lambda: found(FRAME).clumps(X=FRAME[["v0"]]), "X lacks the variable"),
        refused("`clumps` with `positions='here'`", lambda: clumps(positions="here"), "positions must be one number"),
        refused("`Selection.clumps(0)`", lambda: selected().clumps(0), "r2 must be a number in"),
        refused("`tagging` without a variable", lambda: tagging(X[:, :2]), "X lacks the variable"),
        refused("`tagging` with `y` of another length", lambda: tagging(X, Y[:-1]), "y must have one value per sample"),
        refused("`tagging` of another class", lambda: tagging(X, Y + 1), "y has the class '2'"),
        refused("`window` without positions", lambda: tagging(window=5), "^window needs the positions"),
        refused("`window=0`", lambda: tagging(window=0, positions=range(5)), "window must be a number in"),
        refused("`window='1 Mb'`", lambda: tagging(window="1 Mb", positions=range(5)), "window must be a number in"),
        refused("`tagging` with short positions", lambda: tagging(positions=range(4)), "positions must be one number"),
        refused("`dense` of other samples", lambda: tagging(dense=X[1:]), "^dense has 59 samples and X has 60"),
        refused("`dense` that is no file", lambda: tagging(dense="nowhere.bed"), "nowhere.bed"),
        refused("`dense` without positions", lambda: tagging(positions=range(5), dense=X), "^dense has no positions"),
        refused("`max_neighbours=0`", lambda: tagging(max_neighbours=0), "max_neighbours must be"),
        refused("`tagging` with groups", lambda: grouped(top=3).tagging(X, DONORS % 2), "not available for a result"),
        refused("`tagging` of times", lambda: tagging(X, (np.arange(60) + 1, Y == 1)), "^y is times"),
        refused("`tagging` of times without them", lambda: of_times().tagging(X, Y), "^y must be times"),
        refused("`tagging` with `entry` and classes", lambda: tagging(entry=np.zeros(60)), "^entry is for times"),
        refused("a short offset", lambda: tagging(offset=np.zeros(59)), "offset must have one value per sample"),
        refused("a constant covariate", lambda: tagging(covariates=np.ones(60)), "has one value"),
        same("`clumps` with X", lambda: clumps(X=X), "without", clumps),
        same("`tagging` in four threads", lambda: tagging(n_jobs=4), "in one", tagging),
    ],
)
