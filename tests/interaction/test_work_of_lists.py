"""Lists of interactions: how many tuples are fitted and corrected, so that speed is not lost unseen."""

import warnings

import numpy as np
import pytest

import interplay
from interplay.ask.tuple_tests import class_tests, prospects
from interplay.ask.tuple_tests.prospects import Prospects
from interplay.infer.interaction import bootstrap, table_tests
from interplay.infer.interaction import prospects as of_tables


def table(n_vars, n_samples, levels, n_classes=2, seed=1):
    rng = np.random.default_rng(seed)
    return rng.integers(0, levels, (n_samples, n_vars)), rng.permutation(np.arange(n_samples) * n_classes // n_samples)


class Work:
    """Counts tuples: those of the final tests, those with all bootstrap tables in NumPy, those looked at in between."""

    def __init__(self, monkeypatch):
        self.tested = self.bootstrapped = self.looked_at = self.bounded = 0
        self._count(monkeypatch, class_tests, "tested_tables", "tested", 0)
        self._count(monkeypatch, table_tests, "drawn_g2", "bootstrapped", 0)
        self._count(monkeypatch, of_tables, "roughly_drawn_g2", "looked_at", 0)
        self._count(monkeypatch, prospects, "largest_g2", "bounded", 0)

    def _count(self, monkeypatch, module, name, attribute, place):
        plain = getattr(module, name)

        def counted(*args, **options):
            setattr(self, attribute, getattr(self, attribute) + len(args[place]))
            return plain(*args, **options)

        monkeypatch.setattr(module, name, counted)


def interactions(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"discrete": "all", "decision": "classes", "coding": "levels", "progress": False} | options
        return interplay.interactions(*args, **options)


@pytest.mark.parametrize(
    ("shape", "options", "n_bounded", "n_looked_at"),
    [
        ((24, 300, 3, 3), {"dimensions": 3}, 700, 300),
        ((20, 400, 4), {"dimensions": 3}, 700, 300),
        ((12, 800, 3), {"dimensions": 4}, 400, 200),
        ((24, 200, 12), {}, 276, 276),
        ((60, 300, 5), {}, 500, 120),
    ],
)
def test_only_the_listed_are_fitted_exactly(monkeypatch, shape, options, n_bounded, n_looked_at):
    X, y = table(*shape)
    work = Work(monkeypatch)
    found = interactions(X, y, top=5, **options)
    assert len(found) == 5
    assert work.tested == 5
    assert work.bootstrapped <= 5
    assert work.bounded <= n_bounded
    assert work.looked_at <= n_looked_at


def test_a_list_up_to_a_p_value_corrects_few_more(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.binomial(2, rng.uniform(0.05, 0.5, 50), (400, 50))
    work = Work(monkeypatch)
    found = interactions(X, rng.integers(0, 2, 400), max_p=0.05)
    assert work.tested == len(found) > 20


@pytest.mark.parametrize("options", [{}, {"max_p": 0.5}, {"p_adjust": "BH"}])
def test_nothing_is_searched_where_nothing_can_be_tested(monkeypatch, options):
    X, y = table(30, 48, 8, 3)
    work = Work(monkeypatch)
    found = interactions(X, y, dimensions=3, **options)
    assert len(found) == 0
    assert found.provenance["searchers"] == {}
    assert work.tested == work.bounded == 0


def test_tuples_that_are_not_tested_are_listed_by_members(monkeypatch):
    X, y = table(10, 60, 4, 3)
    work = Work(monkeypatch)
    found = interactions(X, y, dimensions=3, top=4)
    assert work.tested == 4
    assert set(found.table["method"]) == {"sparse"}
    assert found.tested.tuples.tolist() == [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 1, 5]]
    everything = interactions(X, y, dimensions=3, max_p=1)
    for column in ("members", "chi2", "df", "p_value", "method"):
        assert everything.table[column].tolist()[:4] == found.table[column].tolist()


def test_never_testable_tuples_are_not_counted(monkeypatch):
    X, y = table(12, 100, 2, 2)
    X[:, :6] = table(6, 100, 9)[0]
    work = Work(monkeypatch)
    found = interactions(X, y, top=66)
    assert len(found) == 66
    assert work.bounded <= 15 + 36  # pairs of two levels, and of two and nine; those of nine and nine are known


def test_factors_that_are_given_up_are_above_the_highest():
    rng = np.random.default_rng(0)
    X, y = table(2, 300, 5)
    tables = np.zeros((30, 1, 5, 5, 2), dtype=np.int64)
    for one in tables:
        np.add.at(one[0], (*rng.permuted(X, axis=0).T, y), 1)
    df, seeds = np.full(30, 16), [[0, *one.ravel().tolist()] for one in tables]
    exact = bootstrap.drawn_g2(tables, df, seeds=seeds)
    rough = bootstrap.roughly_drawn_g2(tables, df, np.full(30, np.inf), seeds=seeds)
    for values, expected in zip(rough, exact, strict=True):
        np.testing.assert_allclose(values, expected, rtol=1e-7)
    some = bootstrap.roughly_drawn_g2(tables, df, np.full(30, 1.1), seeds=seeds, n_threads=2).factor
    assert (exact.factor[np.isinf(some)] > 1.1).all()
    assert np.isinf(some).any()


def test_names_are_those_that_are_counted():
    assert class_tests.Prospects is Prospects
