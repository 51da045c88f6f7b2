"""What must hold for any data: the invariances of the method, the ways of running it, and keeping its results.

Engines against plain loops, tile sizes and the order of samples, variables and classes at the level of codes are in
test_engines_agree.py, the algebra of merging one tuple at a time in test_max_gains.py. Here it is whole calls, from the
table to the gains; threads, instruction sets, shards, checkpoints and strata are those of fuzz/differential.py.
"""

import os
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interplay
from hostile.case import assert_same
from interplay.ask.selection.part import Part
from interplay.search.engines.cpu import simd_levels


@st.composite
def problems(draw):
    """A table without equal values in any column, a decision, and settings of a search."""
    dimensions = draw(st.integers(1, 3))
    n_vars = draw(st.integers(max(2, dimensions), 7))
    n_samples = draw(st.integers(20, 90))
    n_classes = draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.stack([rng.permutation(n_samples) for _ in range(n_vars)], axis=1) + rng.random()
    y = rng.permutation(np.arange(n_samples) % n_classes)
    if n_vars > 2 and draw(st.booleans()):  # something to find
        y = ((X[:, 0] > n_samples / 2) ^ (X[:, 1] > n_samples / 3)).astype(int)
    discretizations = draw(st.integers(1, 3))
    return {
        "X": X,
        "y": y,
        "settings": {
            "dimensions": dimensions,
            "divisions": draw(st.integers(1, 3)),
            "discretizations": discretizations,
            "range_": draw(st.floats(0.1, 0.9)) if discretizations > 1 else draw(st.floats(0, 0.9)),
            "pseudocount": draw(st.sampled_from([0.1, 0.25, 1.0])),
            "random_state": draw(st.integers(0, 2**32 - 1)),
            "discrete": "none",
            "decision": "classes",
        },
    }


@st.composite
def tied_problems(draw):
    """A problem with constant columns, copies of columns, and tuples left out, in up to four dimensions."""
    problem = draw(problems())
    X, rng = problem["X"], np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_vars = X.shape[1]
    X[:, rng.integers(0, n_vars, n_vars)] = X[:, rng.integers(0, n_vars, n_vars)]
    X[:, rng.choice(n_vars, draw(st.integers(0, n_vars)), replace=False)] = 0
    dimensions = draw(st.integers(1, min(n_vars, 4)))
    variables = draw(st.none() | st.sets(st.integers(0, n_vars - 1), min_size=1))
    require = draw(st.sampled_from(["any", "all"]))
    if variables is not None and require == "all" and len(variables) < dimensions:
        variables = None
    more = {"dimensions": dimensions, "variables": variables, "require": require}
    return problem | {"settings": problem["settings"] | more}


def two_strata(y):
    """Return strata that both have samples of every class: of others, a search warns."""
    strata = np.empty(len(y), dtype=np.int64)
    strata[np.argsort(y, kind="stable")] = np.arange(len(y)) % 2
    return strata


def gains_of(problem, **changes):
    given_ = {"X": problem["X"], "y": problem["y"], **problem["settings"]} | changes
    return interplay.max_information_gain(given_.pop("X"), given_.pop("y"), **given_)


class TestInvariances:
    """Gains do not change, to the last bit: they are sums of integers."""

    @given(problems(), st.randoms(use_true_random=False))
    @settings(max_examples=25, deadline=None)
    def test_samples_reordered(self, problem, random):
        order = random.sample(range(len(problem["y"])), len(problem["y"]))
        assert_same(gains_of(problem, X=problem["X"][order], y=problem["y"][order]), gains_of(problem))

    @given(problems(), st.lists(st.sampled_from(["exp", "cube", "rank", "scale", "float32"]), min_size=7, max_size=7))
    @settings(max_examples=25, deadline=None)
    def test_variables_transformed_monotonically(self, problem, transforms):
        functions = {
            "exp": lambda x: np.exp(x / 30),
            "cube": lambda x: (x - 20) ** 3,
            "rank": lambda x: np.argsort(np.argsort(x)) - 1000,
            "scale": lambda x: 1e300 * x - 1e301,
            "float32": lambda x: x.astype(np.float32).astype(float),
        }
        columns = [functions[name](column) for name, column in zip(transforms, problem["X"].T, strict=False)]
        assert_same(gains_of(problem, X=np.stack(columns, axis=1)), gains_of(problem))

    @given(problems(), st.randoms(use_true_random=False))
    @settings(max_examples=25, deadline=None)
    def test_variables_reordered(self, problem, random):
        """Without random thresholds: these are drawn by a variable's number. Tuples only up to ties."""
        order = random.sample(range(problem["X"].shape[1]), problem["X"].shape[1])
        fixed = {"range_": 0.0, "discretizations": 1}
        plain, moved = gains_of(problem, **fixed), gains_of(problem, X=problem["X"][:, order], **fixed)
        assert np.array_equal(moved.gain, plain.gain[order])
        assert np.array_equal(moved.df, plain.df[order])

    @given(problems(), st.permutations([0, 1, 2]), st.sampled_from([list("cab"), [9.0, -1.0, 4.0], [7, 2**60, 0]]))
    @settings(max_examples=25, deadline=None)
    def test_class_labels_swapped(self, problem, order, labels):
        renamed = [labels[order[q]] for q in problem["y"]]
        assert_same(gains_of(problem, y=renamed), gains_of(problem))


class TestWaysOfRunning:
    @given(problems(), st.sampled_from(simd_levels()))
    @settings(max_examples=8, deadline=None)
    def test_the_environment_chooses_the_same(self, problem, simd_level):
        with mock.patch.dict(os.environ, {"INTERPLAY_SIMD_LEVEL": simd_level}):
            chosen = gains_of(problem)
        assert_same(chosen, gains_of(problem))

    @given(st.one_of(problems(), tied_problems()), st.randoms(use_true_random=False))
    @settings(max_examples=15, deadline=None)
    def test_discretizations_merge_to_the_whole(self, problem, random):
        """MaxGains.merge in any order and grouping: searches restricted to some variables make up the whole one."""
        n_vars = problem["X"].shape[1]
        problem["settings"] |= {"variables": None, "require": "any"}
        parts = [gains_of(problem, variables=[v]) for v in range(n_vars)]
        whole = gains_of(problem)
        random.shuffle(parts)
        while len(parts) > 1:  # any two neighbours, either way round
            i = random.randrange(len(parts) - 1)
            a, b = parts[i : i + 2]
            parts[i : i + 2] = [a.merge(b) if random.random() < 0.5 else b.merge(a)]
        assert_same(parts[0], whole)


class TestKeeping:
    @given(problems(), st.sampled_from(["joint", "ovr", "ovo"]), st.text(max_size=8))
    @settings(max_examples=12, deadline=None)
    def test_save_and_load_of_a_selection_is_the_identity(self, problem, multiclass, name):
        import pandas as pd

        names = [f"{name}{v}" for v in range(problem["X"].shape[1])]
        table = pd.DataFrame(problem["X"], columns=names)
        found = interplay.select(table, problem["y"], **problem["settings"], n_contrast=30, multiclass=multiclass)
        with tempfile.TemporaryDirectory() as folder:
            found.save(Path(folder) / "saved")
            again = interplay.load(Path(folder) / "saved")
        assert_same(again, found.without_samples())
        assert again.provenance == found.provenance

    @given(problems(), st.booleans())
    @settings(max_examples=12, deadline=None)
    def test_save_and_load_of_a_part_is_the_identity(self, problem, with_strata):
        strata = two_strata(problem["y"]) if with_strata else None
        part = interplay.search_shard(
            problem["X"], problem["y"], shard=(2, 3), strata=strata, n_contrast=30, **problem["settings"]
        )
        with tempfile.TemporaryDirectory() as folder:
            part.save(Path(folder) / "saved")
            again = Part.load(Path(folder) / "saved")
        assert_same(again, part)
        assert again.provenance == part.provenance


class TestOneMoreDimension:
    """A variable loses no information by being looked at together with others, but for what these say already.

    Write U(S) for the entropy of the decision given the members in S, of the table of a pair {u, v} with pseudocounts
    ξ, and c for the number of levels. Its marginals carry c·ξ, so U(∅) − U(v) is A(v): the gain of v in 1D, with the
    pseudocount c·ξ. The gains in the pair are M(v, u) = U(u) − U(uv) and M(u, v) = U(v) − U(uv), so exactly

        M(v, u) − M(u, v) = A(v) − A(u),

    and, as gains are not negative, the maximum gain G₂ of v in 2D is at least

        G₂(v) ≥ A(v) − min over u ≠ v of A(u):

    v loses at most what the least telling other variable says alone. A constant column says nothing, and the cells
    that it adds hold pseudocounts alone, in the shares of the classes, which cancel. Together with it nothing is lost
    at all, whatever ξ: for every k,

        G₍ₖ₊₁₎(v) among X and a constant ≥ Gₖ(v) among X.
    """

    @given(problems())
    @settings(max_examples=25, deadline=None)
    def test_chain_rule(self, problem):
        fixed = {"range_": 0.0, "discretizations": 1}
        n_levels, pseudocount = problem["settings"]["divisions"] + 1, problem["settings"]["pseudocount"]
        alone = gains_of(problem, **fixed, dimensions=1, pseudocount=n_levels * pseudocount).gain
        best = gains_of(problem, **fixed, dimensions=2).gain
        in_pair = interplay.interesting_tuples(
            problem["X"], problem["y"], as_matrix=True, **problem["settings"] | fixed | {"dimensions": 2}
        )
        apart = ~np.eye(len(alone), dtype=bool)
        np.testing.assert_allclose((in_pair - in_pair.T)[apart], (alone[:, None] - alone)[apart], atol=1e-8)
        assert (in_pair[apart] >= -1e-8).all()
        for v in range(len(alone)):
            assert best[v] >= alone[v] - np.delete(alone, v).min() - 1e-8

    @given(problems())
    @settings(max_examples=25, deadline=None)
    def test_nothing_is_lost_beside_a_constant_column(self, problem):
        with_constant = np.column_stack([problem["X"], np.zeros(len(problem["y"]))])
        fixed = {"range_": 0.0, "discretizations": 1}
        more = gains_of(problem, **fixed, X=with_constant, dimensions=problem["settings"]["dimensions"] + 1)
        assert (more.gain[:-1] >= gains_of(problem, **fixed).gain - 1e-8).all()


def test_a_problem_that_breaks_an_invariance_is_seen():
    """The comparison is one that can fail."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 2, 50)
    with pytest.raises(AssertionError):
        assert_same(interplay.max_information_gain(X, y), interplay.max_information_gain(X[::-1], y))
