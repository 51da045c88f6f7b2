"""select(stability=): halves are complementary, frequencies are counts, and nothing else changes."""

import numpy as np
import pytest

import interplay
from interplay.ask.selection.best_curve import halves
from interplay.ask.selection.call import task_of
from interplay.infer.stability import Stability, stability_of


def xor_data(n=400, n_vars=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_vars))
    return X, (X[:, 2] > 0) ^ (X[:, 7] > 0) ^ (rng.random(n) < 0.15)


@pytest.fixture(scope="module")
def result():
    X, y = xor_data()
    return interplay.select(X, y, dimensions=2, stability=10, random_state=0)


def test_table_tuples_and_summary(result):
    frequency = result.table["stability"].to_numpy()
    assert frequency[[2, 7]].tolist() == [1.0, 1.0]
    assert frequency[[v for v in range(12) if v not in (2, 7)]].max() <= 0.3
    first = result.stable_tuples.iloc[0]
    assert (first["members"], first["stability"]) == (("x2", "x7"), 1.0)
    assert "2 of 2 relevant variables are found again in more than 90% of 10 halves" in result.summary()
    assert result.settings["stability"] == 10


def test_nothing_else_changes(result):
    X, y = xor_data()
    plain = interplay.select(X, y, dimensions=2, random_state=0)
    assert plain.stability is None
    assert "stability" not in plain.table
    assert plain.table.equals(result.table.drop(columns="stability"))
    with pytest.raises(ValueError, match="call select with stability=100"):
        plain.plot.stability()


def test_each_half_is_a_selection_of_these_samples(result):
    """By hand: the halves of the task, each given to select() itself."""
    X, y = xor_data()
    task = task_of(X, y, dimensions=2, stability=10, random_state=0)
    counts = np.zeros(12)
    for number, rows in enumerate(halves(task, 0)):
        half = interplay.select(X[rows], y[rows], dimensions=2, random_state=1 + number, n_contrast=300)
        counts += half.is_relevant
    np.testing.assert_allclose(result.stability.frequency, counts / 10)


def test_halves_are_complementary_and_alike():
    X, y = xor_data(101)
    strata = np.arange(101) % 2
    task = task_of(X, y, strata=strata, dimensions=2, stability=6, random_state=3)
    some = list(halves(task, 3))
    assert len(some) == 6
    for first, second in zip(some[::2], some[1::2], strict=True):
        assert np.array_equal(np.sort(np.concatenate([first, second])), np.arange(101))
        assert abs(len(first) - len(second)) <= 1
        for q in (0, 1):
            for s in (0, 1):
                cell = (y == q) & (strata == s)
                assert abs(int(cell[first].sum()) - int(cell[second].sum())) <= 1
    assert not np.array_equal(some[0], some[2])


def test_groups_stay_together():
    X, y = xor_data(200)
    groups = np.arange(200) // 4
    y = y[groups * 4]  # one label for each group
    task = task_of(X, y, groups=groups, dimensions=1, stability=4, n_permutations=39, random_state=1)
    for rows in halves(task, 1):
        assert len(rows) == 4 * len(np.unique(groups[rows]))


@pytest.mark.parametrize("kind", ["number", "times", "auto"])
def test_other_outcomes_and_dimensions(kind):
    X, y = xor_data(300, 9)
    rng = np.random.default_rng(1)
    asked: dict = {"dimensions": 2}
    if kind == "number":
        outcome = y + rng.normal(size=300) / 3
    elif kind == "times":
        outcome = (rng.exponential(size=300) / np.exp(2.0 * y), np.ones(300, dtype=bool))
    else:
        outcome, asked = y, {}
    found = interplay.select(X, outcome, stability=4, random_state=0, **asked)
    assert found.stability.frequency[[2, 7]].min() > 0.7


def test_bound_is_that_of_shah_and_samworth():
    found = stability_of([(np.array([0, 1]), [(0, 1)]), (np.array([0]), [(0, 1), (0, 1)])], 50, 2)
    assert found.frequency[:3].tolist() == [1.0, 0.5, 0.0]
    assert found.tuples.tolist() == [[0, 1]]
    assert found.tuple_frequency.tolist() == [1.0]
    assert found.expected_false(0.75) == pytest.approx(1.5**2 / 50 / 0.5)


def test_saved_report_and_plot(result, tmp_path):
    result.save(tmp_path / "s.interplay")
    again = interplay.load(tmp_path / "s.interplay")
    assert isinstance(again.stability, Stability)
    assert again.table.equals(result.table)
    result.to_html(tmp_path / "s.html")
    text = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "10 halves of the samples" in text
    assert '"stability":[1,1,' in text.replace(" ", "")
    axes = result.plot.stability(max_variables=5)
    assert len(axes.patches) == 5
    assert axes.patches[-1].get_width() == 1.0


def test_command_line(tmp_path, monkeypatch, capfd):
    from command_line import exclusive_or, in_process

    exclusive_or().to_csv(tmp_path / "t.csv", index=False)
    done = in_process(
        monkeypatch, capfd, "run", tmp_path / "t.csv", "--target", "outcome", "-k", 2, "--stability", 4, "--seed", 1
    )
    assert done.code == 0, done.err
    assert "of 4 halves of the samples" in done.out


def test_bad_numbers_are_refused():
    X, _ = xor_data(60)
    with pytest.raises(ValueError, match=r"^stability needs at least 4 samples of each class"):
        interplay.select(X, np.r_[np.zeros(57), np.ones(3)].astype(int), stability=4)
