"""groups= and permutations=: p-values that hold where samples are not independent, on every way through the product."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay
from command_line import in_process
from donor_cells import donors
from gpu_mark import ENGINES
from interplay.ask.relabelings import permuted_outcomes
from interplay.ask.selection.part import Part
from interplay.ask.selection.settings import MAX_PERMUTED_TUPLES, check_selection_settings
from interplay.data.codes.contrast import GroupOrders
from interplay.data.study.comparisons import Comparison
from interplay.data.study.design import Design, Groups, make_groups
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.table import as_table
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.cpu import CpuEngine
from interplay.show.report.words import summary_sentences


def by_hand(X, y, groups, strata=None, n=199, **settings):
    """Step-down maxT from whole calls of max_information_gain, one per relabeling.

    Where classes vary within groups, the larger of the gain and the correlation within groups counts.
    """
    design = Design(len(y), strata, None if groups is None else Groups(np.asarray(groups)))
    comparison = Comparison("all classes", as_table(X), DecisionClasses(np.asarray(y), [0, 1]), design)
    relabeled = list(permuted_outcomes(comparison, n_permutations=n, seed=7))
    labelings = [each.codes for each in [comparison.classes, *relabeled]]
    gains = np.array([interplay.max_information_gain(X, codes, strata=strata and strata.codes, **settings).gain
                      for codes in labelings])  # fmt: skip
    if groups is not None and any(len(set(y[groups == one])) > 1 for one in np.unique(groups)):
        within = np.array([correlations_by_hand(X, codes, groups, strata) for codes in labelings])
        gains = np.maximum(*(each / np.median(each.max(axis=1)) for each in (gains, within)))
    observed, permuted = gains[0], gains[1:]
    order = np.argsort(-observed)
    p = np.empty(len(observed))
    worst = 0.0
    for place, v in enumerate(order):
        reached = (permuted[:, order[place:]].max(axis=1) >= observed[v] - 1e-9).sum()
        worst = max(worst, (1 + reached) / (1 + len(permuted)))
        p[v] = worst
    return p, (1 + (permuted >= observed - 1e-9).sum(axis=0)) / (1 + len(permuted))


def correlations_by_hand(X, codes, groups, strata):
    """Squared correlations of normal scores with the second class, both less their means in group and stratum."""
    cell = groups * 100 + (0 if strata is None else strata.codes)
    parts = [np.full(len(X), True)] if strata is None else [strata.codes == one for one in np.unique(strata.codes)]
    found = []
    for column in X.T:
        x, y = np.zeros(len(X)), codes.astype(float)
        for part in parts:
            x[part] = stats.norm.ppf((stats.rankdata(column[part]) - 0.5) / part.sum())
        for one in np.unique(cell):
            x[cell == one] -= x[cell == one].mean()
            y[cell == one] -= y[cell == one].mean()
        found.append((x @ y) ** 2 / (x @ x))
    return found


@pytest.mark.parametrize(("dimensions", "n_donors"), [(1, 20), (2, 8), (2, 20), (3, 8)])
def test_p_values_are_those_of_brute_force(dimensions, n_donors):
    """All 69 other divisions of eight donors, or 199 of twenty; with something to find, so that nothing stops early."""
    X, y, donor = donors(n_donors)
    X[:, 4] += 3 * y
    settings = {"dimensions": dimensions, "discretizations": 2, "random_state": 7}
    found = interplay.select(X, y, groups=donor, **settings)
    p_adjusted, p_value = by_hand(X, y, donor, **settings)
    assert found.p_adjusted == pytest.approx(p_adjusted)
    assert found.p_value == pytest.approx(p_value)
    assert found.relevant[:1] == ["x4"]
    assert found.provenance["groups"]["n_permutations"] == (69 if n_donors == 8 else 199)
    assert found.provenance["groups"]["all_permutations"] == (n_donors == 8)
    assert found.provenance["groups"]["smallest_p"] == pytest.approx(2 / 70 if n_donors == 8 else 1 / 200)
    assert found.settings["permutations"] is True
    assert found.settings["n_contrast"] == 0


def test_cells_are_not_replicates():
    """What independent cells would mean is found everywhere; whole donors find nothing."""
    n_found = {"cells": 0, "donors": 0}
    for seed in range(10):
        X, y, donor = donors(20, 30, 20, icc=0.3, seed=seed)
        for dimensions in (1, 2):
            n_found["cells"] += len(interplay.select(X, y, dimensions=dimensions, random_state=0).relevant) > 0
            found = interplay.select(X, y, dimensions=dimensions, groups=donor, n_permutations=59, random_state=0)
            n_found["donors"] += len(found.relevant) > 0
    assert n_found["cells"] >= 18
    assert n_found["donors"] <= 3


def test_a_donors_label_is_found():
    X, y, donor = donors(20, 30, 20, icc=0.2, seed=3)
    X[:, 5] += 1.5 * y
    for dimensions in (1, 2):
        assert interplay.select(X, y, dimensions=dimensions, groups=donor, random_state=0).relevant == ["x5"]


def test_permutations_without_groups_agree_with_the_fitted_null():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 15))
    y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    plain, permuted = (interplay.select(X, y, permutations=p, random_state=0) for p in (None, True))
    assert sorted(plain.relevant) == sorted(permuted.relevant) == ["x11", "x3"]
    assert permuted.p_adjusted[3] == 1 / 200
    assert "permutations" not in plain.settings  # as it is by default
    assert (permuted.p_value <= permuted.p_adjusted).all()
    assert "199 permutations" in permuted.details()


@pytest.mark.parametrize("name", ["families", "donors in batches", "cell types of donors", "pairs"])
def test_strata_and_classes_within_groups(name):
    """Brute force again, through relabelings that test_permutations checks."""
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(20), 4)
    strata = None
    y = rng.integers(0, 2, 80)
    if name == "donors in batches":
        y, strata = groups // 2 % 2, groups % 2
    elif name == "cell types of donors":
        y, strata = groups % 2, np.tile([0, 0, 1, 1], 20)
    elif name == "pairs":
        y = np.tile([0, 1, 0, 1], 20)
    X = rng.normal(size=(80, 6)) + 3 * np.outer(y, np.arange(6) == 2)
    within = None if strata is None else interplay.data.study.design.make_strata(strata, n_samples=80)
    found = interplay.select(X, y, groups=groups, strata=strata, random_state=7)
    p_adjusted, _ = by_hand(X, y, groups, within, dimensions=2, random_state=7)
    assert found.p_adjusted == pytest.approx(p_adjusted)
    assert found.relevant[:1] == ["x2"]


def test_columns_of_several_levels_are_compared_by_their_tails():
    """Gains of variables with many levels are larger by chance: they must not set the bar for the others."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({f"v{i}": rng.choice(list("abcdefghij"), 400) for i in range(6)})
    y = rng.integers(0, 2, 400)
    frame["two"] = np.where(rng.random(400) < 0.62, y, 1 - y)
    found = interplay.select(frame, y, dimensions=1, permutations=True, random_state=0)
    assert found.relevant == ["two"]
    assert found.gains.gain[:6].max() > 0.6 * found.gains.gain[6]  # by chance alone
    with_pairs = interplay.select(frame, y, dimensions=2, permutations=True, random_state=0)
    assert set(with_pairs.p_adjusted[:6] >= 0.05) == {True}


def test_what_changes_within_patients_is_found():
    """A patient's own level hides it from gains of all samples; shards and `select` agree."""
    rng = np.random.default_rng(9)
    patient = np.repeat(np.arange(12), 10)
    y = np.tile(np.repeat([0, 1], 5), 12)
    X = rng.normal(size=(120, 8)) + 3 * rng.normal(size=(12, 8))[patient]
    X[:, 3] += 1.2 * y
    number = 2 * y + rng.normal(size=120) + 2 * rng.normal(size=12)[patient]
    for outcome in (y, number):
        settings = {"groups": patient, "dimensions": 1, "random_state": 0}
        found = interplay.select(X, outcome, **settings)
        assert found.relevant == ["x3"]
        assert "correlation with the outcome within groups" in " ".join(summary_sentences(found))
        parts = [interplay.search_shard(X, outcome, shard=(i, 2), **settings) for i in (1, 2)]
        assert (interplay.merge_parts(parts).p_adjusted == found.p_adjusted).all()


class TestHugeSearches:
    """The λ way: contrast variables that move whole groups, and gains divided by their inflation."""

    def test_gains_are_divided(self):
        X, y, donor = donors(20, 30, 30, icc=0.2, seed=1)
        X[:, 5] += 2 * y
        found = interplay.select(X, y, groups=donor, permutations=False, random_state=0)
        fit = found.null_fit
        assert found.provenance["groups"]["method"] == "group contrast variables"
        assert 2 < fit.inflation < 12
        assert fit.statistic == pytest.approx(found.gains.gain * 2 * np.log(2) / fit.inflation)
        assert found.relevant == ["x5"]
        assert found.settings["n_contrast"] == 1000
        assert (found.contrast["p_value"] < 0.05).mean() < 0.12
        assert "gains divided by" in found.details()

    def test_inflation_is_the_mean_gain_of_group_contrasts(self):
        X, y, donor = donors(12, 20, 10, icc=0.5, seed=1)
        found = interplay.select(X, y, groups=donor, permutations=False, n_contrast=400, random_state=3)
        table = interplay.data.codes.contrast.contrast_table(as_table(X), 400, seed=3, groups=donor)
        alone = interplay.max_information_gain(table.block(0, 400).T, y, dimensions=1, random_state=3)
        assert found.null_fit.inflation == pytest.approx(alone.gain.mean() * 2 * np.log(2))

    def test_independent_samples_are_hardly_inflated(self):
        X, y, donor = donors(150, 2, 30, icc=0.0, seed=1)
        found = interplay.select(X, y, groups=donor, permutations=False, random_state=0)
        assert 1 <= found.null_fit.inflation < 1.2

    def test_the_number_of_tuples_decides(self):
        def permuted(n_vars, dimensions, discretizations=1, n=199):
            table = as_table(np.broadcast_to(np.zeros(()), (200, n_vars)))
            settings = {
                "dimensions": dimensions, "divisions": 1, "discretizations": discretizations, "range_": None,
                "pseudocount": 0.25, "discrete": "auto", "missing": "error", "random_state": 0, "n_contrast": "auto",
                "p_adjust": "holm", "level": 0.05, "fit": "auto", "decision": "classes", "scale": None,
            "decision_divisions": None,
                "multiclass": "joint",
            }  # fmt: skip
            found = check_selection_settings(
                table, permutations=None, n_permutations=n, has_groups=True, arms=None, **settings
            )
            return found.permutations

        n_pairs = MAX_PERMUTED_TUPLES / 199
        n_vars = int(np.sqrt(2 * n_pairs))
        assert permuted(n_vars, 2)
        assert not permuted(n_vars + 2, 2)
        assert not permuted(n_vars, 2, discretizations=2)
        assert permuted(n_vars * 3, 1, 30)  # in 1D the other way does not hold

    def test_orders_move_whole_groups(self):
        groups = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3])
        strata = np.array([0, 1, 0, 1, 1, 0, 0, 0, 0])
        for seed in range(50):
            order = GroupOrders(groups, strata).draw(np.random.RandomState(seed))
            assert (strata[order] == strata).all()
            for g in range(4):
                assert len(set(groups[order[groups == g]])) == 1  # all values come from one group
        # Of as many samples each, every value is used once.
        even = np.repeat(np.arange(5), 4)
        assert sorted(GroupOrders(even).draw(np.random.RandomState(0))) == list(range(20))


class TestEveryWay:
    def test_samples_of_a_group_may_be_said_to_have_no_order(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(240, 4)).reshape(20, 12, 4).cumsum(axis=1).reshape(240, 4)
        groups, y = np.repeat(np.arange(20), 12), np.tile(np.repeat([0, 1], 6), 20)

        def exchanged(**given):
            found = interplay.select(X, y, groups=groups, dimensions=1, random_state=0, **given)
            return found.provenance["groups"]["exchanged"]

        assert exchanged() == exchanged(order=np.arange(240))
        assert "order" in exchanged()
        assert "order" not in exchanged(order=False)

    def test_a_name_of_a_column(self):
        X, y, donor = donors()
        frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)]).assign(donor=[f"d{d}" for d in donor], ill=y)
        found = interplay.select(frame, "ill", groups="donor", random_state=0)
        assert found.names == [f"g{i}" for i in range(12)]
        assert found.provenance["groups"]["n_groups"] == 20

    @pytest.mark.parametrize("permutations", [None, False])
    def test_shards_give_the_same(self, tmp_path, permutations):
        X, y, donor = donors(seed=4)
        X[:, 2] += 2 * y
        settings = {"groups": donor, "permutations": permutations, "n_permutations": 99}
        whole = interplay.select(X, y, random_state=0, **settings)
        for i in (1, 2, 3):
            interplay.search_shard(X, y, shard=(i, 3), **settings).save(tmp_path / f"part{i}")
        merged = interplay.merge_parts(sorted(tmp_path.glob("part*")), X=X)
        assert (merged.p_adjusted == whole.p_adjusted).all()
        assert (merged.p_value == whole.p_value).all()
        assert merged.relevant == whole.relevant == ["x2"]
        assert merged.provenance["groups"] == whole.provenance["groups"]
        assert (Part.load(tmp_path / "part1").group_codes == donor).all()

    @pytest.mark.parametrize("seed", range(4))
    def test_shards_stop_where_select_does(self, seed):
        """Nothing is relevant: both stop at the same permutation, and never after the first few."""
        X, y, donor = donors(seed=10 + seed)
        settings = {"groups": donor, "n_permutations": 99, "dimensions": 1 + seed % 2}
        whole = interplay.select(X, y, random_state=0, **settings)
        merged = interplay.merge_parts(interplay.search_shard(X, y, shard=(i, 2), **settings) for i in (1, 2))
        assert (merged.p_value == whole.p_value).all()
        assert (merged.p_adjusted == whole.p_adjusted).all()
        n_done = len(whole.null_fit.permuted_max)
        assert 19 <= n_done == len(merged.null_fit.permuted_max)
        assert n_done < 99 or whole.p_adjusted.min() < 0.5

    def test_runs_of_pairs_of_classes(self):
        X, _, donor = donors(24, 10)
        y = donor % 3
        X[:, 3] += 3 * (y == 2)
        for multiclass in ("joint", "ovo", "ovr"):
            found = interplay.select(X, y, groups=donor, multiclass=multiclass, random_state=0)
            assert found.relevant == ["x3"]
            assert found.p_adjusted[3] == pytest.approx((1 if multiclass == "joint" else 3) / 200)

    def test_a_continuous_outcome(self):
        X, _, donor = donors(20, 10)
        age = np.random.default_rng(0).normal(size=20)[donor]
        X[:, 3] += 2 * (age > np.median(age))
        assert interplay.select(X, age, groups=donor, random_state=0).relevant == ["x3"]

    def test_saved_results_and_reports(self, tmp_path):
        X, y, donor = donors(seed=4)
        X[:, 2] += 2 * y
        for permutations in (True, False):
            found = interplay.select(X, y, groups=donor, permutations=permutations, random_state=0)
            found.save(tmp_path / "run")
            loaded = interplay.load(tmp_path / "run")
            assert (loaded.p_adjusted == found.p_adjusted).all()
            assert loaded.provenance == found.provenance
            assert loaded.summary() == found.summary()
            assert loaded.synergies().equals(found.synergies())
            loaded.to_html(tmp_path / "report.html")
            text = (tmp_path / "report.html").read_text(encoding="utf-8")
            assert "20 whole groups" in text
            assert "groups=groups" in text
            said = "Westfall and Young, 1993" if permutations else "genomic control"
            assert said in text
            again = interplay.select(X, y, groups=donor, **found.settings)
            assert (again.p_adjusted == found.p_adjusted).all()

    def test_pictures(self):
        pytest.importorskip("matplotlib").use("Agg")
        X, y, donor = donors()
        found = interplay.select(X, y, groups=donor, random_state=0)
        for draw in (found.plot.gains, found.plot.p_values, found.plot.null_fit, found.plot.null_histogram):
            draw()

    def test_the_selector(self):
        sklearn = pytest.importorskip("sklearn")
        from sklearn.model_selection import GroupKFold, cross_validate
        from sklearn.pipeline import make_pipeline
        from sklearn.tree import DecisionTreeClassifier

        X, y, donor = donors()
        X[:, 2] += 2 * y
        selector = interplay.MDFSSelector(n_permutations=59, random_state=0).fit(X, y, groups=donor)
        assert selector.get_feature_names_out().tolist() == ["x2"]
        assert selector.result_.provenance["groups"]["n_groups"] == 20
        with sklearn.config_context(enable_metadata_routing=True):
            routed = interplay.MDFSSelector(n_permutations=59, random_state=0).set_fit_request(groups=True)
            model = make_pipeline(routed, DecisionTreeClassifier())
            scores = cross_validate(model, X, y, params={"groups": donor}, cv=GroupKFold(3), return_estimator=True)
        assert {e[0].result_.provenance["groups"]["n_groups"] for e in scores["estimator"]} <= {13, 14}

    def test_the_command_line(self, tmp_path, monkeypatch, capfd):
        X, y, donor = donors()
        X[:, 2] += 2 * y
        frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)]).assign(donor=[f"d{d}" for d in donor], ill=y)
        frame.to_csv(tmp_path / "data.csv", index=False)
        command = ("run", tmp_path / "data.csv", "--target", "ill", "--groups", "donor", "--seed", "0")
        done = in_process(monkeypatch, capfd, *command, "--n-permutations", "59")
        assert done.code == 0, done.err
        assert "samples in 20 groups" in done.out
        assert "g2" in done.out
        dry = in_process(monkeypatch, capfd, *command, "--dry-run")
        assert "searches: 200" in dry.out


class TestLongWork:
    def test_stops_where_nothing_can_become_significant(self):
        X, y, donor = donors(icc=0.0, seed=2)
        found = interplay.select(X, y, groups=donor, random_state=0)
        n = len(found.null_fit.permuted_max)
        assert n < 150
        assert not found.relevant
        assert found.p_adjusted.min() >= 0.05
        assert "stopped early" in "".join(summary_sentences(found))

    def test_progress_is_told_from_0_to_1(self):
        X, y, donor = donors()
        X[:, 2] += 2 * y
        shares = []
        settings = {"groups": donor, "n_permutations": 30, "discretizations": 3, "random_state": 0}
        interplay.select(X, y, progress=shares.append, **settings)
        assert shares == sorted(shares)
        assert 0 < shares[0] <= 1 / 31 + 1e-9
        assert shares[-1] == pytest.approx(1.0)

    def test_ctrl_c_and_a_checkpoint(self, tmp_path, monkeypatch):
        X, y, donor = donors()
        X[:, 2] += 2 * y
        settings = {"groups": donor, "n_permutations": 40, "random_state": 0}
        whole = interplay.select(X, y, **settings)
        search, calls = CpuEngine.search, []

        def interrupted(self, planes, tiles, sink, **named):
            if sink.kind == "maxima":
                calls.append(1)
                if len(calls) == 20:
                    raise KeyboardInterrupt
            search(self, planes, tiles, sink, **named)

        monkeypatch.setattr(CpuEngine, "search", interrupted)
        with pytest.raises(SearchInterrupted, match="goes on from") as stopped:
            interplay.select(X, y, checkpoint=tmp_path / "run.ckpt", **settings)
        assert (stopped.value.partial.gain == whole.gains.gain).all()
        assert 0.3 < stopped.value.done < 0.5
        calls[:] = [1] * 20
        resumed = interplay.select(X, y, checkpoint=tmp_path / "run.ckpt", **settings)
        assert len(calls) - 20 <= 23
        assert (resumed.p_adjusted == whole.p_adjusted).all()
        kept = interplay.Checkpoint(tmp_path / "run.ckpt")
        kept._rows["search0.permuted"].append(np.zeros((3, 1)))
        with pytest.raises(ValueError, match="holds permutations of another search"):
            kept.rows("search0.permuted", shape=(12, 1), at_most=40)
        with pytest.raises(ValueError, match="permutations: 40 there, 50 here"):
            interplay.select(X, y, checkpoint=tmp_path / "run.ckpt", **settings | {"n_permutations": 50})


DONORS = np.arange(300) // 15


class TestBadInput:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"permutations": True, "fit": "lsq"}, "fit='lsq' does not go with permutations"),
            ({"permutations": False, "n_contrast": 30, "groups": DONORS}, "n_contrast must be at least 300"),
        ],
    )  # fmt: skip
    def test_refusals(self, given, message):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300, 5)), np.arange(300) // 50 % 2
        if len(np.unique(given.get("groups", y))) == 20:
            y = given["groups"] % 2
        with pytest.raises((ValueError, TypeError)) as error:
            interplay.select(X, y, random_state=0, **given)
        assert message in str(error.value)
        assert "\n" not in str(error.value)

    def test_groups_of_several_columns(self):
        assert make_groups([["a", 1], ["a", 2], ["a", 1]], n_samples=3).codes.tolist() == [0, 1, 0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_gives_the_same():
    distributed = pytest.importorskip("distributed")
    X, y, donor = donors()
    X[:, 2] += 2 * y
    settings = {"groups": donor, "n_permutations": 39, "random_state": 0}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = interplay.select(X, y, engine=client, **settings)
    expected = interplay.select(X, y, **settings)
    assert (found.p_adjusted == expected.p_adjusted).all()
    assert (found.p_value == expected.p_value).all()


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_a_gpu_gives_the_same(engine):
    X, y, donor = donors()
    X[:, 2] += 2 * y
    for dimensions in (1, 2, 3):
        settings = {"groups": donor, "dimensions": dimensions, "n_permutations": 59, "random_state": 0}
        found, expected = (interplay.select(X, y, engine=each, **settings) for each in (engine, "cpu"))
        assert (found.p_adjusted == expected.p_adjusted).all()
        assert (found.null_fit.permuted_max == expected.null_fit.permuted_max).all()
