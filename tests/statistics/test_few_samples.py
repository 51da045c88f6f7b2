"""Where samples are few, 1D p-values are exact; in more dimensions the summary says that nothing can be found."""

import numpy as np
import pytest

import interplay
from interplay.infer.null_fit import note_on_sparse_tuples


def noise_with_one_table(counts, n_vars=100):
    """Columns that are the decision's halves, shuffled, and as x0 one with these samples by level and class."""
    counts = np.asarray(counts)
    y = np.repeat([0, 1], counts.sum(axis=0))
    rng = np.random.default_rng(0)
    X = np.stack([rng.permutation(len(y)) for _ in range(n_vars)], axis=1) % 2.0
    X[:, 0] = np.concatenate([np.repeat([0, 1], counts[:, q]) for q in (0, 1)])
    return X, y


#: Chance gives this in 0.0015 of tables: with a hundred variables it is no find, and χ² takes it for one.
DOUBTFUL = [[90, 10], [100, 0]]


class TestOneDimension:
    """p-values are right by themselves; where the warning used to be, nothing is selected that chance gives."""

    def test_what_chance_gives_is_not_selected(self):
        X, y = noise_with_one_table(DOUBTFUL)
        result = interplay.select(X, y, dimensions=1, random_state=0)
        assert result.relevant == []
        assert result.p_value[0] == pytest.approx(0.0015, abs=5e-5)

    def test_what_it_does_not_give_is(self):
        X, y = noise_with_one_table([[90, 20], [100, 0]])
        assert interplay.select(X, y, dimensions=1, random_state=0).relevant == ["x0"]

    def test_the_adjustment_is_the_one_asked_for(self):
        X, y = noise_with_one_table(DOUBTFUL)
        assert "x0" in interplay.select(X, y, dimensions=1, level=0.2, random_state=0).relevant
        assert "x0" in interplay.select(X, y, dimensions=1, p_adjust="none", level=0.002, random_state=0).relevant
        assert "x0" not in interplay.select(X, y, dimensions=1, p_adjust="none", level=0.001, random_state=0).relevant

    def test_pairs_of_classes_count_as_tests_too(self):
        """0.0015 · 12 variables is below 0.05; times three pairs of classes it is not."""
        X, y = noise_with_one_table(DOUBTFUL, n_vars=12)
        assert interplay.select(X, y, dimensions=1, random_state=0).relevant == ["x0"]
        X, y = np.vstack([X, np.tile([[0.0], [1.0]], (60, 12))]), np.append(y, np.full(120, 2))
        assert interplay.select(X, y, dimensions=1, multiclass="ovo", random_state=0).relevant == []

    def test_the_name_of_the_warning_is_still_there(self):
        assert issubclass(interplay.FewSamplesWarning, UserWarning)


class TestMoreDimensions:
    def test_who_finds_nothing_hears_of_nearly_empty_cells(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(100, 10)), np.repeat(["well", "ill"], [90, 10])
        *_, last = interplay.select(X, y, dimensions=2, random_state=0).summary().splitlines()
        assert last.startswith(
            "class 'ill' has 10 samples, too few for the tables of dimensions=2 (2 degrees of freedom)"
        )
        for enough in ({"dimensions": 1}, {"y": np.repeat(["well", "ill"], [85, 15])}):
            result = interplay.select(X, **{"y": y, "dimensions": 2, "random_state": 0} | enough)
            assert result.relevant == []
            assert "too few" not in result.summary()

    def test_who_finds_something_does_not(self):
        x = np.repeat([0.0, 1.0], 8)
        result = interplay.select(np.stack([x, np.tile([0.0, 1.0], 8)], axis=1), x == 1, dimensions=2, fit="union")
        assert result.relevant == ["x0"]
        assert "too few" not in result.summary()

    @pytest.mark.parametrize(("n_levels", "n_classes", "needed"), [(2, 2, 12), (3, 2, 36), (2, 4, 12)])
    def test_levels_count_and_classes_do_not(self, n_levels, n_classes, needed):
        df = np.full(20, (n_classes - 1) * (n_levels - 1) * n_levels)
        labels = [str(q) for q in range(n_classes)]
        sizes = np.full(n_classes, 500)
        sizes[-1] = needed
        assert note_on_sparse_tuples(labels, sizes, df, dimensions=2) == ""
        sizes[-1] -= 1
        assert f"class '{n_classes - 1}' has {needed - 1}" in note_on_sparse_tuples(labels, sizes, df, dimensions=2)
