"""Tagging: is a lead an interaction, or does another column explain it? Models are compared with statsmodels."""

import time
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

import interplay
from interplay.data.study.table import as_table
from interplay.infer.linkage import make_linkage
from interplay.infer.neighbour_screen import Neighbours, NeighbourScreen
from likelihood_ratio import p_of_classes
from reference import covariate_columns

NAMES = ["a", "b", "cause", *(f"noise{i}" for i in range(6))]


def haplotypes(n, seed=0, r2=0.1):
    """Return haplotypes of two markers with this r²."""
    rng = np.random.default_rng(seed)
    one = rng.random((n, 2)) < 0.4
    other = np.where(rng.random((n, 2)) < np.sqrt(r2), one, rng.random((n, 2)) < 0.4)
    return rng, one, other


def phantom(n=800, seed=0, kind="numbers", r2=0.1, spread=0.7):
    """The cause lies on haplotypes with both markers, and has an effect of its own."""
    rng, one, other = haplotypes(n, seed, r2)
    cause = one & other & (rng.random((n, 2)) < 0.9)
    noise = rng.integers(0, 3, size=(n, 6))
    frame = pd.DataFrame(np.column_stack([one.sum(1), other.sum(1), cause.sum(1), noise]), columns=NAMES)
    y = frame["cause"].to_numpy() + spread * rng.normal(size=n)
    if kind == "classes":
        return frame, np.where(y > 0.6, "ill", "well")
    if kind == "three":
        return frame, np.array(["low", "mid", "top"])[np.searchsorted([0.1, 0.9], y)]
    return frame, y


def true_pair(n=800, seed=0, kind="numbers"):
    """Markers that are not linked interact; each has a neighbour."""
    rng, one, other = haplotypes(n, seed, 0.0)
    near = [np.where(rng.random((n, 2)) < 0.8, each, rng.random((n, 2)) < 0.4) for each in (one, other)]
    columns = [each.sum(1) for each in (one, other, *near)]
    frame = pd.DataFrame(np.column_stack([*columns, rng.integers(0, 3, size=(n, 4))])).rename(columns=str)
    y = (columns[0] - 0.8) * (columns[1] - 0.8) + 0.8 * rng.normal(size=n)
    return frame, np.where(y > 0, "ill", "well") if kind == "classes" else y


def statsmodels_p(frame, y, smaller, larger):
    """p-value of the likelihood ratio, or of F, of nested models."""
    if isinstance(y[0], str):
        levels = np.unique(y)
        data = frame.assign(y=np.searchsorted(levels, y))
        fit = smf.logit if len(levels) == 2 else smf.mnlogit
        fits = [fit(f"y ~ {formula}", data).fit(disp=0, maxiter=200) for formula in (smaller, larger)]
        df, chi2 = fits[1].df_model - fits[0].df_model, 2 * (fits[1].llf - fits[0].llf)
        n_columns = fits[1].df_model / (len(levels) - 1) + 1
        return p_of_classes(chi2, df, np.bincount(data["y"]), n_columns)
    data = frame.assign(y=stats.norm.ppf((stats.rankdata(y) - 0.5) / len(y)))
    fits = [smf.ols(f"y ~ {formula}", data).fit() for formula in (smaller, larger)]
    return float(fits[1].compare_f_test(fits[0])[1])


def ages(n):
    return np.random.default_rng(10).normal(size=n)


@cache
def columns_of_ages(n):
    """Plain loops over all pairs of samples: made once."""
    return covariate_columns(ages(n).tolist())


@pytest.mark.parametrize("kind", ["classes", "three", "numbers"])
@pytest.mark.parametrize("beside", ["", "age", "site"])
def test_models_are_those_of_statsmodels(kind, beside):
    frame, y = phantom(4000, 3, kind, spread=1.5)
    rng = np.random.default_rng(9)
    age, site = ages(len(frame)), rng.integers(0, 2, len(frame)) if beside == "site" else None
    found = interplay.interactions(frame, y, coding="levels")
    arguments: dict[str, Any] = {"covariates": {"age": age}} if beside == "age" else {}
    columns = np.array(columns_of_ages(len(frame))).T if beside == "age" else []
    term = "".join(f" + age{place}" for place in range(len(columns)))
    data = frame.assign(**{f"age{place}": column for place, column in enumerate(columns)})
    if beside == "site" and kind == "numbers":
        return  # ranks within strata are other scores
    if beside == "site":
        arguments, data = {"strata": site}, data.assign(site=site)
    table = found.tagging(frame, y, **arguments)
    row = table[[members == ("a", "b") for members in table["members"]]].iloc[0]
    assert row["verdict"] != "holds"
    main, both = "C(a) + C(b)", "C(a) * C(b)"
    if beside == "site":
        main, both = "C(site) * (C(a) + C(b))", "C(site) * C(a) * C(b)"
    cause = " + C(cause)"
    want = [
        statsmodels_p(data, y, main + term, both + term),
        statsmodels_p(data, y, main + term, main + cause + term),
        statsmodels_p(data, y, main + cause + term, both + cause + term),
    ]
    assert row[["p_interaction", "p_neighbour", "p_given"]].astype(float).tolist() == pytest.approx(want, rel=1e-4)


@pytest.mark.parametrize("left_out", [0, 40])
def test_screen_is_exact_for_linear_models(left_out):
    rng = np.random.default_rng(0)
    n_samples = 300
    samples = np.sort(rng.permutation(n_samples)[left_out:])
    n = len(samples)
    smaller = np.column_stack([np.ones(n_samples), rng.normal(size=(n_samples, 2))])
    inner = rng.normal(size=(n_samples, 3)) + smaller[:, 1:2]
    rows = (rng.normal(size=(7, n_samples)) + inner[:, :1].T).astype(np.float32)
    rows[3] = rows[2]  # says the same again
    first = np.array([0, 1, 2, 4, 7])
    own = np.zeros((7, 3))
    for start, end in pairwise(first):
        own[start:end, : end - start] = rows[start:end].astype(float) @ rows[start:end].astype(float).T
    y = (rows[0] + inner[:, 1] + rng.normal(size=n_samples))[samples]
    y = (y - y.mean()) / y.std()
    smaller, inner = smaller[samples], inner[samples]
    order = rng.permutation(7)  # rows lie anywhere in the array that tuples share
    shared, shared_own = np.empty_like(rows), np.empty_like(own)
    shared[order], shared_own[order] = rows, own
    also = rng.normal(size=(n_samples, 2))
    found = NeighbourScreen(
        y[:, np.newaxis], smaller, inner, Neighbours(shared, order, first, shared_own), samples, also
    )
    np.testing.assert_allclose(found.also, rows @ also, rtol=1e-3, atol=1e-3)

    def rss(columns):
        return float(((y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]) ** 2).sum())

    of = [rows[start:end, samples].T.astype(float) for start, end in pairwise(first)]
    with_inner = np.hstack([smaller, inner])
    scale = rss(smaller) / n
    for c in range(4):
        with_c, with_both = np.hstack([smaller, of[c]]), np.hstack([with_inner, of[c]])
        assert found.effect[c] == pytest.approx((rss(smaller) - rss(with_c)) / scale, rel=1e-3)
        assert found.left[c] == pytest.approx((rss(with_c) - rss(with_both)) / scale, rel=1e-3)
        beside_cells = (rss(with_inner) - rss(with_both)) / (rss(with_inner) / n)
        assert found.beside_cells[c] == pytest.approx(beside_cells, rel=1e-3)
    for more in (of[0], of[3][:, :2]):
        smaller = np.hstack([smaller, more])
        beside = found.effect_beside(more)
        for c in (1, 2):
            explained = (rss(smaller) - rss(np.hstack([smaller, of[c]]))) / (rss(smaller) / n)
            assert beside[c] == pytest.approx(explained, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_cause_that_is_typed_explains_and_one_that_is_not_cannot_be_told(kind):
    for seed in range(5):
        frame, y = phantom(2000, seed, kind)
        found = interplay.interactions(frame, y)
        assert ("a", "b") not in found.significant
        typed = found.tagging(frame, y).set_index("members").loc[[("a", "b")]].iloc[0]
        assert typed["verdict"] != "holds"
        hidden = frame.drop(columns="cause")
        found = interplay.interactions(hidden, y)
        again = found.tagging(hidden, y).set_index("members").loc[[("a", "b")]].iloc[0]
        assert again["verdict"] == "cannot be told"
        assert "hidden cause" in again["reason"]
        dense = found.tagging(hidden, y, dense=frame[["cause"]]).set_index("members").loc[[("a", "b")]].iloc[0]
        assert dense["verdict"] == typed["verdict"]
        assert dense["by"] == typed["by"]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_true_pairs_hold(kind):
    verdicts = []
    for seed in range(8):
        frame, y = true_pair(800, seed, kind)
        found = interplay.interactions(frame, y)
        table = found.tagging(frame, y)
        verdicts += [table["verdict"][row] for row, members in enumerate(table["members"]) if members == ("0", "1")]
    assert verdicts.count("holds") >= 7


def test_complete_tables_let_linked_members_hold():
    rng, one, other = haplotypes(1000, 1, 0.2)
    frame = pd.DataFrame({"a": one.sum(1), "b": other.sum(1), "z": rng.integers(0, 3, 1000)})
    y = (frame["a"] - 0.8) * (frame["b"] - 0.8) + rng.normal(size=1000)
    found = interplay.interactions(frame, y.to_numpy())
    assert found.significant[0] == ("a", "b")
    assert found.tagging(frame, y.to_numpy())["verdict"][0] == "cannot be told"
    assert found.tagging(frame, y.to_numpy(), complete=True)["verdict"][0] == "holds"


def test_positions_say_which_columns_are_near():
    frame, y = phantom(1000, 0, r2=0.0)
    far = {name: ("1", 5_000_000 * place) for place, name in enumerate(frame.columns)}
    near = far | {"a": ("2", 100), "b": ("2", 900), "cause": ("2", 500)}
    hidden = frame.drop(columns="cause")
    found = interplay.interactions(frame, y)
    table = found.tagging(frame, y, positions=near)
    assert table["by"][0] == ("cause",)
    assert table["n_neighbours"][0] == 2 - 1
    # Columns that are correlated with a member are neighbours anywhere.
    elsewhere = near | {"cause": ("3", 500)}
    for where, window in ((near, 50), (elsewhere, None)):
        assert found.tagging(frame, y, positions=where, window=window)["by"][0] == ("cause",)
    # Close to each other, though not correlated: a haplotype of both may carry a cause.
    where = {name: near[name] for name in hidden.columns}
    assert "apart" in interplay.interactions(hidden, y).tagging(hidden, y, positions=where)["reason"][0]


def test_dense_bed_file(tmp_path):
    to_bed = pytest.importorskip("bed_reader").to_bed
    frame, y = phantom(800, 2)
    file = tmp_path / "dense.bed"
    to_bed(file, frame.to_numpy().astype("float32"), properties={"sid": [f"rs{i}" for i in range(9)]})
    hidden = frame.drop(columns="cause")
    table = interplay.interactions(hidden, y).tagging(hidden, y, dense=file)
    assert table["by"][0] == ("rs2",)


def test_explained_leads_are_no_interactions_in_summary_report_and_file(tmp_path):
    frame, y = phantom(1000, 0)
    found = interplay.interactions(frame, y, coding="levels")
    again = found.with_tagging(frame, y)
    assert found.table.set_index("members")["explained_by"][[("a", "b")]].tolist() == [("cause",)]
    assert ("a", "b") not in again.significant
    assert "explained by another column" in again.summary()
    again.to_html(tmp_path / "pairs.html")
    page = (tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert "Is it real?" in page
    assert "explained by cause" in page
    again.save(tmp_path / "pairs.interplay")
    loaded = interplay.load(tmp_path / "pairs.interplay")
    assert loaded.significant == again.significant
    pd.testing.assert_frame_equal(loaded.tagged.table(loaded), again.tagged.table(again))
    assert len(again.only_significant()) == len(again.significant)


def test_cut_numbers_labels_and_missing_values():
    rng = np.random.default_rng(0)
    n = 900
    hidden = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": hidden + 0.6 * rng.normal(size=n),
            "z": hidden + 0.6 * rng.normal(size=n),
            "cause": hidden,
            "word": pd.Categorical(np.array(["u", "v", "w"])[rng.integers(0, 3, n)]),
            "flag": rng.random(n) < 0.5,
        }
    )
    frame.loc[:30, "word"] = None
    y = np.where(hidden**2 + 0.3 * rng.normal(size=n) > 0.5, "far", "near")
    found = interplay.interactions(frame, y, missing="omit")
    table = found.tagging(frame, y).set_index("members")
    assert table.loc[[("x", "z")]].iloc[0]["verdict"] == "explained"
    labels = np.where((frame["word"] == "u") ^ frame["flag"] ^ (rng.random(n) < 0.1), "ill", "well")
    found = interplay.interactions(frame, labels, missing="omit")
    told = found.tagging(frame, labels)
    assert told["verdict"][0] == "cannot be told"
    assert "is typed" in told["reason"][0]
    assert found.tagging(frame, labels, complete=True)["verdict"][0] == "holds"


@pytest.mark.slow
def test_many_leads_with_many_neighbours_take_seconds():
    """100 leads with 500 neighbours each, all of them significant; the limit leaves room for a busy machine."""
    rng = np.random.default_rng(0)
    n, size, n_leads = 1000, 501, 100
    bases = rng.integers(0, 3, size=(2, n, 1))
    parts = [np.where(rng.random((n, size)) < 0.4, rng.integers(0, 3, size=(n, size)), base) for base in bases]
    X = np.hstack(parts).astype(np.int8)
    y = (3 * (bases[0, :, 0] - 1) * (bases[1, :, 0] - 1) + 0.5 * rng.normal(size=n) > 0).astype(int)
    found = interplay.interactions(X[:, size - 20 : size + 20], y, top=n_leads)
    tuples = found.tested.tuples + size - 20
    everything = np.unique(tuples)
    many = replace(
        found,
        names=[f"x{v}" for v in range(X.shape[1])],
        tested=replace(found.tested, tuples=tuples),
        cuts=tuple(replace(cuts, variable=cuts.variable + size - 20) for cuts in found.cuts),
        linkage=make_linkage(as_table(X), everything, everything, np.zeros(len(everything), dtype=bool)),
    )
    started = time.process_time()
    tagged = many.with_tagging(X, y, r2=1.0).tagged
    took = time.process_time() - started
    assert tagged is not None
    assert len(tagged.verdict) > 0.9 * n_leads
    assert np.median(tagged.n_neighbours) == 500
    assert took < 6, took
