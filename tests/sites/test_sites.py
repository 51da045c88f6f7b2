"""Searches over sites: equal to the search of one table with the site as a stratum, byte for byte."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import interplay
from interplay.infer.interaction.interaction_test import g2_thresholds
from interplay.infer.interaction.prospects import site_shares
from interplay.show.results.result import table_bytes
from interplay.sites import combine_sites, count_at_site, list_at_site, plan_sites


def over_sites(X, y, site, *, min_cell=0, files=None, **asked):
    """Search a table whose samples are spread over sites; the plan is made without a table, if this can be."""
    y, site = np.asarray(y), np.asarray(site)
    common = {"sites": sorted(set(site.tolist())), "classes": sorted(set(y.tolist())), "target": "y", **asked}
    plan: Any
    if "merge_rare" in asked:
        plan = plan_sites(X, y, **common)
    else:
        plan = plan_sites(levels={name: _levels(X[name]) for name in X.columns}, **common)
    if files is not None:
        plan.save(files / "plan.json")
        plan = files / "plan.json"
    tables = {name: (X[site == name], y[site == name]) for name in sorted(set(site.tolist()))}
    lists: list[Any] = [list_at_site(plan, *table, site=name) for name, table in tables.items()]
    lists = [_kept(one, files, f"{place}.list") for place, one in enumerate(lists)]
    counts: list[Any] = [
        count_at_site(plan, *table, site=name, lists=lists, min_cell=min_cell) for name, table in tables.items()
    ]
    return combine_sites(plan, [_kept(one, files, f"{place}.counts") for place, one in enumerate(counts)][::-1])


def _kept(one, folder, name):
    if folder is None:
        return one
    one.save(folder / name)
    return folder / name


def _levels(column):
    values = sorted(set(column.dropna().tolist()))
    # A level more than there is: no site has it.
    return [*values, "zzz"] if values and isinstance(values[0], str) else [*values, 99]


def assert_equal(found, pooled):
    # Sites send no samples for tests beside other columns.
    table = pooled.table.drop(columns=["p_beside", "p_beside_adjusted", "explained_by"], errors="ignore")
    table["significant"] |= pooled.is_explained
    assert table_bytes(found.table, "csv") == table_bytes(table, "csv")
    pd.testing.assert_frame_equal(found.table, table, check_exact=True)
    assert found.n_tests == pooled.n_tests
    assert found.significant == table.members[table.significant].to_list()
    assert found.class_sizes == pooled.class_sizes
    assert found.provenance["strata"] == pooled.provenance["strata"]
    for one, other in zip(found.counts, pooled.counts, strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
        assert one.level_names == other.level_names


@st.composite
def problems(draw):
    """Tables with levels, classes and missing values that some sites lack, and sites of different sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_sites, n_vars = draw(st.integers(2, 20)), draw(st.integers(3, 7))
    n_classes = draw(st.sampled_from([2, 2, 2, 3]))
    n = int(rng.integers(25, 120)) * n_sites
    site = rng.choice(n_sites, n, p=rng.dirichlet(np.full(n_sites, 3.0)))
    cardinality = rng.integers(2, draw(st.sampled_from([2, 3, 4])) + 1, n_vars)
    X = np.stack([rng.choice(c, n, p=rng.dirichlet(np.full(c, 2.0))) for c in cardinality], axis=1).astype(float)
    strength = draw(st.sampled_from([0.0, 0.15, 0.35]))
    score = ((X[:, 0] + X[:, 1]) % 2 == 0) ^ (rng.random(n) > 0.5 + strength)
    y = np.where(score, 1, 0) if n_classes == 2 else np.where(rng.random(n) < 0.2, 2, score)
    for v in range(n_vars):  # a site does not have the highest level of a column
        lacking = rng.integers(n_sites)
        X[(site == lacking) & (X[:, v] == cardinality[v] - 1), v] = 0
    missing = draw(st.sampled_from(["error", "level", "omit"]))
    if missing != "error":
        X[rng.random(X.shape) < rng.choice([0.0, 0.05, 0.2], n_vars)] = np.nan
    if n_classes == 3:
        y[(site == 0) & (y == 2)] = 0
    frame = pd.DataFrame(X, columns=[f"g{v}" for v in range(n_vars)])
    if draw(st.booleans()):
        frame["g0"] = frame["g0"].map({0.0: "a", 1.0: "b", 2.0: "c", 3.0: "d"})
    names = np.array([f"site {number:02}" for number in range(n_sites)])
    keep = np.isin(site, [s for s in range(n_sites) if len(set(y[site == s])) > 1])
    asked = {
        "dimensions": draw(st.sampled_from([2, 2, 3])),
        "missing": missing,
        "p_adjust": draw(st.sampled_from(["holm", "BH", "bonferroni", "none"])),
        "max_p": draw(st.sampled_from([None, 0.01, 0.2, 1.0])),
        "random_state": 7,
    }
    return {"X": frame[keep], "y": y[keep], "site": names[site[keep]], **asked}


@given(problems())
@settings(max_examples=25, deadline=None)
def test_sites_give_what_one_table_gives(problem):
    X, y, site = problem.pop("X"), problem.pop("y"), problem.pop("site")
    if len(set(site.tolist())) < 2 or len(set(y.tolist())) < 2 or np.bincount(y)[np.unique(y)].min() < 2:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pooled = interplay.interactions(X, y, strata=site, discrete="all", **problem, coding="levels")
        found = over_sites(X, y, site, list_up_to=max(problem["max_p"] or 0.05, 0.05), **problem)
    assert_equal(found, pooled)


def study(n=1500, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, p))
    site = rng.choice(["Basel", "Turku", "Wien"], n)
    y = ((X[:, 2] > 0) ^ (X[:, 7] > 0)) ^ (rng.random(n) < 0.35)
    return pd.DataFrame(X, columns=[f"rs{v}" for v in range(p)]), np.where(y, "ill", "well"), site


def test_files_give_the_same_as_objects(tmp_path):
    X, y, site = study()
    found, by_file = over_sites(X, y, site), over_sites(X, y, site, files=tmp_path)
    assert found.significant == [("rs2", "rs7")]
    assert_equal(by_file, found)
    assert_equal(found, interplay.interactions(X, y, strata=site, coding="levels"))
    by_file.save(tmp_path / "result")
    again = interplay.load(tmp_path / "result")
    assert again.summary() == by_file.summary()
    again.to_html(tmp_path / "report.html")
    assert "rs7" in (tmp_path / "report.html").read_text(encoding="utf-8")
    # Files can be read: they say what they are, in words.
    text = (tmp_path / "0.counts").read_text(encoding="utf-8")
    assert text.startswith("# interplay: count file of a site, version 1\n# This file leaves the site.")
    assert "rs2\trs7\t" in text
    assert "It is not anonymous" in text


def test_default_plan_lists_few_tuples(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (900, 60))
    y = X[:, 2] ^ X[:, 7] ^ (rng.random(900) < 0.3)
    site = np.repeat(["a", "b", "c"], 300)
    plan = plan_sites(X[:300], y[:300], sites=["a", "b", "c"])
    assert plan.expected_share() < 0.05
    lists = [list_at_site(plan, X[site == name], y[site == name], site=name) for name in "abc"]
    assert all([2, 7] in one.tuples.tolist() for one in lists)
    assert sum(map(len, lists)) < 150  # of 1770
    counts = [count_at_site(plan, X[site == name], y[site == name], site=name, lists=lists) for name in "abc"]
    assert_equal(combine_sites(plan, counts), interplay.interactions(X, y, strata=site, coding="levels"))


def test_lists_do_not_depend_on_threads():
    X, y, site = study()
    plan = plan_sites(X, y, sites=["Basel", "Turku", "Wien"])
    rows = site == "Turku"
    one, other = (list_at_site(plan, X[rows], y[rows], site="Turku", n_jobs=n) for n in (1, 3))
    assert len(one) > 0
    np.testing.assert_array_equal(one.tuples, other.tuples)


@pytest.mark.parametrize("n_sites", [2, 3, 7, 20])
@pytest.mark.parametrize("max_p", [0.2, 1e-3, 1e-9])
def test_shares_add_up_to_the_threshold_at_most(n_sites, max_p):
    rng = np.random.default_rng(n_sites)
    shares = site_shares(max_p, 12, n_sites)
    of_whole = g2_thresholds(max_p, 12 * n_sites)
    for df in rng.integers(1, 13, (200, n_sites)):
        assert shares[df].sum() <= of_whole[df.sum()]
    # Sites that have the same degrees of freedom have shares that leave little room.
    assert shares[4] * n_sites > 0.5 * of_whole[4 * n_sites] or max_p > 0.05


def test_small_cells_stay_at_the_site():
    X, y, site = study(n=1200)
    pooled = interplay.interactions(X, y, strata=site, max_p=1, coding="levels")
    found = over_sites(X, y, site, max_p=1, min_cell=9)
    about = found.provenance["sites"]
    withheld = sum(one["n_withheld"] for one in about.values())
    assert 0 < withheld < 3 * 66
    assert any("withheld" in note for note in found.notes())
    both = found.table.set_index("members")
    whole = pooled.table.set_index("members").loc[both.index]
    assert (both["n_samples"] < whole["n_samples"]).sum() > 0
    # A tuple is tested in the sites that have sent its table.
    members = both.index[(both["n_samples"] < whole["n_samples"]) & (both["n_samples"] > 0)][0]
    sizes = pd.Series(site).value_counts()
    kept = [name for name in sizes.index if not _has_small_cell(X[site == name], y[site == name], members, 9)]
    rows = np.isin(site, kept)
    alone = interplay.interactions(X[rows], y[rows], strata=site[rows], max_p=1, coding="levels").table.set_index(
        "members"
    )
    assert alone.loc[[members]]["chi2"].iloc[0] == pytest.approx(both.loc[[members]]["chi2"].iloc[0], rel=1e-9)
    # Nothing is said of them where nothing is withheld.
    assert not any("withheld" in note for note in over_sites(X, y, site).notes())


def test_the_headline_says_what_could_not_be_tested():
    X, y, site = study(n=400)
    found = over_sites(X, y, site, max_p=1, min_cell=40)
    n = found.provenance["counted"]
    assert found.provenance["untested"] == n > 0
    assert f"; {n} more could not be tested, as every site withheld the table" in found.summary()
    n_sites = len(np.unique(site))
    assert f"; {n * n_sites} of {n * n_sites} tables)" in found.summary()


def test_a_class_that_is_a_small_cell_is_refused():
    X, y, site = study(n=1200)
    first = site == np.unique(site)[0]
    few = ~first | (y != np.unique(y)[0])
    few[np.flatnonzero(~few)[:3]] = True
    with pytest.raises(ValueError, match=r"^min_cell is 5, and class '.*' has fewer samples at this site"):
        over_sites(X[few], y[few], site[few], max_p=1, min_cell=5)


def test_rare_genotypes_are_merged_in_the_plan():
    rng = np.random.default_rng(4)
    n, frequency = 1500, np.array([0.05, 0.2, 0.5, 0.95, 0.3, 0.4])
    X = pd.DataFrame(rng.binomial(2, frequency, (n, 6)), columns=[f"rs{v}" for v in range(6)])
    X["rs1"] = X["rs1"].where(rng.random(n) > 0.02)
    y = (X["rs4"] > 0) ^ (X["rs5"] > 0) ^ (rng.random(n) < 0.3)
    site = np.repeat(["a", "b", "c"], n // 3)
    plan = plan_sites(X, y, sites=["a", "b", "c"], missing="omit", merge_rare=0.1)
    assert [column.thresholds for column in plan.columns] == [(0.0,), (0.0,), (), (1.0,), (0.0,), ()]
    assert [column.n_levels for column in plan.columns] == [2, 2, 3, 2, 2, 3]
    found = over_sites(X, y, site, missing="omit", merge_rare=0.1, min_cell=5)
    assert found.significant == [("rs4", "rs5")]
    withheld = sum(one["n_withheld"] for one in found.provenance["sites"].values())
    plain = over_sites(X, y, site, missing="omit", min_cell=5)
    assert withheld < sum(one["n_withheld"] for one in plain.provenance["sites"].values())
    # The same as one table in which genotypes are merged.
    merged = X.copy()
    for name in ("rs0", "rs1", "rs4"):
        merged[name] = (X[name] > 0).where(X[name].notna()).astype(float)
    merged["rs3"] = (X["rs3"] > 1).astype(float)
    whole = interplay.interactions(merged, y, strata=site, missing="omit", max_p=1, coding="levels").table.set_index(
        "members"
    )
    ours = over_sites(X, y, site, missing="omit", merge_rare=0.1, max_p=1).table.set_index("members")
    np.testing.assert_allclose(ours["chi2"], whole.loc[ours.index, "chi2"], rtol=1e-9)


def _attack(counts, n_levels, *, lacking=True, merged=None):
    """Return the samples by column, level and class whose number linear programming finds.

    It sees the file alone: the tables of pairs and the sizes of the classes. With `lacking`, samples that lack a value
    in another column; `merged` are the levels that tables have for those of the samples.
    """
    p, n_classes = len(counts.plan.columns), len(counts.class_sizes)
    cells = np.array(list(np.ndindex(*[n_levels + 1] * p, n_classes)))
    seen = cells.copy()
    if merged is not None:
        seen[:, :-1] = np.array(merged)[cells[:, :-1]]
    rows = [cells[:, -1] == q for q in range(n_classes)]
    sums = counts.class_sizes.tolist()
    begin = 0
    for members, is_withheld in zip(counts.tuples.tolist(), counts.is_withheld.tolist(), strict=True):
        size = counts.plan.table_size(tuple(members))
        n_seen = n_levels if merged is None else max(merged)
        for entry, cell in enumerate([] if is_withheld else np.ndindex(n_seen, n_seen, n_classes)):
            rows.append((seen[:, [*members, p]] == cell).all(axis=1))
            sums.append(int(counts.counts[begin + entry]))
        begin += size
    equations = np.array(rows, dtype=float)
    found = {}
    for column in range(p):
        for level, q in np.ndindex(n_levels, n_classes):
            wanted = (cells[:, column] == level) & (cells[:, -1] == q)
            if lacking:
                wanted &= (cells[:, :-1] == n_levels).any(axis=1)
            ends = [
                linprog(sign * wanted, A_eq=equations, b_eq=sums, bounds=(0, None)).fun * sign for sign in (1.0, -1.0)
            ]
            if abs(ends[1] - ends[0]) < 1e-6:
                found[column, level, q] = round(ends[0])
    return found


@pytest.mark.parametrize("missing", ["omit", "level"])
def test_counts_are_not_anonymous_and_say_so(missing, tmp_path):
    """One person lacks one value; with missing values left out, the others of that person follow from the counts."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 3)).astype(float)
    y = np.where((X[:, 0] != X[:, 1]) ^ (rng.random(300) < 0.2), "ill", "well")
    X[7, 1] = np.nan
    plan = plan_sites(X, y, sites=["a", "b"], missing=missing, list_up_to=1.0)
    lists = [list_at_site(plan, X, y, site=site) for site in ("a", "b")]
    counts = count_at_site(plan, X, y, site="a", lists=lists, min_cell=5)
    counts.save(tmp_path / "a.counts")
    text = (tmp_path / "a.counts").read_text()
    assert "It is not anonymous: counts of smaller groups, down to one person," in text
    assert "no values of" not in text
    if missing == "omit":
        found = _attack(counts, 2)
        q = list(plan.classes).index(y[7])
        assert found[0, int(X[7, 0]), q] == found[2, int(X[7, 2]), q] == 1
    else:  # the tables with the one missing value stay at the site
        assert counts.is_withheld[(counts.tuples == 1).any(axis=1)].all()


def _has_small_cell(X, y, members, least):
    counts = pd.crosstab([X[name] for name in members], y).to_numpy()
    return bool(((counts > 0) & (counts < least)).any())


def test_numbers_are_cut_at_the_thresholds_of_the_plan():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(900, 6)), columns=list("abcdef"))
    y = ((X["a"] > 0) ^ (X["d"] > 0)).to_numpy() ^ (rng.random(900) < 0.3)
    site = np.repeat(["s1", "s2"], 450)
    pooled = interplay.interactions(X, y, strata=site, max_p=1, coding="levels")
    thresholds = {X.columns[cuts.variable]: cuts.thresholds[0].tolist() for cuts in pooled.cuts}
    plan = plan_sites(sites=["s1", "s2"], thresholds=thresholds, classes=[False, True], max_p=1)
    tables = [(X[site == name], y[site == name]) for name in ("s1", "s2")]
    lists = [list_at_site(plan, *table, site=name) for name, table in zip(plan.sites, tables, strict=True)]
    counts = [count_at_site(plan, *table, site=s, lists=lists) for s, table in zip(plan.sites, tables, strict=True)]
    found = combine_sites(plan, counts)
    smooth = ["p_smooth", "p_smooth_adjusted", "holds_smooth"]
    pd.testing.assert_frame_equal(found.table, pooled.table.drop(columns=smooth), check_exact=True)
    assert any("smooth effects" in note for note in found.notes())
    assert found.replicate(X, y).significant == [("a", "d")]


def test_merged_genotypes_do_not_follow_from_all_tables():
    """Merged in every table alike, they are in no difference of two tables; in withheld tables they often are."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.binomial(2, 0.15, size=(400, 3)).astype(float), columns=list("abc"))
    X.iloc[::40, 1] = np.nan
    y = np.where(rng.random(400) < 0.5, "ill", "well")
    found = {}
    for merged in (None, (0, 1, 1, 2)):
        rare = {} if merged is None else {"merge_rare": 0.1}
        plan = plan_sites(X, y, sites=["a", "b"], missing="omit", list_up_to=1.0, **rare)
        lists = [list_at_site(plan, X, y, site=site) for site in ("a", "b")]
        counts = count_at_site(plan, X, y, site="a", lists=lists)
        found[merged] = _attack(counts, 3, lacking=False, merged=merged)
    is_known = {place: number for place, number in found[None].items() if place[0] != 1}
    assert sorted(is_known) == [(column, level, q) for column in (0, 2) for level in range(3) for q in range(2)]
    assert not any(level for _, level, _ in found[0, 1, 1, 2])
