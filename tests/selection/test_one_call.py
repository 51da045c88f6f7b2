"""select() over several dimensions in one call: which are searched, and what is found."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay
from interplay.ask.selection.settings import MAX_TRIPLES, MAX_VARS_OF_QUADRUPLES, resolve_dimensions
from interplay.infer.arms import found_by
from one_call_problem import found_in_mixed_effects, mixed_effects


@pytest.fixture(scope="module")
def data():
    return mixed_effects()


@pytest.fixture(scope="module")
def found():
    return found_in_mixed_effects()


# --- What is searched -------------------------------------------------------------------------------------------------


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


def test_a_column_of_many_labels_does_not_stop_the_default_call():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    for name in ("town", "note", "street"):
        X[name] = pd.Categorical([f"{name} {i}" for i in rng.permutation(200) % 120])
    y = X["a"] + rng.normal(size=200) > 0
    found = interplay.select(X, y, random_state=0)
    assert found.dimensions == (1, 2)  # triples would have up to 120³ cells
    assert found.settings["dimensions"] == (1, 2)
    assert "a" in found.relevant
    with pytest.raises(ValueError, match="cells"):
        interplay.select(X, y, dimensions=4, random_state=0)


# --- What comes out ---------------------------------------------------------------------------------------------------


def test_each_kind_of_effect_is_found_in_its_own_way(found):
    table = found.table.set_index("variable")
    assert set(found.relevant) == {"x3", "x9", "x11", "x12", "x20", "x21", "x22"}
    assert table.loc["x3", "found"] in ("alone", "given others")
    assert table.loc["x9", "found"] == "alone"
    assert table.loc[["x11", "x12"], "found"].to_list() == ["in pairs"] * 2
    assert table.loc[["x20", "x21", "x22"], "found"].to_list() == ["in triples"] * 3
    assert table.loc["x11", "partners"] == ("x12",)
    assert set(table.loc["x20", "partners"]) == {"x21", "x22"}
    assert found.found == table["found"].to_list() == found_by(found.tests, found.settings["level"])


@pytest.mark.parametrize("k", [2, 3])
def test_one_dimension_of_several_is_what_it_is_by_itself(data, found, k):
    alone, among = interplay.select(*data, dimensions=k, random_state=0), found.of_dimension(k)
    assert np.array_equal(alone.log_p, among.log_p)
    assert np.array_equal(alone.p_adjusted, among.p_adjusted)
    assert alone.relevant == among.relevant
    assert alone.settings == among.settings
    # Interactions of several sizes of tuples share the error rate, and only tuples of relevant variables are tested.
    of_tests = ["verdict", "interacting", "p_interaction", "direction", "effect", "effect_low", "effect_high"]
    of_tests += ["effect_kind", "representative", "short_list"]
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


# --- Tables of all kinds ----------------------------------------------------------------------------------------------


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
    assert result.table.set_index("variable").loc["constant", "p_alone"] == pytest.approx(1)
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
    assert of_pairs == pytest.approx(0.31 / (0.43 + 0.07 + 0.31))


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


def test_madelon_in_one_call(madelon):
    result = interplay.select(*madelon, random_state=0, n_jobs=-1)
    true = {29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494}
    assert {int(name[1:]) + 1 for name in result.relevant} == true


def test_a_level_for_missing_labels_is_no_interaction_with_a_correlated_cause():
    rng = np.random.default_rng(0)
    a = rng.normal(size=1000)
    b = 0.8 * a + 0.6 * rng.normal(size=1000)
    y = 1.0 * (a > 0) + 1.0 * (b > 0) + rng.normal(size=1000)
    causes = pd.DataFrame({"a": a > 0, "b": b > 0}).map(lambda flag: "yes" if flag else "no").astype(object)
    table = causes.assign(**{f"x{v}": rng.normal(size=1000) for v in range(4)})
    table.loc[rng.random(1000) < 0.2, "a"] = None
    found = {
        how: interplay.select(table, y, missing=how, random_state=0, dimensions=2, n_contrast=30)
        for how in ("level", "auto")
    }
    of_pair = {
        how: next(row for row in one.interactions().table.itertuples() if set(row.members) == {"a", "b"})
        for how, one in found.items()
    }
    assert of_pair["level"].p_value < 1e-3
    assert of_pair["auto"].p_value > 0.05
    assert "missing values: a level of their own in 1 column" in found["auto"].summary().splitlines()[0]
