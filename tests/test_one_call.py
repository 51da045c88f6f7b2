"""select() over several dimensions in one call: the arms, their combination, and every way to run it."""

from __future__ import annotations

import itertools
import json
from functools import partial
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay
from command_line import in_process
from interplay.results.arms import found_by, weighted_arms
from interplay.search.dimensions import MAX_TRIPLES, MAX_VARS_OF_QUADRUPLES, resolve_dimensions
from interplay.search.product_search import int_scores, product_maxima
from interplay.statistics.arms import tests_of as weights_of
from interplay.statistics.combined_p import combined_log_p
from interplay.statistics.learned_weights import learned_weights
from interplay.steps.rank_scores import mid_rank_scores
from shared_data import SHARED, needs_shared

N_SAMPLES, N_VARS = 400, 45


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """A shift, a U shape, a smooth product and an exclusive or of three."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N_SAMPLES, N_VARS))
    triple = np.sign(X[:, 20] * X[:, 21] * X[:, 22])
    score = 1.2 * X[:, 3] + 1.2 * (X[:, 9] ** 2 - 1) + 1.5 * X[:, 11] * X[:, 12] + 2.5 * triple
    return X, (score + rng.logistic(size=N_SAMPLES) > 0).astype(int)


@pytest.fixture(scope="module")
def found(data) -> interplay.Selection:
    return interplay.select(*data, random_state=0)


# --- What is searched -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_vars", "expected"),
    [(1, (1,)), (2, (1, 2)), (3, (1, 2, 3)), (40, (1, 2, 3, 4)), (41, (1, 2, 3)), (1818, (1, 2, 3)), (1819, (1, 2))],
)
def test_auto_depends_on_the_number_of_variables_alone(n_vars, expected):
    assert resolve_dimensions("auto", None, n_vars)[0] == expected
    assert comb(1818, 3) <= MAX_TRIPLES < comb(1819, 3)
    assert MAX_VARS_OF_QUADRUPLES == 40


def test_several_dimensions_are_any_collection():
    for several in ((3, 1, 1, 2), [1, 2, 3], range(1, 4), np.array([1, 2, 3]), {1, 2, 3}):
        assert resolve_dimensions(several, None, 50) == ((1, 2, 3), ("alone", "given", "pairs", "triples"))


def test_an_arm_that_is_asked_for_brings_its_dimension():
    assert resolve_dimensions("auto", ["alone", "triples"], 10_000) == ((1, 2, 3), ("alone", "triples"))


def test_what_forbids_the_exchange_of_single_samples_goes_with_one_dimension():
    assert resolve_dimensions("auto", None, 50, one_with="groups") == (2, None)
    assert resolve_dimensions("auto", None, 1, one_with="groups") == (1, None)
    assert resolve_dimensions(3, None, 50, one_with="groups") == (3, None)
    for dimensions, arms in (((1, 2), None), ("auto", ["alone"])):
        with pytest.raises(ValueError, match=r"^groups works with one dimension at a time"):
            resolve_dimensions(dimensions, arms, 50, one_with="groups")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dimensions": "all"}, r"dimensions must be 'auto', a whole number or several, not 'all'"),
        ({"dimensions": ()}, r"dimensions must hold at least one number"),
        ({"dimensions": (1, 0)}, r"each of several dimensions must be"),
        ({"dimensions": (1, 99)}, r"dimensions=99 needs at least 99 variables, and X has 45"),
        ({"dimensions": 2, "arms": ["pairs"]}, r"arms are for several dimensions in one call: leave arms out"),
        ({"arms": ["couples"]}, r"arms names 'couples': with dimensions=\(1, 2, 3\) there are alone, given, pairs, tr"),
        ({"dimensions": (1, 2), "arms": ["triples"]}, r"arms names 'triples': with dimensions=\(1, 2\)"),
        ({"arms": []}, r"arms must name at least one of"),
        ({"arms": 3}, r"arms must be a list of names of arms, not 3"),
    ],
)
def test_bad_dimensions_and_arms_are_refused_in_one_line(data, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        interplay.select(*data, **arguments)
    assert "\n" not in str(error.value)


def test_weights_sum_up_to_one_and_larger_tuples_share_theirs():
    for dimensions in ((1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), (2, 3)):
        arms = resolve_dimensions(dimensions, None, 50)[1]
        assert sum(test.weight for test in weights_of(dimensions, arms)) == pytest.approx(1)
    three = {test.name: test.weight for test in weights_of((1, 2, 3), ("alone", "given", "pairs", "triples"))}
    four = {
        test.name: test.weight
        for test in weights_of((1, 2, 3, 4), ("alone", "given", "pairs", "triples", "quadruples"))
    }
    assert four["synergy 3"] == four["synergy 4"] == pytest.approx(three["synergy 3"] / 2)
    assert four["rank"] == pytest.approx(three["rank"])


# --- What comes out ---------------------------------------------------------------------------------------------


def test_weights_lean_to_where_others_were_found(found):
    """And a variable has no part in its own: changing its p-values changes those of the others alone."""
    tests = found.tests
    log_p, weights = weighted_arms(tests)
    fixed = np.array([sum(test.weight for test in tests if test.arm == arm) for arm in found.arms])
    assert np.allclose(weights.sum(axis=0), 1)
    assert (found.arm_weights["triples"] > fixed[3]).all()  # three were found there
    stronger = log_p.copy()
    stronger[2, 30] = -60.0
    changed = learned_weights(stronger, fixed)
    assert np.array_equal(changed[:, 30], weights[:, 30])
    assert (changed[2, np.arange(N_VARS) != 30] > weights[2, np.arange(N_VARS) != 30]).all()


def test_where_nothing_is_found_weights_are_the_fixed_ones():
    rng = np.random.default_rng(0)
    log_p, fixed = np.log(rng.uniform(0.01, 1, size=(3, 50))), np.array([0.5, 0.3, 0.2])
    assert np.array_equal(learned_weights(log_p, fixed), np.repeat(fixed[:, np.newaxis], 50, axis=1))
    alone = log_p.copy()
    alone[0, 7] = -30.0
    learned = learned_weights(alone, fixed)
    assert np.array_equal(learned[:, 7], fixed)  # the only one that is found is judged by the fixed weights
    assert np.allclose(learned[:, 8], 0.5 * fixed + 0.5 * np.array([1, 0, 0]))


def test_each_kind_of_effect_is_found_in_its_own_way(found):
    table = found.table.set_index("variable")
    assert set(found.relevant) == {"x3", "x9", "x11", "x12", "x20", "x21", "x22"}
    assert table.loc["x3", "found"] in ("alone", "given others")
    assert table.loc["x9", "found"] == "alone"
    assert table.loc[["x11", "x12"], "found"].to_list() == ["in pairs"] * 2
    assert table.loc[["x20", "x21", "x22"], "found"].to_list() == ["in triples"] * 3
    assert table.loc["x11", "partners"] == ("x12",)
    assert set(table.loc["x20", "partners"]) == {"x21", "x22"}
    assert found.found == table["found"].to_list() == found_by(found)


def test_the_p_value_is_the_harmonic_mean_of_the_tests_and_of_the_arms(found):
    assert sum(test.weight for test in found.tests) == pytest.approx(1)
    of_arms = [np.log(found.p_of_arm(arm)) for arm in found.arms]
    assert np.allclose(combined_log_p(of_arms, found.arm_weights.to_numpy().T), found.log_p)
    fixed = {arm: sum(test.weight for test in found.tests if test.arm == arm) for arm in found.arms}
    of_tests = [found.arm_weights[test.arm].to_numpy() * test.weight / fixed[test.arm] for test in found.tests]
    assert np.allclose(combined_log_p([test.log_p for test in found.tests], of_tests), found.log_p)
    assert found.arms == ("alone", "given", "pairs", "triples")
    for arm, p in zip(found.arms, (found.p_alone, found.p_given, found.p_pairs, found.p_triples), strict=True):
        assert np.array_equal(found.table[f"p_{arm}"], p)
    with pytest.raises(ValueError, match=r"no arm 'quadruples'; its arms are alone, given, pairs, triples"):
        _ = found.p_quadruples


@pytest.mark.parametrize("k", [2, 3])
def test_one_dimension_of_several_is_what_it_is_by_itself(data, found, k):
    alone, among = interplay.select(*data, dimensions=k, random_state=0), found.of_dimension(k)
    assert np.array_equal(alone.log_p, among.log_p)
    assert np.array_equal(alone.p_adjusted, among.p_adjusted)
    assert alone.relevant == among.relevant
    assert alone.settings == among.settings
    # Interactions of several sizes of tuples share the error rate, and only tuples of relevant variables are tested.
    of_tests = ["verdict", "interacting", "p_interaction"]
    assert alone.table.drop(columns=of_tests).equals(among.table.drop(columns=of_tests))
    assert alone.null_fit.summary() == among.null_fit.summary()
    assert not among.tests


def test_alone_of_several_has_the_exact_p_values(data, found):
    alone, among = interplay.select(*data, dimensions=1, random_state=0), found.of_dimension(1)
    assert np.array_equal(alone.log_p, among.log_p)
    with pytest.raises(ValueError, match=r"dimensions must be one of 1, 2, 3, which were searched, not 4"):
        found.of_dimension(4)


def test_gains_and_null_fit_of_several_are_asked_for_by_size(found):
    for name in ("gains", "null_fit"):
        with pytest.raises(ValueError, match=r"use .of_dimension\(1\), .of_dimension\(2\), .of_dimension\(3\), or"):
            getattr(found, name)
    assert found.dimensions == (1, 2, 3)
    assert [run.dimensions for run in found.runs] == [1, 2, 3]


def test_settings_repeat_the_call(data, found):
    assert found.settings["dimensions"] == (1, 2, 3)
    again = interplay.select(*data, **found.settings)
    assert np.array_equal(again.log_p, found.log_p)


def test_arms_that_are_switched_off_take_no_part(data, found):
    fewer = interplay.select(*data, arms=["alone", "pairs"], random_state=0)
    assert fewer.arms == ("alone", "pairs")
    assert fewer.dimensions == (1, 2)  # triples were not searched
    assert np.allclose(fewer.p_alone, found.p_alone, rtol=1e-12)
    assert np.allclose(fewer.p_pairs, found.p_pairs, rtol=1e-12)
    only = interplay.select(*data, arms=["given"], random_state=0)
    assert np.allclose(only.p_value, only.p_given, rtol=1e-12)
    assert np.allclose(only.p_given, found.p_given, rtol=1e-12)


def test_without_variables_alone_there_are_only_tuples(data):
    result = interplay.select(*data, dimensions=(2, 3), random_state=0)
    assert result.arms == ("pairs", "triples")
    assert result.dimensions == (2, 3)
    assert {"x11", "x12", "x20", "x21", "x22"} <= set(result.relevant)


def test_rank_and_spread_are_scipys(data, found):
    X, y = data
    by_name = {test.name: np.exp(test.log_p) for test in found.tests}
    rank = [stats.mannwhitneyu(x[y == 0], x[y == 1], method="asymptotic").pvalue for x in X.T]
    assert np.allclose(by_name["rank"], rank, rtol=1e-8)
    # Mood's scores are these but for a constant: their test is that of a linear rank statistic.
    z = ((stats.rankdata(X, axis=0) - (N_SAMPLES + 1) / 2) ** 2).T
    z = z - z.mean(axis=1, keepdims=True)
    u = y - y.mean()
    square = (z @ u) ** 2 / ((z**2).sum(axis=1) * (u @ u) / (N_SAMPLES - 1))
    assert np.all(by_name["spread"] >= stats.chi2.sf(square, 1) * (1 - 1e-9))  # the longer tail may be the larger one
    assert np.allclose(by_name["spread"], stats.chi2.sf(square, 1), rtol=0.2)


# --- Products ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_are_those_of_plain_loops(n_classes):
    rng = np.random.default_rng(n_classes)
    n, p, c = 60, 9, 4
    scores = int_scores(mid_rank_scores(rng.normal(size=(p + c, n))))
    codes = rng.integers(0, n_classes, n)
    targets = np.array([codes == q for q in range(n_classes == 2, n_classes)], dtype=float)
    residuals = targets - targets.mean(axis=1, keepdims=True)
    found = product_maxima(scores, residuals, n_vars=p, n_fitted=2, n_threads=1)
    u = np.rint(2**15 * residuals / np.abs(residuals).max())
    share = np.ones(1) if n_classes == 2 else 1 - (u**2).sum(axis=1) / (u**2).sum()
    share = share * max(n_classes - 1, 1) / share.sum()
    for i in range(p + c):
        best, partner = -1.0, -1
        for j in range(p):
            if i == j:
                continue
            square = 0.0
            for t in range(len(u)):
                w, z = u[t] * scores[j].astype(float), scores[i].astype(float)
                covariance = ((w - w.mean()) * (z - z.mean())).sum()
                variance = ((w - w.mean()) ** 2).sum() * ((z - z.mean()) ** 2).sum() / (n - 1 - 2)
                square += share[t] * covariance**2 / variance
            if square > best * (1 + 1e-12):
                best, partner = square, j
        assert found.statistic[i] == pytest.approx(best, rel=1e-9)
        if i < p:
            assert found.partner[i] == partner
    assert found.df == max(n_classes - 1, 1)


def test_columns_of_many_ties_take_no_part_in_products():
    values = np.array([np.arange(100), np.arange(100) < 50, np.arange(100) < 4, np.arange(100) % 20, [3] * 100])
    kept = int_scores(mid_rank_scores(values.astype(float))).any(axis=1)
    assert kept.tolist() == [True, False, False, True, False]
    found = product_maxima(
        int_scores(mid_rank_scores(values.astype(float))), np.ones((1, 100)), n_vars=5, n_fitted=0, n_threads=1
    )
    assert np.isnan(found.statistic).tolist() == [False, True, True, False, True]
    assert (found.partner >= 0).tolist() == kept.tolist()


def test_products_do_not_depend_on_threads_and_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    scores = int_scores(mid_rank_scores(rng.normal(size=(700, 90))))
    residuals = rng.normal(size=(1, 90))
    one, two = (product_maxima(scores, residuals, n_vars=500, n_fitted=0, n_threads=n) for n in (1, 3))
    assert np.array_equal(one.statistic, two.statistic)
    assert np.array_equal(one.partner, two.partner)
    monkeypatch.setattr("interplay.search.product_search._SAMPLES_AT_ONCE", 17)
    monkeypatch.setattr("interplay.search.product_search._ROWS_AT_ONCE", 64)
    in_parts = product_maxima(scores, residuals, n_vars=500, n_fitted=0, n_threads=1)
    assert np.array_equal(one.statistic, in_parts.statistic)
    assert np.array_equal(one.partner, in_parts.partner)


# --- Every way to run it ----------------------------------------------------------------------------------------


def assert_same(a: interplay.Selection, b: interplay.Selection) -> None:
    assert np.array_equal(a.log_p, b.log_p)
    assert a.relevant == b.relevant
    assert a.table.equals(b.table)
    for one, other in zip(a.tests, b.tests, strict=True):
        assert (one.name, one.arm, one.weight) == (other.name, other.arm, other.weight)
        assert np.array_equal(one.log_p, other.log_p, equal_nan=True)
        assert np.array_equal(one.tuples, other.tuples)


@pytest.mark.filterwarnings("ignore:column 'flag' of X determines y completely")  # of two of the classes, it does
@pytest.mark.parametrize("multiclass", ["joint", "ovo", "ovr"])
@pytest.mark.parametrize("with_strata", [False, True])
def test_shards_checkpoints_and_files_give_the_same(tmp_path, multiclass, with_strata):
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(240, 12)), columns=[f"g{v}" for v in range(12)])
    X["flag"] = rng.random(240) < 0.4
    X["city"] = rng.choice(["a", "b", "c"], 240)
    y = np.where(X["g1"] * X["g2"] + X["g5"] > 0.3, "ill", np.where(X["flag"], "well", "unknown"))
    how = {
        "dimensions": (1, 2, 3),
        "multiclass": multiclass,
        "n_contrast": 40,
        "random_state": 3,
        "strata": rng.integers(0, 2, 240) if with_strata else None,
    }
    plain = interplay.select(X, y, **how)
    for i in (1, 2, 3):
        interplay.search_shard(X, y, shard=(i, 3), **how).save(tmp_path / f"part{i}")
    assert_same(interplay.merge_parts(sorted(tmp_path.glob("part*"), reverse=True), X=X), plain)
    kept = tmp_path / "run.ckpt"
    assert_same(interplay.select(X, y, **how, checkpoint=kept), plain)
    assert_same(interplay.select(X, y, **how, checkpoint=kept, n_jobs=2), plain)
    with pytest.raises(ValueError, match=r"belongs to another search \(dimensions"):
        interplay.select(X, y, **how | {"dimensions": (1, 2)}, checkpoint=kept)
    plain.save(tmp_path / "run")
    loaded = interplay.load(tmp_path / "run")
    assert_same(loaded, plain)
    assert loaded.summary() == plain.summary()
    assert np.isnan([test.log_p[13] for test in plain.tests if test.name in ("rank", "given", "product 2")]).all()
    assert loaded.comparisons == plain.comparisons
    if multiclass != "joint":
        assert "decision" in plain.table.columns


def test_dask_gives_the_same(data):
    distributed = pytest.importorskip("distributed")
    X, y = data[0][:, :20], data[1]
    plain = interplay.select(X, y, random_state=0)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert_same(interplay.select(X, y, random_state=0, engine=client), plain)


def test_an_interrupt_goes_on_from_the_checkpoint(data, tmp_path, found):
    done: list[float] = []

    def stop_in_the_triples(share: float) -> None:
        done.append(share)
        if share > 0.2:
            raise KeyboardInterrupt

    kept = tmp_path / "run.ckpt"
    with pytest.raises(KeyboardInterrupt):
        interplay.select(
            *data, random_state=0, checkpoint=interplay.Checkpoint(kept, seconds=0), progress=stop_in_the_triples
        )
    shares: list[float] = []
    assert_same(interplay.select(*data, random_state=0, checkpoint=kept, progress=shares.append), found)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_names_of_classes_and_threads_change_nothing(data, found):
    X, y = data
    assert np.allclose(interplay.select(X, np.where(y, "a", "b"), random_state=0).log_p, found.log_p, rtol=1e-9)
    assert_same(interplay.select(X, y, random_state=0, n_jobs=2), found)
    monotone = np.exp(X)
    assert np.allclose(interplay.select(monotone, y, random_state=0).log_p, found.log_p, rtol=1e-9)


def test_odd_columns_are_no_trouble():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "constant": np.zeros(n),
            "flag": rng.random(n) < 0.5,
            "rare": (np.arange(n) == 3).astype(float),
            "text": rng.choice(["p", "q", "r", "s"], n),
            "number": rng.normal(size=n),
            "count": rng.poisson(0.3, size=n),
            "copy": np.arange(n) % 7,
            "same": np.arange(n) % 7,
        }
    )
    y = (frame["number"] + rng.normal(size=n) > 0).to_numpy()
    result = interplay.select(frame, y, random_state=0, n_contrast=40)
    assert result.relevant == ["number"]
    assert result.table.set_index("variable").loc["constant", "p_alone"] == 1.0
    assert np.isfinite(result.p_value).all()
    gaps = frame.assign(number=frame["number"].where(np.arange(n) > 9))
    for missing in ("level", "impute"):
        assert "number" in interplay.select(gaps, y, random_state=0, n_contrast=40, missing=missing).relevant


def test_genotypes_have_no_products_and_their_weight_goes_to_the_gains():
    rng = np.random.default_rng(0)
    X, y = rng.binomial(2, 0.3, size=(200, 12)), rng.integers(0, 2, 200)
    result = interplay.select(X, y, random_state=0, n_contrast=40, dimensions=(1, 2))
    assert "product 2" not in [test.name for test in result.tests]
    weights = {test.name: test.weight for test in result.tests}
    assert sum(weights.values()) == pytest.approx(1)
    of_pairs = weights["gain 2"] + weights["synergy 2"]
    assert of_pairs == pytest.approx(0.34 / (0.34 + 0.08 + 0.34))


def test_a_continuous_outcome_and_few_variables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    result = interplay.select(X, X[:, 0] + 0.3 * rng.normal(size=150), random_state=0)
    assert result.relevant[0] == "x0"
    assert result.dimensions == (1, 2)
    alone = interplay.select(X[:, :1], X[:, 0] > 0, random_state=0)
    assert alone.found == ["alone"]
    assert alone.gains.dimensions == 1
    assert interplay.MDFSSelector(random_state=0).fit(X[:, :1], X[:, 0] > 0).support_.all()


# --- What shows it ----------------------------------------------------------------------------------------------


def test_the_summary_and_the_report_tell_how_each_was_found(found, tmp_path):
    assert found.summary().startswith("7 of 45 variables relevant (1+2+3D, holm-adjusted p < 0.05)")
    assert "in triples" in found.summary()
    found.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    content = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert content["rows"]["found"][:7].count("in triples") == 3
    assert [fit["decision"] for fit in content["nullFits"]] == [test.name for test in found.tests if test.null_fits]
    assert "harmonic mean" in page
    assert "each variable alone, all pairs and all triples" in page


def test_pictures_and_counts_are_of_the_tuple_that_is_shown(found):
    pytest.importorskip("matplotlib").use("Agg")
    for name in ("x3", "x11", "x20"):
        counts = found.counts_of(name)
        partners = found.table.set_index("variable").loc[name, "partners"]
        assert {found.names[v] for v in counts.members} == {name, *partners}
        found.plot.why(name)
    for name in ("gains", "p_values", "correlation", "synergies"):
        getattr(found.plot, name)()
    assert found.plot.gains(dimensions=2).get_title() == "2D"
    found.plot.null_fit(run="2D")
    with pytest.raises(
        ValueError, match=r"run is needed, as there are 3 comparisons: give a number, or one of \['1D', '2D', '3D'"
    ):
        found.plot.null_fit()
    together = found.synergies(top=1)
    assert set(together["partners"].map(len)) == {1, 2}


def test_the_command_line_and_its_settings_file(data, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    command = partial(in_process, monkeypatch, capfd)
    frame = pd.DataFrame(data[0][:, :14], columns=[f"g{v}" for v in range(14)]).assign(outcome=data[1])
    frame.to_csv("data.csv", index=False)
    options = ["run", "data.csv", "--target", "outcome", "--seed", 1, "--n-contrast", 40]
    assert "(1+2+3+4D" in command(*options).out
    first = command(
        *options, "-k", "1,2", "--arm", "alone", "--arm", "pairs", "--format", "csv", "--write-config", "a.toml"
    )
    assert first.code == 0
    assert first.out.splitlines()[0].endswith("synergy,found,p_alone,p_pairs,verdict,interacting,p_interaction")
    assert command("run", "--config", "a.toml", "--format", "csv", "data.csv").out == first.out
    assert "1+2D" in command(*options, "-k", "1,2").out
    assert "not a valid integer" in command(*options, "-k", "1,x").error_line
    assert "arms names 'couples'" in command(*options, "--arm", "couples").error_line
    dry = command(*options, "--dry-run").out
    n_tuples = sum(comb(14, k) + 40 * comb(14, k - 1) for k in (1, 2, 3, 4))
    assert f"{n_tuples:.4g}" in dry


def test_an_anndata_file_holds_it(data, found, tmp_path):
    anndata = pytest.importorskip("anndata")
    names = [f"x{v}" for v in range(N_VARS)] + ["never searched"]
    adata = anndata.AnnData(np.column_stack([data[0], data[0][:, 0]]), var=pd.DataFrame(index=names))
    found.annotate(adata)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad").var
    assert again.loc["x20", "interplay_found"] == "in triples"
    assert again.loc["never searched", "interplay_found"] == ""


def test_the_selector_has_it_too(data):
    X, y = data
    selector = interplay.MDFSSelector(random_state=0).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["x3", "x9", "x11", "x12", "x20", "x21", "x22"]
    assert np.array_equal(selector.gains_, selector.result_.table["gain"])
    pairs = interplay.MDFSSelector(dimensions=(1, 2), arms=["pairs"], random_state=0).fit(X, y)
    assert pairs.result_.arms == ("pairs",)


# --- What it is for ---------------------------------------------------------------------------------------------


def test_noise_is_left_alone():
    """300 tables would show a rate; this many show a gross error."""
    n_with_finds = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 45)), rng.integers(0, 2, 200)
        n_with_finds += bool(interplay.select(X, y, random_state=seed).relevant)
    assert stats.binom.sf(n_with_finds - 1, 40, 0.05) > 0.001


def test_a_single_effect_among_many_pairs_is_found():
    """In 2D alone it drowns: each variable has thousands of partners."""
    rng = np.random.default_rng(0)
    X = rng.binomial(2, rng.uniform(0.05, 0.5, size=2500), size=(600, 2500))
    y = (0.9 * X[:, 7] + rng.logistic(size=600) > 0.5).astype(int)
    assert "x7" in interplay.select(X, y, random_state=0).relevant
    assert resolve_dimensions("auto", None, 2500)[0] == (1, 2)


@needs_shared
def test_madelon_in_one_call():
    X, y = madelon()
    result = interplay.select(X, y, random_state=0, n_jobs=-1)
    true = {29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494}
    assert {int(name[1:]) + 1 for name in result.relevant} == true


def madelon() -> tuple[np.ndarray, np.ndarray]:
    with np.load(SHARED / "data" / "madelon.npz") as file:
        return file["x"], file["y"]


def test_the_sum_of_weights_over_subsets_of_arms():
    arms = ("alone", "given", "pairs", "triples")
    for n in range(1, 5):
        for some in itertools.combinations(arms, n):
            tests = weights_of((1, 2, 3), some)
            assert {test.arm for test in tests} == set(some)
            assert sum(test.weight for test in tests) == pytest.approx(1)


def test_a_column_of_many_labels_does_not_stop_the_default_call():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    for name in ("patient", "note", "street"):
        X[name] = pd.Categorical([f"{name} {i}" for i in rng.permutation(200) % 120])
    y = X["a"] + rng.normal(size=200) > 0
    found = interplay.select(X, y, random_state=0)
    assert found.dimensions == (1, 2)  # triples would have up to 120³ cells
    assert found.settings["dimensions"] == (1, 2)
    assert "a" in found.relevant
    with pytest.raises(ValueError, match="cells"):
        interplay.select(X, y, dimensions=4, random_state=0)


def test_a_variable_found_alone_shows_the_partner_it_has_beside():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 30))
    score = 1.2 * X[:, 0] + 1.5 * X[:, 0] * X[:, 1] + 0.9 * X[:, 2] + 0.9 * X[:, 3]
    y = rng.random(500) < 1 / (1 + np.exp(-score))
    found = interplay.select(X, y, dimensions=(1, 2), random_state=0)
    table = found.table.set_index("variable")
    assert table.loc[["x0", "x2", "x3"], "found"].tolist() == ["alone"] * 3
    assert table.loc["x0", "partners"] == ("x1",)
    assert table.loc["x0", "verdict"] == "interaction"
    assert found.best_tuple(0).tolist() == [0, 1]
    assert table.loc[["x2", "x3"], "partners"].tolist() == [(), ()]  # these only add up


def test_a_partner_is_shown_for_the_comparison_that_found_the_variable():
    """Class a is told from b by x0 alone; in the other comparisons it has a partner."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 12))
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 900)]
    X[y == "a", 0] -= 3
    product = (X[:, 0] > np.median(X[y != "a", 0])) ^ (X[:, 1] > 0)
    y[(y != "a") & (rng.random(900) < 0.9)] = "c"
    is_b = (y != "a") & product
    y[is_b] = "b"
    found = interplay.select(X, y, dimensions=(1, 2), multiclass="ovo", random_state=0)
    row = found.table.set_index("variable").loc["x0"]
    strongest = min((run for run in found.runs if run.dimensions == 1), key=lambda run: run.null_fit.log_p_values()[0])
    assert row["found"] == "alone"
    assert row["decision"] == strongest.decision
