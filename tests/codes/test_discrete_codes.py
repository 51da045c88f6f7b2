import itertools
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from interplay.base.jobs import map_in_threads, resolve_n_jobs
from interplay.base.seeds import Purpose, first_draws, random_stream, resolve_seed
from interplay.data.codes.coder import discretize, make_coder, resolve_range, suggest_range
from interplay.data.study.table import as_table
from shared_data import SHARED, needs_shared

nan = np.nan


def load(name):
    with np.load(SHARED / name) as stored:
        return dict(stored)


def coder_of(X, **options):
    defaults = {"divisions": 1, "discretizations": 1, "range_": 0.0, "seed": 0}
    return make_coder(as_table(X), **{**defaults, **options})


def codes_of(X, **options):
    coder = coder_of(X, **options)
    return np.stack([coder.codes(d).codes for d in range(coder.discretizations)])


# --- The original's codes -------------------------------------------------------------------------------------


@needs_shared
def test_grid_of_the_original():
    X = load("data/madelon.npz")["x"][:, :8]
    grid = load("reference/madelon_discretize_grid.npz")
    assert len(grid) == 36
    for key, wanted in grid.items():
        seed, divisions, range_ = re.fullmatch(r"seed(\d+)_div(\d+)_range([\d.]+)", key).groups()
        found = codes_of(
            X, divisions=int(divisions), discretizations=3, range_=float(range_), seed=int(seed), discrete="none"
        )
        np.testing.assert_array_equal(found, wanted.transpose(2, 1, 0), err_msg=key)


@needs_shared
@pytest.mark.parametrize(
    ("data", "codes", "options"),
    [
        ("data/madelon", "madelon_disc5_range05_seed42", {"discretizations": 5, "range_": 0.5, "random_state": 42}),
        ("reference/synth_s1", "synth_s1_div1_disc10_seed5", {"discretizations": 10, "random_state": 5}),
        ("reference/synth_s2", "synth_s2_div1_disc10_seed5", {"discretizations": 10, "random_state": 5}),
    ],
)
def test_all_codes_of_the_original(data, codes, options):
    X = load(f"{data}.npz")["x"]
    wanted = load(f"reference/{codes}.npz")["discretized_n_p_d"].transpose(2, 0, 1)
    np.testing.assert_array_equal(discretize(X, discrete="none", **options), wanted)
    np.testing.assert_array_equal(discretize(np.asfortranarray(X), discrete="none", n_jobs=2, **options), wanted)


@needs_shared
def test_suggested_ranges_of_the_original():
    for k, n_samples, dimensions, divisions, wanted in load("reference/getrange.npz")["k_n_dim_div_range"]:
        found = suggest_range(int(n_samples), dimensions=int(dimensions), divisions=int(divisions), k=k)
        assert found == pytest.approx(wanted, abs=1e-15)


# --- The rule, against plain loops ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_samples", [1, 2, 3, 7, 63, 64, 65, 129])
@pytest.mark.parametrize("divisions", [1, 2, 5, 70])
def test_plain_loops_agree(n_samples, divisions):
    X = np.random.default_rng(n_samples).normal(size=(n_samples, 4))
    X[:, 1] = X[:, 1].round()
    X[:, 2] = 3.0
    X[: n_samples // 2, 3] = np.inf
    for range_, seed in [(0.0, 0), (0.4, 7), (1.0, 2**32 - 1)]:
        found = codes_of(
            X, divisions=divisions, discretizations=2, range_=range_, seed=seed, discrete="none", first_variable=11
        )
        for d, v in itertools.product(range(2), range(4)):
            wanted = reference.discretize(
                X[:, v].tolist(), variable=11 + v, discretization=d, divisions=divisions, range_=range_, seed=seed
            )
            assert found[d, v].tolist() == wanted


def test_halves_without_ties():
    for n_samples in (63, 64, 65):
        codes = discretize(np.random.default_rng(0).normal(size=(n_samples, 3)))[0]
        # Half the samples, rounded with halves up, and the threshold itself.
        assert (codes == 0).sum(axis=0).tolist() == [(n_samples + 1) // 2 + 1] * 3


def test_first_draws_are_those_of_numpy():
    seeds = np.random.default_rng(0).integers(0, 2**32, 5000, dtype=np.uint32)
    seeds[:3] = 0, 1, 2**32 - 1
    for n_draws in (1, 4, 227, 228, 512, 624):
        some = seeds if n_draws == 4 else seeds[:20]
        draws = first_draws(some, n_draws)
        assert draws.shape == (n_draws, len(some))
        for i in [0, 1, 2, 3, len(some) - 1]:
            wanted = np.random.RandomState(some[i]).randint(0, 2**32, n_draws, dtype=np.uint32)
            np.testing.assert_array_equal(draws[:, i], wanted)
    with pytest.raises(ValueError, match="n_draws must be from 1 to 624"):
        first_draws(seeds, 625)


def test_monotone_transformations_change_nothing():
    X = np.random.default_rng(0).normal(size=(101, 5))
    np.testing.assert_array_equal(codes_of(X, range_=0.5), codes_of(np.exp(3 * X), range_=0.5))
    np.testing.assert_array_equal(codes_of(X, range_=0.5)[0], codes_of(X[::-1], range_=0.5)[0][:, ::-1])


# --- Blocks, threads, containers and dtypes do not matter -----------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_samples=st.sampled_from([5, 63, 64, 65]),
    n_vars=st.integers(1, 12),
    block_columns=st.integers(1, 13),
    n_jobs=st.integers(1, 3),
    divisions=st.integers(1, 4),
    missing=st.sampled_from(["level", "impute"]),
)
def test_blocks_and_threads_change_nothing(seed, n_samples, n_vars, block_columns, n_jobs, divisions, missing):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_vars)).round(rng.integers(0, 3))
    X[rng.random(X.shape) < 0.1] = nan
    X[0] = 0.0
    options = {"divisions": divisions, "discretizations": 2, "range_": 0.5, "seed": seed, "missing": missing}
    whole = coder_of(X, **options)
    parts = coder_of(X, **options, block_columns=block_columns, n_jobs=n_jobs)
    np.testing.assert_array_equal(whole.n_levels, parts.n_levels)
    np.testing.assert_array_equal(whole.is_discrete, parts.is_discrete)
    for d in (1, 0):
        np.testing.assert_array_equal(whole.codes(d).codes, parts.codes(d).codes)
        assert (whole.codes(d).codes < whole.n_levels[:, None]).all()
    # A variable's codes depend on its number alone, not on its neighbours.
    one = coder_of(X[:, -1:], **options, first_variable=n_vars - 1)
    np.testing.assert_array_equal(one.codes(1).codes[0], whole.codes(1).codes[-1])


@pytest.mark.parametrize("missing", ["level", "impute"])
@pytest.mark.parametrize("range_", [0.0, 0.3])
def test_some_columns_have_the_codes_they_have_among_all(missing, range_):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 9))
    X[:, 2], X[::7, 5] = rng.integers(0, 3, 80), np.nan
    how = {"discretizations": 3, "divisions": 2, "range_": range_, "seed": 3, "missing": missing}
    everything = coder_of(X, **how)
    columns = np.array([5, 2, 7, 2])
    some = coder_of(X, **how, columns=columns)
    for v in columns:
        assert some.n_levels[v] == everything.n_levels[v]
        for d in range(3):
            found, wanted = np.empty((2, 1, 80), dtype=np.uint8)
            some.write_block(d, slice(v, v + 1), found)
            everything.write_block(d, slice(v, v + 1), wanted)
            assert np.array_equal(found, wanted)
    assert set(np.flatnonzero(some.n_levels)) == {2, 5, 7}


def test_containers_agree():
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 9, (65, 6)).clip(0).astype(float)
    X[:, 5] = rng.integers(0, 2, 65)
    wanted = discretize(X, divisions=2, discretizations=3, range_=0.7)
    names = [f"x{v}" for v in range(6)]
    arrays = [np.asfortranarray(X), X.tolist(), X.astype(object), X.astype(np.int8), X.astype(np.longdouble)]
    arrays += [X.astype(np.float16), X.astype(">f4"), np.repeat(X, 2, axis=0)[::2]]
    frames = [pd.DataFrame(X), pd.DataFrame(X, columns=names).convert_dtypes(), pl.DataFrame(X), pl.LazyFrame(X)]
    frames += [pa.table(dict(zip(names, X.T, strict=True))), sp.csr_matrix(X), sp.csc_array(X)]
    for container in arrays + frames:
        np.testing.assert_array_equal(discretize(container, divisions=2, discretizations=3, range_=0.7), wanted)


def test_input_is_left_alone():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(20, 3)))
    X[3, 1] = nan
    before = X.copy()
    for missing in ("level", "impute"):
        discretize(X, missing=missing)
        np.testing.assert_array_equal(X, before)


# --- Discrete columns -----------------------------------------------------------------------------------------


def test_auto_takes_few_values_as_they_are():
    rng = np.random.default_rng(0)
    n = 64
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=n),
            "flag": rng.random(n) < 0.9,
            "genotype": rng.integers(0, 3, n) * 7 - 1,
            "four": rng.integers(0, 4, n),
            "text": rng.choice(list("vwxyz"), n),
            "constant": 5,
        }
    )
    coder = coder_of(frame)
    assert coder.is_discrete.tolist() == [False, True, True, False, True, True]
    assert coder.n_levels.tolist() == [2, 2, 3, 2, 5, 1]
    codes = coder.codes(0).codes
    np.testing.assert_array_equal(codes[1], frame["flag"])
    np.testing.assert_array_equal(codes[2], (frame["genotype"] + 1) // 7)
    np.testing.assert_array_equal(codes[4], [list("vwxyz").index(value) for value in frame["text"]])
    assert not codes[5].any()
    assert coder_of(frame, divisions=3).is_discrete.tolist() == [False, True, True, True, True, True]


def test_discrete_choices():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 9, 64), "b": rng.integers(0, 3, 64), "c": rng.choice(["u", "v"], 64)})
    assert coder_of(X, discrete="all").is_discrete.tolist() == [True] * 3
    assert coder_of(X, discrete=["a"]).is_discrete.tolist() == [True, False, True]
    assert coder_of(X, discrete=[1]).is_discrete.tolist() == [False, True, True]
    assert coder_of(X, discrete=[]).is_discrete.tolist() == [False, False, True]
    assert coder_of(X, discrete=pd.Index(["a", "b"])).is_discrete.tolist() == [True] * 3
    assert coder_of(X, discrete=np.array([0, 1])).is_discrete.tolist() == [True] * 3
    assert coder_of(X, discrete=np.array([True, False, True])).is_discrete.tolist() == [True, False, True]
    assert coder_of(X[["a", "b"]], discrete="none").is_discrete.tolist() == [False, False]
    flags = np.array([[True], [False], [True], [True]])
    assert coder_of(flags, discrete="none").codes(0).codes.tolist() == [[0, 0, 0, 0]]
    assert coder_of(flags, discrete=[False]).is_discrete.tolist() == [False]
    np.testing.assert_array_equal(coder_of(X, discrete="all").codes(0).codes[0], X["a"])


@pytest.mark.parametrize("n_levels", [64, 65, 66, 255, 256])
def test_many_levels(n_levels):
    values = np.random.default_rng(0).permutation(np.repeat(np.arange(n_levels), 3))
    X = np.column_stack([values * 0.5, values % 5])
    coder = coder_of(X, discrete="all")
    assert coder.n_levels.tolist() == [n_levels, 5]
    np.testing.assert_array_equal(coder.codes(0).codes, [values, values % 5])


def test_integers_at_the_ends_of_their_range():
    X = np.array([[0, 255], [255, 0], [255, 255], [0, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(codes_of(X)[0], X.T // 255)
    X = np.column_stack([X[:, 0] // 255, np.arange(4)])
    np.testing.assert_array_equal(codes_of(X.astype(np.uint8), discrete="all")[0], X.T)


# --- Missing values -------------------------------------------------------------------------------------------


def test_missing_level():
    X = np.random.default_rng(0).normal(size=(65, 3))
    X[::4, 1] = nan
    X[:, 2] = np.where(X[:, 2] > 0, 1.0, -1.0)
    X[5:9, 2] = nan
    coder = coder_of(X, divisions=2, range_=0.6, missing="level")
    assert coder.n_levels.tolist() == [3, 4, 3]
    assert coder.n_missing.tolist() == [0, 17, 4]
    codes = coder.codes(0).codes
    observed = ~np.isnan(X[:, 1])
    wanted = reference.discretize(
        X[observed, 1].tolist(), variable=1, discretization=0, divisions=2, range_=0.6, seed=0
    )
    assert codes[1, observed].tolist() == wanted
    assert (codes[1, ~observed] == 3).all()
    np.testing.assert_array_equal(codes[2], np.where(np.isnan(X[:, 2]), 2, X[:, 2] > 0))


def test_missing_labels():
    frame = pd.DataFrame({"a": ["v", None, "u", "v"], "b": pd.array([True, False, None, True], dtype="boolean")})
    coder = coder_of(frame, missing="level")
    assert coder.n_levels.tolist() == [3, 3]
    np.testing.assert_array_equal(coder.codes(0).codes, [[1, 2, 0, 1], [1, 0, 2, 1]])
    imputed = coder_of(frame, missing="impute")
    assert imputed.n_levels.tolist() == [2, 2]
    assert imputed.codes(0).codes[:, [0, 3]].tolist() == [[1, 1], [1, 1]]


def test_missing_labels_are_a_level_and_missing_numbers_are_drawn():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({
        "number": np.where(rng.random(60) < 0.2, np.nan, rng.normal(size=60)),
        "label": pd.Series(rng.choice(["a", "b"], 60)).mask(rng.random(60) < 0.2),
        "flag": pd.Series(rng.random(60) < 0.5, dtype=object).mask(rng.random(60) < 0.2),
        "few": np.where(rng.random(60) < 0.2, np.nan, rng.integers(0, 2, 60)),
        "whole": rng.normal(size=60),
        "empty": np.nan,
    })  # fmt: skip
    auto, level = (coder_of(frame, missing=how, seed=2) for how in ("auto", "level"))
    drawn = coder_of(frame.drop(columns="empty"), missing="impute", seed=2)
    for v, expected in enumerate([drawn, level, level, drawn, level, level]):
        np.testing.assert_array_equal(auto.codes(0).codes[v], expected.codes(0).codes[v])
        assert auto.n_levels[v] == expected.n_levels[v]
    assert auto.record()["missing"] == {"level": 3, "impute": 2}


def test_all_missing_is_one_level():
    X = np.column_stack([np.full(9, nan), np.arange(9)])
    coder = coder_of(X, missing="level")
    assert coder.n_levels.tolist() == [1, 2]
    assert not coder.codes(0).codes[0].any()
    assert set(coder_of(X, missing="level", discrete="none").codes(0).codes[0]) == {2}


def test_impute_draws_from_the_observed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    X[rng.random(2000) < 0.5, 0] = nan
    coder = coder_of(X, divisions=3, discretizations=2, range_=0.3, missing="impute", seed=3)
    codes = np.stack([coder.codes(d).codes[0] for d in range(2)])
    assert coder.n_levels.tolist() == [4, 4]
    # The same values are filled in for both discretisations: levels that are far apart never meet.
    assert not ((codes[0] == 0) & (codes[1] == 3)).any()
    gap = np.isnan(X[:, 0])
    shares = [np.bincount(codes[0, part], minlength=4) / part.sum() for part in (gap, ~gap)]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.06)
    other = coder_of(X, divisions=3, discretizations=2, range_=0.3, missing="impute", seed=4)
    assert (other.codes(0).codes[0, gap] != codes[0, gap]).any()


# --- Range, seeds, threads ------------------------------------------------------------------------------------


def test_resolve_range():
    setting = {"n_samples": 500, "dimensions": 2, "divisions": 1}
    assert resolve_range(None, **setting, discretizations=1) == 0
    assert resolve_range(None, **setting, discretizations=2) == suggest_range(500, dimensions=2)
    assert resolve_range(0.5, **setting, discretizations=1) == 0.5
    assert resolve_range(0, **setting, discretizations=1) == 0
    with pytest.raises(ValueError, match=r"range_: too few samples .*20 samples, dimensions=5 and divisions=2"):
        resolve_range(None, n_samples=20, dimensions=5, divisions=2, discretizations=2)
    with pytest.warns(UserWarning, match=r"range_: only 0\.\d+ leaves enough samples per cell"):
        assert 0 < resolve_range(None, n_samples=150, dimensions=5, divisions=1, discretizations=2) < 0.25
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert suggest_range(2, dimensions=5, divisions=9) == 0


def test_resolve_seed():
    assert resolve_seed(0) == 0
    assert resolve_seed(np.int64(2**32 - 1)) == 2**32 - 1
    assert resolve_seed(None) != resolve_seed(None)
    assert resolve_seed(np.random.RandomState(1)) == resolve_seed(np.random.RandomState(1))
    assert resolve_seed(np.random.default_rng(1)) == resolve_seed(np.random.default_rng(1))
    assert resolve_seed(np.random.PCG64(1)) == resolve_seed(np.random.default_rng(1))
    bits = np.random.PCG64(1)
    assert resolve_seed(bits) != resolve_seed(bits)
    of_one, of_two = np.random.SeedSequence(1), np.random.SeedSequence([1, 2])
    assert resolve_seed(of_one) == resolve_seed(of_one) == resolve_seed(np.random.SeedSequence(1)) < 2**32
    assert resolve_seed(of_two) != resolve_seed(of_one)
    assert len({resolve_seed(child) for child in of_one.spawn(9)}) == 9
    generator = np.random.default_rng(1)
    assert resolve_seed(generator) != resolve_seed(generator)


def test_streams_are_frozen():
    # A change here changes everyone's contrast variables and imputed values.
    assert random_stream(0, Purpose.IMPUTE, 0).randint(0, 1000, 4).tolist() == [96, 666, 944, 580]
    assert random_stream(2**32 - 1, Purpose.CONTRAST_PERMUTATION, 7).permutation(6).tolist() == [1, 2, 0, 5, 3, 4]


def test_resolve_n_jobs():
    assert resolve_n_jobs(None) == 1
    assert resolve_n_jobs(3) == 3
    assert resolve_n_jobs(-1) >= 1
    assert resolve_n_jobs(-1000) == 1


def test_map_in_threads_keeps_the_order_and_raises():
    assert map_in_threads(lambda i: i * i, range(50), 3) == [i * i for i in range(50)]
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda i: 1 // i, [1, 0], 2)


# --- Errors ---------------------------------------------------------------------------------------------------

GAPS = np.array([[1.5, nan, nan], [2.5, nan, 2], [3.5, 4, 3], [1, 2, 4]])
TEXT = pd.DataFrame({"id": [f"p{i}" for i in range(300)], "x": np.arange(300.0)})


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (GAPS, {}, r"X has 3 missing values in 2 columns \('x1', 'x2'\): fill the gaps, or use missing='level' or"),
        (TEXT[["x"]], {"discrete": "all"}, "column 'x' of X has 300 levels, more than 256: take it out of discrete"),
        (TEXT[["x"]], {"discrete": ["x"]}, "column 'x' of X has 300 levels"),
        (TEXT, {"discrete": [False, True]}, "discrete must include column 'id' of X"),
        (TEXT, {"discrete": [0.5]}, "each column number in discrete must be a whole number"),
    ],
)
def test_errors(X, options, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        discretize(X, **options)
    assert "\n" not in str(caught.value)


def test_codes_takes_an_array_to_write_to_and_checks_the_number():
    coder = coder_of(np.random.default_rng(0).normal(size=(20, 3)))
    out = np.full((3, 20), 99, dtype=np.uint8)
    assert coder.codes(0, out=out).codes is out
    assert out.max() == 1
    with pytest.raises(ValueError, match="discretization must be a whole number from 0 to 0, not 1"):
        coder.codes(1)
