"""Groups, permutations, covariates, censored times: what is known of a study beside the table and the outcome."""

import numpy as np
import pandas as pd

from hostile import data
from hostile.case import Area, refused, same
from hostile.data import FRAME, X, Y

DONORS = np.arange(60) // 6
LABELS = DONORS % 2
TIME = np.linspace(1, 9, 60)


#: Ill donors have samples in both strata, each of the others in one.
OF_ONE = np.where(LABELS, np.arange(60) % 2, DONORS // 2 % 2)


def selected(*table, **settings):
    return data.selected(*table, **{"n_contrast": "auto"} | settings)


def grouped(**settings):
    return selected(**{"y": LABELS, "groups": DONORS, "dimensions": 1, "n_permutations": 40} | settings)


def adjusted(covariates):
    return selected(dimensions=1, covariates=covariates)


def offset(values):
    return selected(dimensions=1, offset=values)


def timed(time, event, **settings):
    return selected(y=(time, event), dimensions=1, **settings)


AREA = Area(
    "Groups, covariates and times (`groups`, `permutations`, `covariates`, `offset`, `entry`)",
    [
        refused("`groups` of another length", lambda: grouped(groups=DONORS[:-1]), "^groups must have one value per"),
        refused("`groups` with NaN", lambda: grouped(groups=np.r_[np.nan, DONORS[1:]]), "^groups has missing values"),
        refused("one group", lambda: grouped(groups=np.zeros(60)), "^groups has one group only"),
        refused("`groups` naming an unknown column", lambda: selected(FRAME, groups="donor"), "^groups names 'donor'"),
        refused("`groups` as a dict", lambda: grouped(groups={"a": 1}), "^groups must be one-dimensional"),
        refused(
            "three against three donors",
            lambda: selected(y=np.arange(60) // 10 % 2, groups=np.arange(60) // 10),
            "^groups: 3 against 3 groups",
        ),
        refused(
            "strata that leave no groups to exchange",
            lambda: grouped(strata=OF_ONE),
            "^groups: no two groups with samples in the same strata",
        ),
        refused("`order` of another length", lambda: grouped(order=TIME[1:]), "^order must have one value per"),
        refused("`order` with NaN", lambda: grouped(order=np.r_[np.nan, TIME[1:]]), "^order has missing values"),
        refused("`order` naming an unknown column", lambda: selected(FRAME, order="visit"), "^order names 'visit'"),
        refused(
            "`order` of one series, the ill last",
            lambda: selected(y=np.arange(60) // 30, order=TIME, dimensions=1),
            "^order: the samples of one series, which have an order, can be relabelled in 2 ways",
        ),
        same(
            "`order` as texts",
            lambda: grouped(y=Y, order=[f"{time:.3f}" for time in TIME]),
            "numbers",
            lambda: grouped(y=Y, order=TIME),
        ),
        refused("`permutations=99`", lambda: selected(permutations=99), "^permutations must be True, False or None"),
        refused("`n_permutations=0`", lambda: grouped(n_permutations=0), "^n_permutations"),
        refused("`n_permutations=1e9`", lambda: grouped(n_permutations=1e9), "^n_permutations"),
        refused("`n_permutations=10`", lambda: grouped(n_permutations=10), "^n_permutations=10 gives no p-value below"),
        refused("permutations and contrast variables", lambda: grouped(n_contrast=50), "^n_contrast=50 does not go"),
        refused("`permutations` of a column", lambda: grouped(permutations=pd.Series(Y)), "^permutations must be True"),
        refused("permutations and a false discovery rate", lambda: grouped(p_adjust="BH"), "^p_adjust='BH' does"),
        refused("groups without permutations in 1D", lambda: grouped(permutations=False), "^permutations=False"),
        same("groups as texts", lambda: grouped(groups=DONORS.astype(str)), "numbers", grouped),
        same(
            "every sample a group",
            lambda: selected(dimensions=1, groups=np.arange(60)),
            "permutations without groups",
            lambda: selected(dimensions=1, permutations=True),
        ),
        refused("`covariates` of another length", lambda: adjusted(np.arange(5)), "^covariates must have one value"),
        refused("`covariates` with NaN", lambda: adjusted(np.r_[np.nan, TIME[1:]]), "^covariates: column"),
        refused("a constant covariate", lambda: adjusted(np.ones(60)), "^covariates: column 'covariate' has one value"),
        refused(
            "covariates for each sample",
            lambda: adjusted([f"s{i}" for i in range(60)]),
            "^covariates give a model with 59 columns",
        ),
        refused("`covariates` of an unknown column", lambda: selected(FRAME, covariates=["age"]), "^covariates names"),
        refused("dates as covariates", lambda: adjusted(pd.Series(pd.date_range("2020", periods=60))), "dates"),
        refused("a covariate that is the outcome", lambda: adjusted(Y), "^covariates determine y"),
        refused("`offset` of another length", lambda: offset(np.zeros(5)), "^offset must have one value per sample"),
        refused("`offset` with NaN", lambda: offset(np.r_[np.nan, TIME[1:]]), "^offset has missing or infinite values"),
        refused("texts as `offset`", lambda: offset(["a"] * 60), "^offset must be numbers"),
        refused("`offset` naming an unknown column", lambda: selected(FRAME, offset="loco"), "^offset names 'loco'"),
        refused(
            "`offset` and three classes", lambda: selected(y=np.arange(60) % 3, offset=TIME), "^offset is one number"
        ),
        refused("`entry` without times", lambda: selected(entry=TIME), "^entry is for times"),
        refused("`entry` after the time", lambda: timed(TIME, Y, entry=TIME + 1), "^entry must be before y's time"),
        refused("`entry` with NaN", lambda: timed(TIME, Y, entry=np.r_[np.nan, TIME[1:]]), "^entry has 1 missing"),
        refused("times of another length", lambda: timed(TIME[:-1], Y), "^y's time must have one value per sample"),
        refused("negative times", lambda: timed(-TIME, Y), "^y's time must be finite and not negative"),
        refused("NaN among the times", lambda: timed(np.r_[np.nan, TIME[1:]], Y), "^y's time has 1 missing value"),
        refused("texts as times", lambda: timed(TIME.astype(str), Y), "^y's time must be numbers"),
        refused("events that are not flags", lambda: timed(TIME, np.arange(60)), "^y's event must be True"),
        refused("events coded 1 and 2", lambda: timed(TIME, Y + 1), r"if 2 is the event, give y=\(time, event == 2\)"),
        refused("events as texts", lambda: timed(TIME, np.where(Y, "dead", "alive")), "if 'dead' is the event, give"),
        refused(
            "a value that the event's column does not have",
            lambda: selected(FRAME.assign(days=TIME, status=Y), ("days", "status=2"), dimensions=1),
            r"^y's event is '2', which column 'status' does not have; its values are 0 \(\d+×\) and 1",
        ),
        refused("time and event the other way round", lambda: timed(Y, TIME), "^y's event must be True"),
        refused("no events", lambda: timed(TIME, np.zeros(60)), "^y has 0 events"),
        refused("three arrays", lambda: selected(y=(TIME, Y, Y), dimensions=1), "^y"),
        refused("times taken as classes", lambda: selected(X, (TIME, Y), decision="classes"), "^decision='classes'"),
    ],
)  # fmt: skip
