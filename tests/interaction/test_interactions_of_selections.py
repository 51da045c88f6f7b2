"""Whether the tuples of a Selection are interactions: its verdicts, and the tests behind them."""

import numpy as np
import pytest

import interplay
from interaction_problems import additive, xor


def test_a_selection_says_additive():
    selection = interplay.select(*additive(3), dimensions=2, random_state=0)
    assert set(selection.relevant) == {"x0", "x1"}
    table = selection.table.set_index("variable")
    assert table.loc[["x0", "x1"], "verdict"].tolist() == ["additive", "additive"]
    assert table.loc["x0", "p_interaction"] == 1
    assert (selection.synergies()["p_gain"] < 1e-6).all()
    assert set(selection.synergies()["verdict"]) == {"additive"}
    assert selection.interactions().significant == []
    assert "additive" in str(selection.verdict_of("x0"))


@pytest.mark.parametrize("settings", [{}, {"discretizations": 3}, {"divisions": 2}, {"p_adjust": "hommel"}])
def test_a_selection_says_interaction(settings, tmp_path):
    X, y = xor(2)
    selection = interplay.select(X, y, random_state=0, **{"dimensions": 2} | settings)
    selection.save(tmp_path / "run")
    for one in (selection, interplay.load(tmp_path / "run")):
        table = one.table.set_index("variable")
        assert table.loc[["x2", "x9"], "verdict"].tolist() == ["interaction"] * 2
        assert set(table.loc[~table["relevant"], "verdict"]) == {""}
        assert one.interactions().significant == [("x2", "x9")]
        assert one.interactions().n_tests == 105
        everything = interplay.interactions(
            X,
            y,
            max_p=1,
            random_state=0,
            **{name: value for name, value in settings.items() if name != "p_adjust"},
            coding="levels",
        )
        best, same = one.interactions().tested, everything.tested
        assert (best.tuples[0] == same.tuples[0]).all()
        assert best.p_value[0] == same.p_value[0]
        assert best.p_adjusted[0] == pytest.approx(105 * best.p_value[0])


def test_tuples_within_strata_are_tested_within_strata():
    X, y = xor(2)
    strata = np.random.default_rng(1).integers(0, 3, len(y))
    selection = interplay.select(X, y, dimensions=2, strata=strata, random_state=0)
    found = selection.interactions().tested
    everything = interplay.interactions(X, y, strata=strata, max_p=1, coding="levels").tested
    assert found.tuples[0].tolist() == [2, 9]
    assert found.p_value[0] == everything.p_value[0]
    assert selection.table.loc[2, "verdict"] == "interaction"


def test_tests_of_several_runs_are_adjusted_together():
    X, y = xor(6, n=600)
    three = np.where(X[:, 0] > 0.8, "c", np.where(y, "a", "b"))
    selection = interplay.select(X, three, dimensions=2, multiclass="ovr", random_state=0)
    with pytest.raises(ValueError, match="run is needed, as there are"):
        selection.interactions()
    found = selection.interactions(run="a vs rest")
    assert found.n_tests == 3 * 105
    assert found.significant[0] == ("x2", "x9")
    assert found.replicate(X, np.where(three == "a", "a", "rest")).significant[0] == ("x2", "x9")


def test_the_parts_of_a_selection_s_tuples_are_tested_too(tmp_path):
    X, y = xor(2)
    selection = interplay.select(X, y, dimensions=3, random_state=0)
    selection.save(tmp_path / "run")
    for one in (selection, interplay.load(tmp_path / "run")):
        table = one.table.set_index("variable")
        for name in ("x2", "x9"):
            assert len(table.loc[name, "partners"]) == 2
            assert table.loc[name, "verdict"] == "interaction"
            assert table.loc[name, "interacting"] == ("x2", "x9")
        assert one.interactions().significant == []
        pairs = one.interactions(dimensions=2)
        assert pairs.significant == [("x2", "x9")]
        assert pairs.n_tests == 2 * 105  # pairs and triples share the error rate
        assert one.verdict_of("x2").p_value == interplay.interactions(X, y, coding="levels").tested.p_value[0]
        assert pairs.replicate(*xor(12)).significant == [("x2", "x9")]
        assert one.replicate(*xor(12), dimensions=2).interactions.significant == [("x2", "x9")]
    with pytest.raises(ValueError, match="dimensions must be a whole number from 2 to 3"):
        selection.interactions(dimensions=4)


def test_a_selection_over_several_dimensions_has_tests_of_each_size():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 20))
    y = (X[:, 3] > 0) ^ (X[:, 11] > 0) ^ (rng.random(600) < 0.1)
    selection = interplay.select(X, y, dimensions=(1, 2, 3), random_state=0)
    pairs = selection.interactions()
    assert pairs.significant == selection.interactions(dimensions=2).significant == [("x3", "x11")]
    # Two sizes of tuples share the error rate.
    assert pairs.n_tests == 2 * 190
    alone = interplay.select(X, y, dimensions=2, random_state=0).interactions()
    assert pairs.tested.p_adjusted[0] == pytest.approx(2 * alone.tested.p_adjusted[0])
    triples = selection.interactions(dimensions=3)
    assert triples.significant == []
    assert triples.n_tests == 2 * 1140
    with pytest.raises(ValueError, match=r"dimensions must be a whole number from 2 to 3, not 4"):
        selection.interactions(dimensions=4)
    assert selection.replicate(X, y).interactions.significant == [("x3", "x11")]
