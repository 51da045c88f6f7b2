"""Null fits and p-values."""

import numpy as np

import interplay
from hostile.case import Area, each_refused, refused, same
from interplay.infer.p_values import adjust

_rng = np.random.default_rng(0)
GAINS = _rng.chisquare(2, size=(40, 20)).max(axis=1)
CONTRAST = _rng.chisquare(2, size=(50, 20)).max(axis=1)


def p_values(gains=GAINS, **settings):
    return interplay.fit_null(gains, **{"dimensions": 2, "contrast_gain": CONTRAST} | settings).p_values()


def holding(value):
    return np.r_[value, GAINS[1:]]


AREA = Area(
    "Null fits (`fit_null`)",
    [
        refused("no gains", lambda: p_values([]), "^gains must hold at least one"),
        refused("gains of two dimensions", lambda: p_values(GAINS[None]), "^gains must be one-dimensional"),
        refused("one number", lambda: p_values(3.0), "^gains must be one-dimensional"),
        refused("`None`", lambda: p_values(None), "^gains must be"),
        refused("texts", lambda: p_values(["a", "b"]), "^gains must be a one-dimensional array of numbers"),
        refused("complex gains", lambda: p_values(GAINS + 1j), "^gains must be a one-dimensional array of numbers"),
        refused("dates", lambda: p_values(GAINS.astype("M8[s]")), "^gains must be a one-dimensional array of numbers"),
        refused("a generator", lambda: p_values(g for g in GAINS), "^gains must be"),
        refused("lists of different lengths", lambda: p_values([[1.0], [1.0, 2.0]]), "^gains must be"),
        refused("an infinite gain", lambda: p_values(holding(np.inf)), "^gains holds an infinite gain at position 0"),
        refused("infinite contrast", lambda: p_values(contrast_gain=[np.inf] * 30), "^contrast_gain holds an infinite"),
        refused("contrast of two dimensions", lambda: p_values(contrast_gain=CONTRAST[None]), "^contrast_gain must be"),
        refused("`contrast_df` as text", lambda: p_values(contrast_df="two"), "^contrast_df must be"),
        *each_refused(
            p_values, dimensions=[0, 65], divisions=[0], n_classes=[1, 10**400], free_shape=["yes"], n_vars=[0]
        ),
        refused("`divisions=10**9` in 64D", lambda: p_values(dimensions=64, divisions=10**9), "^divisions must be"),
        *each_refused(p_values, "must be positive", df=[0, np.nan, np.inf]),
        refused("`df` of another length", lambda: p_values(df=[1.0, 2.0]), "^df must be one number or one per gain"),
        refused("negative `df`", lambda: p_values(df=-np.ones(40), contrast_df=2), "^df must be finite and not neg"),
        refused("`df` as text", lambda: p_values(df="many"), "^df must be a number"),
        refused("`df` by variable, without `contrast_df`", lambda: p_values(df=1 + np.arange(40)), "^contrast_df must"),
        *each_refused(p_values, "must be one of", unit=["bytes"], mode=["quick"], fit=["best"], auto_fit=["lsq"]),
        refused("`mode` and `fit` that do not go together", lambda: p_values(mode="raw", fit="weibull"), "^mode='raw'"),
        refused("`search_points=2`", lambda: p_values(fit="lsq", search_points=2), "^search_points must be"),
        refused("`n_irrelevant=-1`", lambda: p_values(fit="lsq", n_irrelevant=-1), "^n_irrelevant must be"),
        refused("`n_irrelevant` of more than there are", lambda: p_values(fit="lsq", n_irrelevant=99), "^n_irrelevant"),
        refused("`n_ignored` of all", lambda: p_values(fit="lsq", n_ignored=50), "^n_ignored must be"),
        refused("`min_irrelevant=0.5`", lambda: p_values(fit="lsq", min_irrelevant=0.5), "^min_irrelevant must be"),
        refused("`max_ignored=10**9`", lambda: p_values(fit="lsq", max_ignored=10**9), "^max_ignored must be"),
        refused(
            "`n_vars` below `dimensions`", lambda: p_values([1.0], fit="union", n_vars=1), "^n_vars must be at least"
        ),
        refused(
            "a fit to five", lambda: p_values(GAINS[:5], fit="lsq", contrast_gain=None), "^fit='lsq' needs at least 6"
        ),
        refused("a fit to NaN alone", lambda: p_values(fit="mle", contrast_gain=[np.nan] * 40), "^fit='mle' needs"),
        same(
            "NaN and −∞ among the gains",
            lambda: p_values(np.r_[np.nan, -np.inf, GAINS[2:]])[2:],
            "the others alone",
            lambda: p_values(GAINS[2:], n_vars=40),
        ),
        same("negative gains", lambda: p_values(holding(-5.0))[0], "no gain: p = 1", lambda: p_values(holding(0.0))[0]),
        same("a gain of 1e300", lambda: p_values(holding(1e300))[0], "no probability left", lambda: 0.0),
        same("gains as a list of numpy numbers", lambda: p_values(list(GAINS)), "the array", p_values),
        same(
            "gains as a masked array with nothing masked", lambda: p_values(np.ma.array(GAINS)), "the array", p_values
        ),
        same(
            "gains of the other byte order, backwards",
            lambda: p_values(GAINS[::-1].astype(">f8")[::-1]),
            "the array",
            p_values,
        ),
        same(
            "gains as Python integers", lambda: p_values(list(range(40))), "floats", lambda: p_values(np.arange(40.0))
        ),
        same(
            'all gains the same, "auto"',
            lambda: p_values(np.ones(40), contrast_gain=np.ones(50)),
            "the union bound",
            lambda: p_values(np.ones(40), fit="union"),
        ),
        # --- Methods and adjustment
        refused("`p_values` of infinity", lambda: null().p_values([np.inf]), "^gains holds an infinite gain"),
        refused("`p_values` of text", lambda: null().p_values(["a"]), "^gains must be"),
        refused("`p_values` with `df` of another length", lambda: null().p_values([1.0], df=[1, 2]), "^df must be"),
        refused("`adjust` of 2", lambda: adjust([2.0]), "^p_values must lie between 0 and 1"),
        refused("`adjust` of −0.1", lambda: adjust([-0.1]), "^p_values must lie between 0 and 1"),
        refused("`adjust` of a matrix", lambda: adjust([[0.1]]), "^p_values must be one-dimensional"),
        refused("`adjust` of texts", lambda: adjust(["a"]), "^p_values must be"),
        refused("`adjust` by an unknown method", lambda: adjust([0.1], "tukey"), "^p_adjust must be one of"),
        same("`adjust` of nothing", lambda: adjust([]), "nothing", lambda: np.empty(0)),
        same("`adjust` of NaN alone", lambda: adjust([np.nan], "BY"), "NaN", lambda: np.array([np.nan])),
    ],
)


def null():
    return interplay.fit_null(GAINS, dimensions=2, contrast_gain=CONTRAST)
