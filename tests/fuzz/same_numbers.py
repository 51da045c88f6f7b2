"""Things that must not change a result: a file in between, shards, units, the order of rows and columns, names."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import interplay
from fuzz.outcomes import refused_or


@dataclass(frozen=True)
class DrawnTable:
    """A table, an outcome of any kind and options, as numbers and words, so that what fails can be run as printed."""

    seed: int
    kind: str
    n_samples: int
    n_vars: int
    model: str
    discretizations: int
    dimensions: int
    unit: float = 1.0

    def data(self):
        """Return X, y and options."""
        rng = np.random.default_rng(self.seed)
        n = self.n_samples
        X = np.exp(rng.normal(size=(n, self.n_vars)))
        few = rng.random(self.n_vars) < 0.4
        X[:, few] = rng.integers(0, 3, (n, int(few.sum())))
        effect = 1.5 * (X[:, 0] > 1) * (X[:, 1] > 1) + 0.3 * X[:, -1] + rng.logistic(size=n)
        y: Any = effect / np.abs(effect).max() * self.unit
        if self.kind == "times":
            y = np.exp(-effect), rng.random(n) < 0.8
        elif self.kind != "numbers":
            y = np.digitize(effect, [0.5] if self.kind == "classes" else [-0.5, 1.0])
        options: dict[str, Any] = {"discretizations": self.discretizations, "dimensions": self.dimensions}
        if self.model != "none":
            options[self.model] = rng.normal(size=(n, 1)) if self.model == "covariates" else rng.integers(0, 2, n)
        if self.kind == "numbers":
            options["scale"] = str(rng.choice(["ranks", "values"]))
        return X, y, options | {"random_state": 0}


tables = st.builds(
    DrawnTable,
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["classes", "several", "numbers", "times"]),
    n_samples=st.integers(30, 100),
    n_vars=st.integers(3, 5),
    model=st.sampled_from(["none", "covariates", "strata"]),
    discretizations=st.integers(1, 3),
    dimensions=st.integers(2, 3),
)
lists = st.sampled_from([{}, {"max_p": 1.0}, {"max_p": 0.1}, {"top": 4}, {"level": 0.3, "p_adjust": "none"}])


@given(tables)
def saved_selections(table):
    """What `save` writes, `load` reads, and the tables are the same."""
    X, y, options = table.data()
    found = refused_or(lambda: interplay.select(X, y, **options))
    if found is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        found.save(Path(folder) / "kept")
        again = interplay.load(Path(folder) / "kept")
    assert again.table.equals(found.table)
    assert again.summary() == found.summary()


@given(tables, lists)
def saved_interactions(table, listed):
    """The same of interactions."""
    X, y, options = table.data()
    found = refused_or(lambda: interplay.interactions(X, y, **options, **listed))
    if found is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        found.save(Path(folder) / "kept")
        again = interplay.load(Path(folder) / "kept")
    assert again.table.equals(found.table)
    assert again.summary() == found.summary()


@given(tables, lists, st.integers(2, 4))
def shards_of_any_outcome(table, listed, n_shards):
    """Merged shards are the search in one piece."""
    X, y, options = table.data()
    if table.discretizations > 1:  # of p = 1 for all ways, parts do not know which discretisation was better
        options["coding"] = "levels"
    whole = refused_or(lambda: interplay.interactions(X, y, **options, **listed))
    if whole is None:
        return
    numbers = range(n_shards, 0, -1)
    parts = [
        refused_or(lambda i=i: interplay.interactions(X, y, shard=(i, n_shards), **options, **listed)) for i in numbers
    ]
    _assert_same(interplay.merge_interactions(parts), whole)


@given(tables, st.floats(-300, 300))
def units_of_numbers(table, exponent):
    """The unit of an outcome of numbers changes no p-value."""
    found = []
    for unit in (1.0, 10.0**exponent):
        X, y, options = replace(table, kind="numbers", unit=unit).data()
        found.append(refused_or(lambda X=X, y=y, more=options: interplay.interactions(X, y, max_p=1.0, **more)))
    if found[0] is not None:
        _assert_same(found[1], found[0], tolerance=1e-5)


@given(tables, st.integers(0, 2**32 - 1))
def order_and_names(table, seed):
    """Neither the order of rows and columns nor the counted allele changes a p-value."""
    rng = np.random.default_rng(seed)
    table = replace(table, discretizations=1, model="none")
    X, y, options = table.data()
    options["coding"] = "levels"  # the screen of products rounds one member of a pair to eight bits
    X = np.digitize(X, [0.7, 1.6])
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    other = np.where(rng.random(X.shape[1]) < 0.5, 2 - X, X)[rows][:, columns]
    y_there = tuple(part[rows] for part in y) if isinstance(y, tuple) else y[rows]
    one = refused_or(lambda: interplay.interactions(X, y, max_p=1.0, **options))
    two = refused_or(lambda: interplay.interactions(other, y_there, max_p=1.0, **options))
    assert (one is None) == (two is None)
    if one is None:
        return
    p = {tuple(members): log_p for members, log_p in zip(one.tested.tuples.tolist(), one.tested.log_p, strict=True)}
    for members, log_p in zip(two.tested.tuples.tolist(), two.tested.log_p, strict=True):
        expected = p[tuple(sorted(columns[v] for v in members))]
        assert abs(expected - log_p) <= 1e-5 * max(1.0, abs(log_p)), (members, expected, log_p)


def _assert_same(found, expected, *, tolerance=1e-9):
    p, q = (dict(zip(map(tuple, r.tested.tuples.tolist()), r.tested.log_p, strict=True)) for r in (found, expected))
    assert p.keys() == q.keys()
    assert all(abs(p[members] - q[members]) <= tolerance * max(1.0, abs(q[members])) for members in q)
    if tolerance < 1e-8:
        assert np.array_equal(found.tested.tuples, expected.tested.tuples)
        for name in ("p_adjusted", "p_smooth"):
            assert np.allclose(getattr(found.tested, name), getattr(expected.tested, name), equal_nan=True), name
