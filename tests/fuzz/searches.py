"""Small tables and random settings: the numbers against plain loops, and odd settings refused in one line."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import interplay
import reference
from fuzz.outcomes import refused_or
from interplay import compat

NUMBERS = st.one_of(
    st.integers(-3, 9), st.sampled_from([0.0, 0.25, 0.5, 1.0, -1.0, 1e300, math.nan, math.inf, 10**30, 2**32, 2**63]),
    st.sampled_from([None, True, "", "2", [], [1], (0, 1), {}, 1j, b"2", np.float32(0.5), np.int8(2), np.True_]),
)  # fmt: skip
WORDS = st.sampled_from(
    """
    auto none all any error level impute classes continuous joint ovo ovr holm BH fdr BY hommel lsq mle weibull tail
    union cpu x1 raw exp lin MI H bits nats chi2
    """.split()
)


@st.composite
def tables(draw):
    """Few samples and variables, of few or many values, sometimes missing or infinite."""
    n_samples, n_vars = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["float", "int", "few", "bool", "text", "gaps", "odd"]))
    X: Any = rng.normal(size=(n_samples, n_vars))
    if kind == "int":
        X = rng.integers(-5, 5, X.shape).astype(draw(st.sampled_from(["i1", "i2", "i8", ">i4", "f2"])))
    elif kind == "few":
        X = rng.integers(0, 3, X.shape)
    elif kind == "bool":
        X = X > 0
    elif kind == "text":
        X = rng.choice(["a", "b", "c"], X.shape)
    elif kind == "gaps":
        X[rng.random(X.shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
    elif kind == "odd":
        X = draw(hnp.arrays(hnp.scalar_dtypes(), X.shape))
    y: Any = rng.integers(0, draw(st.integers(1, 4)), n_samples)
    y = draw(st.sampled_from([y, y.astype(str), y * 0.5, rng.normal(size=n_samples), y > 0]))
    return X, y


@given(tables(), st.dictionaries(
    st.sampled_from(["dimensions", "divisions", "discretizations", "range_", "pseudocount", "n_contrast", "level",
                     "decision_divisions", "random_state", "n_jobs", "p_adjust", "fit", "decision", "multiclass",
                     "discrete", "missing", "strata"]),
    NUMBERS | WORDS, max_size=4,
))  # fmt: skip
def select(table, options):
    small = {"n_contrast": 30, "random_state": 0} | options
    found = refused_or(lambda: interplay.select(*table, **small))
    if found is not None:
        p = found.p_adjusted[~np.isnan(found.p_adjusted)]
        assert ((p >= 0) & (p <= 1)).all()
        assert found.summary()


@given(tables(), st.dictionaries(
    st.sampled_from(["dimensions", "min_gain", "stat", "average", "top", "top_by", "variables", "require", "as_matrix",
                     "divisions", "pseudocount", "missing"]),
    NUMBERS | WORDS, max_size=4,
), st.booleans())  # fmt: skip
def interesting_tuples(table, options, with_decision):
    X, y = table
    refused_or(lambda: interplay.interesting_tuples(X, y if with_decision else None, **options))


@given(
    st.integers(2, 60), st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2),
    st.floats(0.05, 1), st.sampled_from([0.0, 0.1, 0.25, 2.0]), st.integers(2, 3), st.integers(0, 2**32 - 1),
    st.sampled_from([3, 10**6]),
)  # fmt: skip
def against_plain_loops(
    n_samples, n_vars, dimensions, divisions, discretizations, range_,
    pseudocount, n_classes, seed, n_values
):  # fmt: skip
    """Codes to the last one, gains to 1e-9; `n_values` small makes many ties."""
    dimensions = min(dimensions, n_vars)
    rng = np.random.default_rng(seed)
    n_samples = max(n_samples, 2 * n_classes)
    X = rng.integers(0, n_values, (n_samples, n_vars)).astype(float)
    y = np.r_[np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, n_samples)][:n_samples]
    settings = {"divisions": divisions, "discretizations": discretizations, "range_": range_, "random_state": seed}
    codes = interplay.discretize(X, **settings, discrete="none")
    plain = [
        [
            reference.discretize(
                X[:, v].tolist(), variable=v, discretization=d, divisions=divisions, range_=range_, seed=seed
            )
            for v in range(n_vars)
        ]
        for d in range(discretizations)
    ]
    assert codes.transpose(0, 2, 1).tolist() == plain
    found = interplay.max_information_gain(
        X, y, dimensions=dimensions, pseudocount=pseudocount, discrete="none", decision="classes", **settings
    )
    best = reference.max_information_gain(
        plain, [divisions + 1] * n_vars, y.tolist(), n_classes, dimensions, pseudocount
    )
    for v, by_df in enumerate(best):
        (expected,) = by_df.values()
        assert found.gain[v] == pytest.approx(expected.gain, rel=1e-9, abs=1e-9)
        assert found.df[v] == expected.df


@given(
    hnp.arrays(float, st.integers(0, 60), elements=st.floats(-5, 200) | st.sampled_from([np.nan, -np.inf, np.inf])),
    st.none() | hnp.arrays(float, st.integers(0, 60), elements=st.floats(0, 30)),
    st.dictionaries(
        st.sampled_from(["divisions", "discretizations", "mode", "fit", "df", "n_irrelevant", "n_ignored", "unit",
                         "min_irrelevant", "max_ignored", "search_points", "n_classes", "n_vars"]),
        NUMBERS | WORDS, max_size=4,
    ),
    st.integers(1, 5),
)  # fmt: skip
def fit_null(gains, contrast, options, dimensions):
    null = refused_or(lambda: interplay.fit_null(gains, dimensions=dimensions, contrast_gain=contrast, **options))
    if null is not None:
        p = null.p_values()
        assert ((p >= 0) & (p <= 1) | np.isnan(p)).all()
        assert (np.isnan(p) == ~np.isfinite(gains)).all()
        assert null.summary()


@given(tables(), st.sampled_from([name for name in compat.__all__ if name != "StatMode"]), st.dictionaries(
    st.sampled_from(["dimensions", "divisions", "discretizations", "seed", "range_", "pc_xi", "n_contrast", "level",
                     "interesting_vars", "require_all_vars", "return_tuples", "stat_mode", "ig_thr", "average",
                     "variable_idx", "discretization_nr", "return_matrix", "p_adjust_method", "k", "n"]),
    NUMBERS | WORDS, max_size=4,
))  # fmt: skip
def older_package(table, name, options):
    X, y = table
    function = getattr(compat, name)
    if name in ("run", "compute_max_ig", "compute_max_ig_discrete", "compute_tuples", "compute_tuples_discrete"):
        refused_or(lambda: function(X, y, **options))
    elif name == "discretize":
        refused_or(lambda: function(X, **{"variable_idx": 0, "divisions": 1, "discretization_nr": 1} | options))
    elif name == "gen_contrast_variables":
        refused_or(lambda: function(X, options.get("n_contrast", 3), options.get("seed")))
    elif name == "fit_p_value":
        refused_or(lambda: function(X[:, 0], X[:, -1] if len(options) % 2 else None, exponential_fit=len(options) < 2))
    else:
        refused_or(lambda: function(*(options.get(key, 40) for key in ("n", "dimensions", "divisions"))))
