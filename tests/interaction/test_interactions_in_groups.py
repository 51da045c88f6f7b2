"""interactions(groups=): samples of one group are alike, so that p-values come from permutations of whole groups."""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import donor_cells
import interplay
from command_line import in_process
from gpu_mark import ENGINES
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.cpu import CpuEngine
from interplay.show.report.interaction_page import methods_words

donors = partial(donor_cells.donors, n_cells=30)


def with_pair(seed=0, **settings):
    """Two variables that go together in cells of the ill, and against each other in the others."""
    X, y, donor = donors(seed=seed, **settings)
    rng = np.random.default_rng(1000 + seed)
    common = rng.normal(size=len(y))
    X[:, 3] = 0.8 * common + 0.6 * rng.normal(size=len(y))
    X[:, 7] = 0.8 * np.where(y == 1, common, -common) + 0.6 * rng.normal(size=len(y))
    return X, y, donor


def all_relabelings(n_donors, n_cells):
    """Every division of the donors into halves but the observed one, as labels of cells."""
    for ill in combinations(range(n_donors), n_donors // 2):
        labels = np.isin(np.arange(n_donors), ill).astype(int)
        if (labels != np.arange(n_donors) % 2).any():
            yield np.repeat(labels, n_cells)


def log_p_of(X, y, **settings):
    """χ²'s p-value of every tuple, from a search that lists all of them."""
    table = interplay.interactions(X, y, **settings | {"coding": "levels", "max_p": 1}).table
    tail = np.where(table["df"] > 0, chi2.logsf(table["chi2"], np.maximum(table["df"], 1)), 0.0)
    return pd.Series(tail, index=table["members"])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"divisions": 2},
        {"dimensions": 3},
        {"strata": np.arange(96) % 2},
        {"discretizations": 3, "random_state": 4},
        {"variables": [3], "require": "any"},
        {"variables": [3, 4], "partners": [3, 6, 7]},
        {"missing": "omit"},
        {"missing": "omit", "divisions": 2, "strata": np.arange(96) % 2},
    ],
)
@pytest.mark.filterwarnings("ignore:.*column")
def test_p_values_are_those_of_brute_force(settings):
    """All 19 other divisions of six donors, by whole calls of interactions."""
    X, y, donor = with_pair(n_donors=6, n_cells=16, n_vars=8, seed=3)
    if "missing" in settings:
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    observed = log_p_of(X, y, **settings)
    permuted = pd.concat([log_p_of(X, codes, **settings) for codes in all_relabelings(6, 16)], axis=1)
    smallest = permuted.min().to_numpy()
    found = interplay.interactions(X, y, groups=donor, level=0.9, top=len(observed), **settings)
    assert found.provenance["groups"]["permutations_done"] == 19  # nothing stopped early
    table = found.table.set_index("members")
    assert set(table.index) == set(observed.index)
    bar = observed + 1e-6 * np.maximum(1, observed.abs())
    adjusted = [(1 + (smallest <= bar[members]).sum()) / 20 for members in table.index]
    own = [(1 + (permuted.loc[[members]].to_numpy() <= bar[members]).sum()) / 20 for members in table.index]
    assert table["p_adjusted"].tolist() == pytest.approx(adjusted)
    assert table["p_value"].tolist() == pytest.approx(own)
    assert (table["method"] == "permutations").all()
    assert table["p_adjusted"].is_monotonic_increasing
    significant = interplay.interactions(X, y, groups=donor, level=0.9, **settings)
    pd.testing.assert_frame_equal(
        significant.table, found.table[found.table["p_adjusted"] < 0.9].reset_index(drop=True), check_dtype=False
    )


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_donors_without_interactions(shift):
    """Noise, and effects that add up: something in most tables if cells are taken as independent, hardly any if not."""
    n_plain = n_grouped = 0
    for seed in range(20):
        X, y, donor = donors(seed=100 + seed)
        X[:, :4] += shift * y[:, np.newaxis]
        n_plain += (interplay.interactions(X, y).table["p_adjusted"] < 0.05).any()  # also what columns explain
        n_grouped += bool(interplay.interactions(X, y, groups=donor).significant)
    assert n_plain >= 5
    assert n_grouped <= 3  # 4 or more have a probability of 0.016 at a rate of 0.05


def test_an_interaction_within_cells_is_found():
    X, y, donor = with_pair()
    found = interplay.interactions(X, y, groups=donor)
    assert found.significant == [("x3", "x7")]
    assert found.table["p_adjusted"].tolist() == [0.005]
    assert found.table[["ci_low", "ci_high"]].isna().all(axis=None)  # those of independent samples


def test_an_interaction_of_donors_is_found():
    """Two properties of the donors of which just one makes them ill."""
    X, _, donor = donors(n_donors=24)
    X[:, 2], X[:, 5] = donor % 2, donor // 2 % 2
    assert interplay.interactions(X, (donor % 2) ^ (donor // 2 % 2), groups=donor).significant == [("x2", "x5")]


def test_every_sample_a_group_is_a_permutation_of_samples():
    """Independent samples lose nothing but the digits of the p-value."""
    X, y, _ = with_pair(icc=0.0)
    found = interplay.interactions(X, y, groups=np.arange(len(y)))
    assert found.significant == interplay.interactions(X, y).significant == [("x3", "x7")]


def test_classes_may_vary_within_groups_and_be_three():
    X, _, donor = donors(n_donors=60, n_cells=6)
    rng = np.random.default_rng(2)
    y = ((X[:, 3] > 0) ^ (X[:, 7] > 0)) + (rng.random(len(donor)) < 0.3)
    found = interplay.interactions(X, y.astype(int), groups=donor, n_permutations=99)
    assert found.significant == [("x3", "x7")]
    assert "within groups and between groups of the same size" in found.summary()


def test_it_stops_where_nothing_can_become_significant():
    X, y, donor = donors()
    found = interplay.interactions(X, y, groups=donor, top=2)
    assert found.provenance["groups"]["permutations_done"] < 60
    assert not found.significant
    assert (found.table["p_adjusted"] >= found.table["p_value"]).all()
    assert "show that nothing is significant" in found.summary()
    nothing = interplay.interactions(X, y, groups=donor)
    assert len(nothing) == 0
    assert "In more than 5% of the permutations" in nothing.summary()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("settings", [{}, {"dimensions": 3, "divisions": 2, "n_permutations": 30}])
def test_engines_and_threads_change_nothing(engine, settings):
    X, y, donor = with_pair()
    settings = {"groups": donor, "top": 5, **settings}
    alone = interplay.interactions(X, y, **settings)
    there = interplay.interactions(X, y, engine=engine, n_jobs=2, **settings)
    pd.testing.assert_frame_equal(there.table, alone.table)


def test_a_cluster_finds_the_same():
    distributed = pytest.importorskip("distributed")
    X, y, donor = with_pair()
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
        there = interplay.interactions(X, y, groups=donor, n_permutations=25, top=3, engine=client)
    alone = interplay.interactions(X, y, groups=donor, n_permutations=25, top=3)
    pd.testing.assert_frame_equal(there.table, alone.table)


def test_the_result_says_what_it_is(tmp_path):
    X, y, donor = with_pair()
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)]).assign(donor=donor, ill=y)
    found = interplay.interactions(frame, "ill", groups="donor", n_permutations=59, random_state=2)
    assert found.headline() == "1 of 66 pairs has an interaction (permutation-adjusted p < 0.05)"
    assert "p-values from 59 permutations of the labels of 20 whole groups" in found.summary()
    assert "single-step minP" in methods_words(found)
    assert "20 groups" in methods_words(found)
    assert found.provenance["groups"]["smallest_p"] == pytest.approx(1 / 60)
    again = interplay.interactions(frame, "ill", groups="donor", **found.settings)
    pd.testing.assert_frame_equal(again.table, found.table)
    found.save(tmp_path / "pairs")
    loaded = interplay.load(tmp_path / "pairs")
    assert loaded.summary() == found.summary()
    pd.testing.assert_frame_equal(loaded.table, found.table)
    loaded.to_html(tmp_path / "pairs.html")
    found.plot.effects()


def test_the_command_is_the_function(tmp_path, monkeypatch, capfd):
    X, y, donor = with_pair()
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)]).assign(donor=[f"d{d}" for d in donor], ill=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ("interactions", tmp_path / "data.csv", "--target", "ill", "--groups", "donor", "--seed", "0")
    done = in_process(monkeypatch, capfd, *command, "--n-permutations", "59", "--save", tmp_path / "pairs")
    assert done.code == 0, done.err
    expected = interplay.interactions(pd.read_csv(tmp_path / "data.csv"), "ill", groups="donor", n_permutations=59)
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, expected.table)
    assert done.out.startswith(expected.headline())
    refused = in_process(monkeypatch, capfd, *command, "--max-p", "0.01")
    assert refused.code != 0
    assert "--max-p 0.01 does not go with groups" in refused.error_line


def test_progress_is_told_and_ctrl_c_stops(monkeypatch):
    X, y, donor = with_pair()
    told = []
    interplay.interactions(X, y, groups=donor, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    calls, search = [], CpuEngine.search

    def interrupted(self, *args, **named):
        calls.append(1)
        if len(calls) == 50:
            raise KeyboardInterrupt
        search(self, *args, **named)

    monkeypatch.setattr(CpuEngine, "search", interrupted)
    with pytest.raises(SearchInterrupted) as stopped:
        interplay.interactions(X, y, groups=donor)
    assert 0.2 < stopped.value.done < 0.3


def test_cells_of_donors_without_groups_are_warned_of():
    X, y, donor = donors()
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)]).assign(donor=donor)
    with pytest.warns(UserWarning, match="use groups='donor'"):
        interplay.interactions(frame, y)
