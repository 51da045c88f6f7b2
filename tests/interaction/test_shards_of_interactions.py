"""interactions(): merged shards are the search in one piece, a list is the whole list cut short, for all options."""

from typing import Any

import numpy as np
import pytest

import interplay

pytestmark = pytest.mark.filterwarnings("ignore:tuples of .* samples to be tested")

#: What must be the same, and not only nearly so.
COLUMNS = ["members", "chi2", "df", "p_value", "p_adjusted", "significant", "method"]

#: Adjustments for which larger p-values matter.
STEP_UP = ("hochberg", "BH", "BY")


def drawn(seed, discretizations):
    """Draw a table with an interaction, and options of the call."""
    rng = np.random.default_rng(seed)
    n_vars = int(rng.integers(5, 9))
    n = int(rng.choice([80, 150]))
    X = rng.normal(size=(n, n_vars))
    X[:, 2] = rng.integers(0, 3, n)
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(n) < 0.2)).astype(int) + 1 * (rng.random(n) < rng.choice([0, 0.2]))
    options: dict[str, Any] = {
        "dimensions": int(rng.choice([2, 3])),
        "discretizations": discretizations,
        "p_adjust": str(rng.choice(["holm", "bonferroni", "hochberg", "BH", "BY", "none"])),
        "random_state": seed,
    }
    if discretizations > 1:
        options["range_"] = 0.5
    if rng.random() < 0.3:
        options["strata"] = rng.integers(0, 2, n)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.05] = np.nan
        options["missing"] = str(rng.choice(["omit", "level"]))
    chosen = rng.random()
    if chosen < 0.6:
        options["variables"] = [0, 1, 3]
    if chosen < 0.3:
        options["partners"] = [1, 2, 3, 4]
    return X, y, options


def listed(rng):
    """Draw what is listed: the significant tuples, those up to a p-value, or the first few."""
    return [{}, {"max_p": float(rng.choice([0.01, 0.3, 1.0]))}, {"top": int(rng.integers(1, 12))}][rng.integers(3)]


def assert_same(found, expected):
    assert found.n_tests == expected.n_tests
    for column in COLUMNS:
        assert found.table[column].tolist() == expected.table[column].tolist(), column
    assert found.tested.discretization.tolist() == expected.tested.discretization.tolist()


def merged(X, y, n_shards, **options):
    parts = [interplay.interactions(X, y, shard=(i, n_shards), **options) for i in range(1, n_shards + 1)]
    return interplay.merge_interactions(parts[::-1])


@pytest.mark.parametrize("seed", range(16))
def test_merged_shards_are_the_whole_search(seed):
    X, y, options = drawn(seed, discretizations=1)
    rng = np.random.default_rng(1000 + seed)
    options |= listed(rng)
    if options["p_adjust"] in STEP_UP:
        options |= {"max_p": 1.0, "top": None}
    assert_same(merged(X, y, int(rng.integers(2, 5)), **options), interplay.interactions(X, y, **options))


@pytest.mark.parametrize("p_adjust", STEP_UP)
def test_short_lists_are_adjusted_alike(p_adjust):
    for seed in range(12):
        X, y, options = drawn(seed, discretizations=1)
        options |= {"p_adjust": p_adjust, "top": 2, "coding": "levels"}
        assert_same(merged(X, y, 3, **options), interplay.interactions(X, y, **options))


@pytest.mark.parametrize("seed", range(16))
def test_a_list_is_the_beginning_of_the_whole_list(seed):
    X, y, options = drawn(seed, discretizations=1)
    assert_beginnings(X, y, options, seed)


def assert_beginnings(X, y, options, seed):
    everything = interplay.interactions(X, y, max_p=1, **options)
    assert len(everything) == everything.n_tests
    rng = np.random.default_rng(2000 + seed)
    max_p, top = float(rng.choice([0.01, 0.1, 0.5])), int(rng.integers(1, 12))
    p = everything.table["p_value"].to_numpy()
    for call, n_listed in (({"max_p": max_p}, int((p <= max_p).sum())), ({"top": top}, min(top, len(p)))):
        found = interplay.interactions(X, y, **call, **options)
        for column in ("members", "chi2", "df", "p_value", "method"):
            assert found.table[column].tolist() == everything.table[column].tolist()[:n_listed], (call, column)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("discretizations", [1, 3])
def test_partners_do_not_change_a_tuple(seed, discretizations):
    X, y, options = drawn(seed, discretizations)
    options = {name: value for name, value in options.items() if name not in ("variables", "partners")}
    everything = interplay.interactions(X, y, max_p=1, **options)
    some = interplay.interactions(X, y, max_p=1, variables=[1, 3], partners=[2, 4], **options)
    chi2_of = dict(zip(everything.table["members"], everything.table["chi2"], strict=True))
    assert {members: chi2_of.get(members) for members in some.table["members"]} == dict(
        zip(some.table["members"], some.table["chi2"], strict=True)
    )


@pytest.mark.parametrize("call", [{"max_p": 1}, {"max_p": 0.3}, {"top": 10}, {"p_adjust": "BH"}])
def test_merged_shards_of_several_discretizations(call):
    for seed in range(8):
        X, y, options = drawn(seed, discretizations=3)
        options["range_"] = None
        assert_same(merged(X, y, 3, **options | call), interplay.interactions(X, y, **options | call))


@pytest.mark.parametrize("call", [{"max_p": 1}, {"top": 15}])
def test_lists_of_several_discretizations(call):
    for seed in range(3, 8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 6)), rng.integers(0, 2, 100)
        assert len(interplay.interactions(X, y, discretizations=10, random_state=seed, **call)) == 15


@pytest.mark.parametrize("seed", range(3))
def test_lists_of_several_discretizations_begin_alike(seed):
    assert_beginnings(*drawn(seed, discretizations=3), seed)


def test_lists_of_groups_and_several_discretizations():
    rng = np.random.default_rng(3)
    groups = np.arange(100) // 5
    X, y = rng.normal(size=(100, 6)), rng.integers(0, 2, 20)[groups]
    found = interplay.interactions(X, y, groups=groups, discretizations=6, top=15, n_permutations=39)
    assert len(set(found.table["members"])) == 15


@pytest.mark.parametrize("coding", ["levels", "auto"])
@pytest.mark.parametrize("kind", ["classes", "numbers", "times"])
def test_discretizations_in_a_model(kind, coding):
    """The full model chooses the discretisation, in one call and in shards; p beside splines is that of finds alone."""
    for seed, call in enumerate([{"max_p": 1.0}, {"top": 9}, {"p_adjust": "none"}, {"max_p": 1.0, "level": 0.3}]):
        rng = np.random.default_rng(seed)
        X, more = np.exp(rng.normal(size=(100, 6))), {"covariates": rng.normal(size=(100, 1))}
        effect = (X[:, 0] > 1) * (X[:, 1] > 1) + 0.3 * X[:, 2]
        y: Any = effect + rng.logistic(size=100)
        if kind == "times":
            y = rng.exponential(size=100) * np.exp(-effect), rng.random(100) < 0.8
        y = (y > 1) + 0 if kind == "classes" else y
        options: dict[str, Any] = {"discretizations": 3, "random_state": 0} | call | (more if kind == "classes" else {})
        options["coding"] = coding
        whole, parts = interplay.interactions(X, y, **options), merged(X, y, 3, **options)
        if coding == "auto":  # where p = 1 by then, discretisations are equal
            whole, parts = (found.chosen(np.flatnonzero(found.tested.log_p < 0)) for found in (whole, parts))
        assert whole.table["members"].tolist() == parts.table["members"].tolist()
        for column in ("discretization", "log_p", "p_adjusted", "p_smooth"):
            found, expected = (getattr(result.tested, column).tolist() for result in (parts, whole))
            assert found == pytest.approx(expected, nan_ok=True), column
