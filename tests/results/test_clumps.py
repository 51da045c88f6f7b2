"""Clumps: tuples, and variables, whose members are correlated with those of a stronger one."""

import time
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, spearmanr

import interplay
from interplay.data.study.table import as_table
from interplay.infer.linkage import FLOOR, Linkage, clump_tuples, make_linkage


def copies(n=800, seed=0):
    """Columns 0 and 1 interact; 5, 6 and 7 are noisy copies of 0, 1 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    X[:, 5:8] = X[:, [0, 1, 1]] + 0.4 * rng.normal(size=(n, 3))
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(n) < 0.2)


def plain_clumps(tuples, r2, threshold):
    """The rule in plain loops, from a whole matrix."""
    leads: list[int] = []
    found = []
    for row, members in enumerate(tuples.tolist()):
        for lead in leads:
            if any(
                all(a == b or r2[a, b] >= threshold for a, b in zip(members, order, strict=True))
                for order in permutations(tuples[lead].tolist())
            ):
                found.append(lead)
                break
        else:
            leads.append(row)
            found.append(row)
    return found


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("threshold", [0.1, 0.4, 0.8])
def test_clumps_equal_the_rule_in_plain_loops(k, threshold):
    rng = np.random.default_rng(k)
    p = 30
    r2 = np.triu(rng.random((p, p)) * (rng.random((p, p)) < 0.3), 1)
    r2 += r2.T
    one, other = np.nonzero(np.triu(r2 >= FLOOR, 1))
    linkage = Linkage(np.arange(p), np.column_stack([one, other]), r2[one, other], FLOOR, [], np.empty(0))
    tuples = np.array([np.sort(rng.choice(p, k, replace=False)) for _ in range(300)])
    assert clump_tuples(tuples, linkage, threshold).tolist() == plain_clumps(tuples, r2, threshold)


def test_r2_of_numbers_labels_and_dosages():
    rng = np.random.default_rng(0)
    n = 500
    a = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "a": a,
            "skewed": np.exp(a + 0.3 * rng.normal(size=n)),
            "g": rng.integers(0, 3, n),
            "word": pd.Categorical(np.array(["u", "v", "w"])[rng.integers(0, 3, n)]),
        }
    )
    frame["h"] = np.where(rng.random(n) < 0.6, frame["g"], rng.integers(0, 3, n))
    frame["other"] = pd.Categorical(np.where(rng.random(n) < 0.5, frame["word"].astype(str), "w"))
    frame.loc[:20, "a"] = np.nan
    by_rank = np.array([True, True, False, False, False, False])
    linkage = make_linkage(as_table(frame), np.arange(6), np.arange(6), by_rank)
    assert linkage is not None
    found = {tuple(pair): r2 for pair, r2 in zip(linkage.pairs.tolist(), linkage.r2.tolist(), strict=True)}
    assert found[0, 1] == pytest.approx(spearmanr(frame["a"][21:], frame["skewed"][21:])[0] ** 2, abs=0.06)
    assert found[2, 4] == pytest.approx(np.corrcoef(frame["g"], frame["h"])[0, 1] ** 2, abs=1e-5)
    counts = pd.crosstab(frame["word"], frame["other"]).to_numpy()
    assert found[3, 5] == pytest.approx(chi2_contingency(counts, correction=False)[0] / n / 2, abs=1e-5)
    assert set(found) == {(0, 1), (2, 4), (3, 5)}


def test_r2_of_a_number_and_labels_is_the_squared_correlation_ratio():
    rng = np.random.default_rng(1)
    word = rng.integers(0, 3, 300)
    frame = pd.DataFrame({"x": word + 0.8 * rng.normal(size=300), "word": pd.Categorical(np.array(list("abc"))[word])})
    linkage = make_linkage(as_table(frame), np.arange(2), np.arange(2), np.zeros(2, dtype=bool))
    assert linkage is not None
    means = frame.groupby("word", observed=True)["x"].transform("mean")
    assert linkage.r2[0] == pytest.approx(means.var(ddof=0) / frame["x"].var(ddof=0), abs=1e-5)


def test_samples_are_taken_at_distances_and_pairs_compared_again(monkeypatch):
    X = np.random.default_rng(0).normal(size=(5000, 20))
    X[:, 1] += X[:, 0]
    table, everything = as_table(X), np.arange(20)
    whole = make_linkage(table, everything, everything, np.zeros(20, dtype=bool))
    monkeypatch.setattr("interplay.infer.linkage._MAX_PRODUCTS", 1.0)
    some = make_linkage(table, everything, everything, np.zeros(20, dtype=bool))
    assert whole is not None
    assert some is not None
    assert whole.pairs.tolist() == some.pairs.tolist() == [[0, 1]]
    assert whole.r2[0] == pytest.approx(some.r2[0], abs=1e-6)


def test_too_many_pairs_raise_the_floor(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1)) + rng.normal(size=(400, 30)) * rng.uniform(0.3, 1.5, 30)
    monkeypatch.setattr("interplay.infer.linkage.MAX_PAIRS", 50)
    linkage = make_linkage(as_table(X), np.arange(30), np.arange(30), np.zeros(30, dtype=bool))
    assert linkage is not None
    assert len(linkage.r2) == 50
    r2 = np.sort(np.corrcoef(X.T)[np.triu_indices(30, 1)] ** 2)[::-1]
    assert np.sort(linkage.r2)[::-1] == pytest.approx(r2[:50], abs=1e-5)
    assert linkage.floor == pytest.approx(r2[49], abs=1e-5)


def test_correlated_tuples_join_the_strongest(tmp_path):
    X, y = copies()
    found = interplay.interactions(X, y)
    clumps = found.clumps()
    assert clumps["members"][0] == ("x0", "x1")
    assert {("x1", "x5"), ("x0", "x6"), ("x5", "x7")} <= set(clumps["joined"][0])
    assert clumps["size"].sum() == len(found)
    assert "span" not in clumps
    assert "signal" in found.summary()
    found.save(tmp_path / "pairs.interplay")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs.interplay").clumps(), clumps)
    pd.testing.assert_frame_equal(found.clumps(X=X), clumps)
    assert len(found.clumps(r2=1.0)) == len(found)


def test_spans_are_those_of_the_members_of_the_lead():
    X, y = copies()
    places = {f"x{v}": ("6", 100 * v) for v in range(12)}
    found = interplay.interactions(X, y)
    assert found.clumps(positions=places)["span"][0] == "6:0-500 × 6:100-700"
    near = interplay.interactions(X, y, min_distance=1, positions=places)
    assert near.clumps()["span"][0] == "6:0-500 × 6:100-700"


def test_selection_clumps_and_its_interactions():
    X, y = copies()
    selection = interplay.select(X, y, dimensions=2, random_state=0)
    clumps = selection.clumps()
    assert sorted(clumps["size"]) == [2, 3]
    assert set(clumps["variable"]) == {"x0", "x1"}
    assert "signals" not in selection.summary()  # one notion of sameness, unless a threshold is asked for
    assert "By correlations of r² ≥ 0.3" in selection.with_clumps(0.3).summary()
    assert selection.interactions().clumps()["members"][0] == ("x0", "x1")
    assert len(selection.with_clumps(0.99).clumps(0.99)) == len(selection.relevant)
    assert "signals" not in selection.with_clumps(0.99).summary()


def test_parts_need_the_samples():
    X, y = copies(400)
    parts = [interplay.interactions(X, y, shard=(i, 2)) for i in (1, 2)]
    merged = interplay.merge_interactions(parts)
    with pytest.raises(ValueError, match="X is needed"):
        merged.clumps()
    whole = interplay.interactions(X, y)
    pd.testing.assert_frame_equal(merged.clumps(X=X), whole.clumps())


def test_network_and_report_show_leads(tmp_path):
    X, y = copies()
    found = interplay.interactions(X, y)
    assert found.graph(only_leads=True).number_of_edges() == len(found.clumps())
    assert found.graph().edges["x0", "x1"]["lead"]
    assert not found.graph().edges["x1", "x5"]["lead"]
    assert "not drawn" in found.plot.network().get_title()
    found.to_html(tmp_path / "pairs.html")
    assert 'id="clumps"' in (tmp_path / "pairs.html").read_text(encoding="utf-8")
    alone = found.with_clumps(1.0)
    alone.to_html(tmp_path / "alone.html")
    assert 'id="clumps"' not in (tmp_path / "alone.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_many_tuples_of_a_wide_table_take_seconds():
    rng = np.random.default_rng(0)
    n_columns, n = 20_000, 500
    X = np.repeat(rng.integers(0, 3, size=(n, n_columns // 10)), 10, axis=1).astype(np.int8)
    X = np.where(rng.random(X.shape) < 0.15, rng.integers(0, 3, size=X.shape), X).astype(np.int8)
    regions = rng.integers(0, n_columns // 10, size=(200, 2))
    tuples = regions[rng.integers(0, 200, 10_000)] * 10 + rng.integers(0, 10, size=(10_000, 2))
    tuples = np.sort(tuples[tuples[:, 0] != tuples[:, 1]], axis=1)
    variables = np.unique(tuples)
    table = as_table(X)
    started = time.process_time()
    linkage = make_linkage(table, variables, variables, np.zeros(len(variables), dtype=bool))
    assert linkage is not None
    leads = np.unique(clump_tuples(tuples, linkage, 0.2))
    assert len(leads) <= 220
    assert time.process_time() - started < 5


def test_ranks_and_blocks_are_those_of_scipy(monkeypatch):
    """Ties, gaps and several blocks of columns."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=(400, 1))
    X = np.where(rng.random((400, 40)) < 0.5, base, rng.normal(size=(400, 40))).round(1)
    monkeypatch.setattr("interplay.infer.linkage._BLOCK", 7)
    monkeypatch.setattr("interplay.infer.linkage._BLOCK_WIDTH", 11)
    monkeypatch.setattr("interplay.infer.linkage._VALUES", 2000)
    linkage = make_linkage(as_table(X), np.arange(40), np.arange(40), np.ones(40, dtype=bool))
    assert linkage is not None
    r2 = spearmanr(X).statistic ** 2
    one, other = np.nonzero(np.triu(r2 >= FLOOR, 1))
    assert linkage.pairs.tolist() == np.column_stack([one, other]).tolist()
    np.testing.assert_allclose(linkage.r2, r2[one, other], atol=1e-5)
