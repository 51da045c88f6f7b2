"""Where samples are too few for χ², a warning or the summary says so; where they are not, none does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import interplay
from interplay import FewSamplesWarning
from interplay.statistics.few_samples import note_on_sparse_tuples, warn_of_unconfirmed


def noise_with_one_table(counts, n_vars: int = 100) -> tuple[np.ndarray, np.ndarray]:
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
    def test_what_the_exact_test_does_not_confirm_is_named(self) -> None:
        X, y = noise_with_one_table(DOUBTFUL)
        with pytest.warns(FewSamplesWarning, match=r"'x0': relevant by chi-squared.*p = 0\.0015 instead of") as caught:
            result = interplay.select(X, y, dimensions=1, random_state=0)
        assert result.relevant == ["x0"]
        assert caught[0].filename == __file__

    def test_what_it_confirms_is_not(self) -> None:
        X, y = noise_with_one_table([[90, 20], [100, 0]])
        assert interplay.select(X, y, dimensions=1, random_state=0).relevant == ["x0"]

    def test_the_adjustment_is_the_one_asked_for(self) -> None:
        X, y = noise_with_one_table(DOUBTFUL)
        assert "x0" in interplay.select(X, y, dimensions=1, level=0.2, random_state=0).relevant
        assert "x0" in interplay.select(X, y, dimensions=1, p_adjust="none", level=0.001, random_state=0).relevant

    def test_several_are_counted(self) -> None:
        X, y = noise_with_one_table(DOUBTFUL)
        X[:, 7] = X[:, 0]
        with pytest.warns(FewSamplesWarning, match="'x0' and 1 more"):
            interplay.select(X, y, dimensions=1, random_state=0)

    def test_pairs_of_classes_count_as_tests_too(self) -> None:
        """0.0015 · 12 variables is below 0.05; times three pairs of classes it is not."""
        X, y = noise_with_one_table(DOUBTFUL, n_vars=12)
        assert interplay.select(X, y, dimensions=1, random_state=0).relevant == ["x0"]
        X, y = np.vstack([X, np.tile([[0.0], [1.0]], (60, 12))]), np.append(y, np.full(120, 2))
        with pytest.warns(FewSamplesWarning, match="x0"):
            interplay.select(X, y, dimensions=1, multiclass="ovo", random_state=0)

    def test_more_levels_or_many_samples_are_left_to_chi_squared(self) -> None:
        p_values = np.array([1e-4, 0.5])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for counts in ([[9, 1], [9, 1], [9, 1]], [[1000, 1000], [1000, 1000]]):
                warn_of_unconfirmed(
                    ["a", "b"],
                    p_values,
                    [(0, np.array(counts))],
                    n_runs=1,
                    p_adjust="holm",
                    level=0.05,
                    pseudocount=0.25,
                )


class TestMoreDimensions:
    def test_who_finds_nothing_hears_of_nearly_empty_cells(self) -> None:
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(100, 10)), np.repeat(["well", "ill"], [90, 10])
        *_, last = interplay.select(X, y, random_state=0).summary().splitlines()
        assert last.startswith(
            "class 'ill' has 10 samples, too few for the tables of dimensions=2 (2 degrees of freedom)"
        )
        for enough in ({"dimensions": 1}, {"y": np.repeat(["well", "ill"], [85, 15])}):
            result = interplay.select(X, **{"y": y, "random_state": 0} | enough)
            assert result.relevant == []
            assert "too few" not in result.summary()

    def test_who_finds_something_does_not(self) -> None:
        x = np.repeat([0.0, 1.0], 8)
        result = interplay.select(np.stack([x, np.tile([0.0, 1.0], 8)], axis=1), x == 1, fit="union")
        assert result.relevant == ["x0"]
        assert "too few" not in result.summary()

    @pytest.mark.parametrize(("n_levels", "n_classes", "needed"), [(2, 2, 12), (3, 2, 36), (2, 4, 12)])
    def test_levels_count_and_classes_do_not(self, n_levels: int, n_classes: int, needed: int) -> None:
        df = np.full(20, (n_classes - 1) * (n_levels - 1) * n_levels)
        labels = [str(q) for q in range(n_classes)]
        sizes = np.full(n_classes, 500)
        sizes[-1] = needed
        assert note_on_sparse_tuples(labels, sizes, df, dimensions=2) == ""
        sizes[-1] -= 1
        assert f"class '{n_classes - 1}' has {needed - 1}" in note_on_sparse_tuples(labels, sizes, df, dimensions=2)
