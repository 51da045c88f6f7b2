"""The screen for interactions: nothing significant is lost, whoever searches, in whatever parts."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interplay
from interplay.ask.tuple_tests.class_tests import least_gains
from interplay.ask.tuple_tests.prospects import MAX_LISTED
from interplay.ask.tuple_tests.screen import PSEUDOCOUNT, ScreenedTuples, n_tests, screen_tuples
from interplay.ask.tuple_tests.target_tests import target_tests
from interplay.data.codes.coded import code_comparison
from interplay.data.study.comparisons import Comparison
from interplay.data.study.design import Design, make_strata
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.table import as_table
from interplay.infer.interaction.interaction_test import interaction_test
from interplay.search.checkpoint import as_checkpoint, keeping
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.choice import check_engine
from interplay.search.engines.cpu import CpuEngine, simd_levels
from interplay.search.loop import Shard, TileLoop
from interplay.search.settings import asked_for_mask, check_search_settings


def run_screen(
    X,
    y,
    *,
    dimensions=2,
    max_p=None,
    strata=None,
    divisions=1,
    discretizations=1,
    discrete="all",
    engine="cpu",
    n_jobs=1,
    variables=None,
    require="any",
    checkpoint=None,
    shard=None,
    max_listed=MAX_LISTED,
    **options,
):
    """Screen a table, by default at 0.05 over the number of tuples."""
    table = as_table(X)
    classes = decision_classes(y, n_samples=table.n_samples, decision="classes", decision_divisions=1)
    chosen = check_search_settings(
        table,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=None,
        pseudocount=0.25,
        discrete=discrete,
        missing="error",
        random_state=0,
    )
    asked_for = asked_for_mask(table, variables, require, dimensions)
    kept = as_checkpoint(checkpoint)
    number = n_tests(table.n_vars, dimensions, discretizations=discretizations, asked_for=asked_for, require=require)
    n = table.n_samples
    comparison = Comparison("all classes", table, classes, Design(n, make_strata(strata, n_samples=n)))
    coded = code_comparison(comparison, chosen, n_threads=n_jobs)
    cap = 0.05 / number if max_p is None else max_p
    survivors = target_tests(coded).survivors(dimensions, cap, max_listed=max_listed, n_threads=n_jobs)
    # Tuples with few samples are tested here, too.
    survivors = replace(survivors, n_samples=sys.maxsize)
    with keeping(kept, lambda: {"dimensions": dimensions, "max_p": max_p}):
        return screen_tuples(
            coded,
            chosen,
            check_engine(engine, n_jobs=n_jobs, kind="screen"),
            survivors,
            asked_for=asked_for,
            require=require,
            checkpoint=kept,
            shard=None if shard is None else Shard.parse(shard),
            **options,
        )


def same(a, b):
    return (
        np.array_equal(a.tuples, b.tuples)
        and np.array_equal(a.discretization, b.discretization)
        and a.n_tuples == b.n_tuples
    )


def table_of(seed, *, n_samples, levels, n_classes):
    """Variables with and without effects, one interaction, uneven levels: some cells are empty."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([(c * rng.random(n_samples) ** 1.7).astype(int) for c in levels])
    score = X[:, 0] + 1.5 * ((X[:, 1] > 0) ^ (X[:, -1] > 0)) + rng.normal(size=n_samples)
    y = np.argsort(np.argsort(score, kind="stable")) * n_classes // n_samples
    return X, y


def counts_of(X, y, members, strata):
    columns = [*([] if strata is None else [strata]), *(np.unique(X[:, v], return_inverse=True)[1] for v in members), y]
    counts = np.zeros([max(int(column.max()) + 1, 2) for column in columns], dtype=np.int64)
    np.add.at(counts, tuple(columns), 1)
    return counts


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 3),
    st.integers(2, 4),
    st.integers(2, 3),
    st.sampled_from([0, 2, 3]),
    st.floats(1e-6, 0.5),
)
def test_every_significant_tuple_is_left(seed, dimensions, most_levels, n_classes, n_strata, max_p):
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, most_levels + 1, 6)
    X, y = table_of(seed, n_samples=int(rng.integers(40, 300)), levels=levels, n_classes=n_classes)
    strata = None
    if n_strata:
        strata = rng.integers(0, n_strata, len(y))
        strata[:n_strata] = np.arange(n_strata)
    found = {tuple(row) for row in run_screen(X, y, dimensions=dimensions, max_p=max_p, strata=strata).tuples.tolist()}
    for members in combinations(range(X.shape[1]), dimensions):
        counts = counts_of(X, y, members, strata)[np.newaxis]
        # χ² alone: what a bootstrap does to p-values only raises them.
        tests = interaction_test(counts, strata=strata is not None, bootstrap_below=0.0)
        if tests.p_value[0] <= max_p:
            assert members in found


def test_additive_effects_are_screened_out_and_interactions_are_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 120))
    logit = 2.5 * X[:, 0] + 2.5 * X[:, 1] - 2.5 + 3.0 * ((X[:, 50] ^ X[:, 51]) - 0.5)
    y = (rng.random(600) < 1 / (1 + np.exp(-logit))).astype(int)
    gains = interplay.max_information_gain(X, y)
    assert gains.gain[:2].min() > 20
    found = run_screen(X, y)
    assert found.tuples.tolist() == [[50, 51]]
    assert found.n_tuples == 120 * 119 // 2
    assert found.engine["name"] == "cpu"
    assert found.searched.keys() == {"singles"}


def test_all_are_listed_where_all_are_asked_for():
    X, y = table_of(1, n_samples=100, levels=np.repeat([2, 3], 5), n_classes=2)
    found = run_screen(X, y, max_p=1.0)
    assert found.tuples.tolist() == [list(pair) for pair in combinations(range(10), 2)]
    with pytest.raises(ValueError, match="more than 20 tuples may be significant at max_p: lower max_p, or look at"):
        run_screen(X, y, max_p=1.0, max_listed=20)


@pytest.mark.parametrize(("variables", "require"), [([1, 5], "any"), ([0, 1, 9, 5], "all")])
def test_only_tuples_asked_for_are_screened(variables, require):
    X, y = table_of(2, n_samples=200, levels=np.full(10, 2), n_classes=2)
    everything = run_screen(X, y, dimensions=3, max_p=1.0).tuples
    of_all = np.isin(everything, variables)
    wanted = everything[of_all.any(axis=1) if require == "any" else of_all.all(axis=1)]
    found = run_screen(X, y, dimensions=3, max_p=1.0, variables=variables, require=require)
    assert np.array_equal(found.tuples, wanted)
    assert found.n_tuples == len(wanted)


LIST = {"dimensions": 3, "max_p": 0.02}


@pytest.fixture(scope="module")
def mixed():
    X, y = table_of(3, n_samples=200, levels=np.repeat([2, 3, 4], 15), n_classes=2)
    found = run_screen(X, y, **LIST)
    assert len(found) > 50
    return X, y, found


@pytest.mark.parametrize("simd", simd_levels())
def test_threads_and_instruction_sets_change_nothing(mixed, simd):
    X, y, found = mixed
    for worker in (CpuEngine(n_threads=3, simd_level=simd), CpuEngine(simd_level=simd, direct_only=True)):
        assert same(run_screen(X, y, **LIST, engine=worker), found)


def test_shards_make_up_the_whole(mixed):
    X, y, found = mixed
    parts = [run_screen(X, y, **LIST, shard=f"{number}/4") for number in (3, 1, 4, 2)]
    assert all(0 < len(part) < len(found) for part in parts)
    assert same(ScreenedTuples.merged(parts), found)
    whole = {name: counts["tuples"] for name, counts in found.searched.items()}
    assert {name: counts["tuples"] for name, counts in ScreenedTuples.merged(parts).searched.items()} == whole
    other = run_screen(X[:, :40], y, **LIST, shard="1/4")
    with pytest.raises(ValueError, match="only shards of one screen can be merged"):
        ScreenedTuples.merged([parts[0], other])


def test_an_interrupted_screen_goes_on(mixed, tmp_path, monkeypatch):
    X, y, found = mixed
    file = tmp_path / "screen.ckpt"
    n_added = 0
    add = TileLoop._take

    def add_and_stop(loop, *args):
        nonlocal n_added
        add(loop, *args)
        n_added += 1
        if n_added == 3:  # after the tuples are there, before the tiles are done
            raise KeyboardInterrupt

    class OneTileAtATime(CpuEngine):
        def search(self, planes, tiles, sink, **options):
            super().search(planes, tiles[:1], sink, **options)

    with monkeypatch.context() as patched:
        patched.setattr(TileLoop, "_take", add_and_stop)
        with pytest.raises(SearchInterrupted, match="the same call goes on from") as caught:
            run_screen(X, y, **LIST, engine=OneTileAtATime(), checkpoint=file)
    partial = caught.value.partial
    assert isinstance(partial, ScreenedTuples)
    assert 0 < len(partial) < len(found)
    assert {tuple(row) for row in partial.tuples.tolist()} < {tuple(row) for row in found.tuples.tolist()}
    assert 0 < caught.value.done < 1
    screened: list[int] = []

    class Counts(CpuEngine):
        def search(self, planes, tiles, sink, **options):
            screened.append(len(tiles))
            super().search(planes, tiles, sink, **options)

    assert same(run_screen(X, y, **LIST, engine=Counts(), checkpoint=file), found)
    whole = run_screen(X, y, **LIST, checkpoint=file, engine=Counts())  # done: returns at once
    assert same(whole, found)
    assert sum(screened) == sum(counts["tiles"] for counts in found.searched.values()) - 2
    with pytest.raises(ValueError, match="belongs to another search"):
        run_screen(X, y, dimensions=3, max_p=0.1, checkpoint=file)


def test_a_checkpoint_of_a_screen_is_not_one_of_maxima(tmp_path):
    X, y = table_of(4, n_samples=80, levels=np.full(8, 2), n_classes=2)
    file = tmp_path / "run.ckpt"
    run_screen(X, y, max_p=0.5, checkpoint=file)
    with pytest.raises(ValueError, match="belongs to another search"):
        interplay.max_information_gain(X, y, checkpoint=file)


def test_ctrl_c_stops_it(ctrl_c_after):
    X, y = table_of(8, n_samples=300, levels=np.full(500, 2), n_classes=2)
    ctrl_c = ctrl_c_after(0.5)
    with pytest.raises(SearchInterrupted, match=r"interrupted after \d+\.\d% of the search") as caught:
        run_screen(X, y, dimensions=4, n_jobs=2)
    assert ctrl_c.seconds_since() < 2
    assert isinstance(caught.value.partial, ScreenedTuples)
    assert caught.value.partial.n_tuples == 500 * 499 * 498 * 497 // 24


def test_discretisations_are_screened_one_by_one():
    X = np.random.default_rng(5).normal(size=(300, 12))
    y = ((X[:, 2] > 0) ^ (X[:, 7] > 0)).astype(int)
    found = run_screen(X, y, discrete="none", discretizations=4)
    assert found.n_tuples == 4 * 66
    assert found.discretization.tolist() == [0, 1, 2, 3]
    assert found.tuples.tolist() == [[2, 7]] * 4


def test_progress_is_told():
    X, y = table_of(6, n_samples=200, levels=np.full(200, 2), n_classes=2)
    told: list[float] = []
    run_screen(X, y, progress=told.append)
    assert told
    assert told[-1] == 1.0


def test_what_pseudocounts_take_from_a_gain_is_made_up_for():
    """The gains of engines, with their pseudocounts, are not below the exact ones by more than what is allowed for."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        k, n_classes = int(rng.integers(2, 4)), int(rng.integers(2, 4))
        shape = (*rng.integers(2, 4, k), n_classes)
        weights = rng.random(n_classes) ** 3 + 1e-3
        counts = rng.poisson(10.0 ** rng.uniform(-1, 3) * weights / weights.sum() * rng.random(shape) ** 2)
        sizes = counts.reshape(-1, n_classes).sum(axis=0)
        if (sizes == 0).any():
            continue
        shift = least_gains(np.zeros(2), class_sizes=sizes, n_cells=float(np.prod(shape[:-1])))[1]
        assert -0.5 < shift < 0
        pseudo = PSEUDOCOUNT * sizes / sizes.min()
        for axis in range(k):
            lost = gain(counts, axis, 0 * pseudo) - gain(counts, axis, pseudo)
            assert lost <= -shift


def gain(counts, axis, pseudo):
    with_pseudo = counts + pseudo
    return information(with_pseudo) - information(with_pseudo.sum(axis=axis))


def information(counts):
    n = counts.sum(axis=-1)
    return float(np.where(counts > 0, counts * np.log2(np.maximum(counts, 1e-300)), 0).sum()) - float(
        np.where(n > 0, n * np.log2(np.maximum(n, 1e-300)), 0).sum()
    )
