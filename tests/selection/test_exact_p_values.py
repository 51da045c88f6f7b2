"""Exact p-values on their way: from bit planes, through select(), parts, files and checkpoints, into words."""

import dataclasses

import numpy as np
import pytest

import interplay
import reference
from interplay.ask.selection.part import Part
from interplay.base.planes import DiscreteCodes
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines import tables as tables_module


def small_data(n_samples=24, n_vars=6):
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, 2 + v % 2, n_samples) for v in range(n_vars)], axis=1).astype(float)
    y = np.where(rng.random(n_samples) < 0.7, X[:, 0], rng.integers(0, 2, n_samples)).astype(int)
    return X, y, np.arange(n_samples) % 3


def tables_of(x, y, strata, n_classes=2):
    tables = []
    for stratum in np.unique(strata):
        here = strata == stratum
        tables.append([[int(((x == v) & (y == q) & here).sum()) for q in range(n_classes)] for v in np.unique(x)])
    return tables


@pytest.mark.parametrize("has_strata", [False, True])
def test_counts_from_planes_are_counts(has_strata, monkeypatch):
    monkeypatch.setattr(tables_module, "_MAX_NUMBERS", 40)  # a variable or two at a time
    rng = np.random.default_rng(0)
    n_levels = np.array([2, 3, 2, 5, 3, 2])
    codes = np.stack([rng.integers(0, c, 777) for c in n_levels]).astype(np.uint8)
    y, strata = rng.integers(0, 3, 777), rng.integers(0, 4, 777)
    parts = [Strata(strata, list("abcd")).as_codes()] if has_strata else []
    planes = make_bit_planes([*parts, DiscreteCodes(codes, n_levels)], DecisionClasses(y, [0, 1, 2]))
    seen = []
    rows = np.arange(6)[:, np.newaxis]
    if has_strata:
        rows = np.column_stack([np.zeros(6, dtype=np.int64), rows + 1])
    for places, tables in tables_module.count_tables(planes, rows):
        for row, found in zip(places.tolist(), tables, strict=True):
            expected = np.zeros((4 if has_strata else 1, n_levels[row], 3), dtype=np.int64)
            np.add.at(expected, (strata if has_strata else 0, codes[row], y), 1)
            np.testing.assert_array_equal(found, expected if has_strata else expected[0])
            seen.append(row)
    assert sorted(seen) == list(range(6))


def test_select_equals_plain_listing():
    X, y, _ = small_data()
    found = interplay.select(X, y, dimensions=1)
    expected = [reference.conditional_p_value(tables_of(x, y, np.zeros(len(y)))) for x in X.T]
    np.testing.assert_allclose(found.p_value, expected, rtol=1e-9)
    np.testing.assert_array_equal(np.exp(found.log_p), found.p_value)


def test_select_within_strata_equals_plain_listing_but_for_the_grid():
    X, y, strata = small_data()
    found = interplay.select(X, y, dimensions=1, strata=strata)
    for v, x in enumerate(X.T):
        observed, sums = reference.conditional_null(tables_of(x, y, strata), 0.25)
        low, high = (float(sum(p for gain, p in sums if gain >= observed + shift)) for shift in (0.05, -0.05))
        assert low * (1 - 1e-5) <= found.p_value[v] <= high * (1 + 1e-5)


def test_comparisons_of_classes_count_as_tests():
    X, _, _ = small_data()
    y = np.arange(24) % 3
    found = interplay.select(X, y, dimensions=1, multiclass="ovr")
    for v, x in enumerate(X.T):
        each = [reference.conditional_p_value(tables_of(x, y == q, np.zeros(24))) for q in range(3)]
        assert found.p_value[v] == pytest.approx(min(3 * min(each), 1), rel=1e-9)


def test_several_discretisations_are_a_union_of_exact_tests():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    settings = {"discretizations": 3, "range_": 0.5, "random_state": 1}
    codes = interplay.discretize(X, dimensions=1, **settings)
    found = interplay.select(X, y, dimensions=1, **settings)
    for v in range(4):
        each = [reference.conditional_p_value(tables_of(codes[d, :, v], y, np.zeros(60))) for d in range(3)]
        assert found.p_value[v] == pytest.approx(min(3 * min(each), 1), rel=1e-9)
    fitted = interplay.select(X, y, dimensions=1, fit="tail", **settings)
    assert not fitted.null_fit.is_exact


def test_noise_in_many_strata_is_not_selected():
    """χ² finds something in 12 % of such tables, which is 24 of these 200."""
    rng = np.random.default_rng(7)
    strata, n_any = np.repeat(np.arange(100), 20), 0
    X, y = rng.normal(size=(2000, 2000)), np.arange(2000) % 2
    p = interplay.select(X, y, dimensions=1, strata=strata).p_value.reshape(200, 10)
    n_any = (p.min(axis=1) < 0.05 / 10).sum()
    assert n_any <= 20  # 10 are expected


def test_contrast_variables_have_exact_p_values_too():
    X, y, strata = small_data()
    found = interplay.select(X, y, dimensions=1, strata=strata, n_contrast=30, random_state=0)
    p = found.contrast["p_value"].to_numpy()
    np.testing.assert_array_equal(p, found.null_fit.reference_p)
    assert ((p > 0) & (p <= 1)).all()
    without = interplay.select(X, y, dimensions=1, strata=strata)
    np.testing.assert_allclose(found.p_value, without.p_value, rtol=1e-12)


@pytest.mark.parametrize("with_strata", [False, True])
def test_parts_give_the_same_bits(with_strata, tmp_path):
    X, y, strata = small_data()
    settings = {"dimensions": 1, "strata": strata if with_strata else None}
    whole = interplay.select(X, y, random_state=0, **settings)
    for number in (1, 2):
        interplay.search_shard(X, y, shard=(number, 2), **settings).save(tmp_path / f"part{number}")
    merged = interplay.merge_parts(sorted(tmp_path.glob("part*")))
    np.testing.assert_array_equal(merged.log_p, whole.log_p)
    assert merged.table.equals(whole.table)


@pytest.mark.parametrize("wrong", [np.zeros(5), np.full(6, 0.1), np.full(6, np.nan)])
def test_parts_with_impossible_p_values_are_refused(wrong, tmp_path):
    X, y, _ = small_data()
    part = interplay.search_shard(X, y, shard=(1, 1), dimensions=1)
    runs = tuple(dataclasses.replace(run, exact_log_p=wrong) for run in part.runs)
    dataclasses.replace(part, runs=runs).save(tmp_path / "part")
    with pytest.raises(ValueError, match="search this shard again"):
        Part.load(tmp_path / "part")


def test_saved_and_loaded(tmp_path):
    X, y, _ = small_data()
    found = interplay.select(X, y, dimensions=1)
    found.save(tmp_path / "run")
    again = interplay.load(tmp_path / "run")
    np.testing.assert_array_equal(again.null_fit.exact_log_p, found.null_fit.exact_log_p)
    assert again.summary() == found.summary()


def test_a_finished_checkpoint_gives_the_same(tmp_path):
    X, y, strata = small_data()
    settings = {"dimensions": 1, "strata": strata, "random_state": 0, "checkpoint": tmp_path / "run"}
    first, again = interplay.select(X, y, **settings), interplay.select(X, y, **settings)
    np.testing.assert_array_equal(first.log_p, again.log_p)


def test_the_result_says_where_its_p_values_come_from(tmp_path):
    X, y, strata = small_data()
    found = interplay.select(X, y, dimensions=1, strata=strata)
    assert "exact p-values" in found.details()
    assert found.null_fit.summary().startswith("Exact conditional test")
    found.to_html(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "exact conditional test" in report
    assert "conditional test of the gain, given the numbers of samples of each level and class, within strata" in report
    assert found.plot.null_fit().get_title() == "Exact conditional test"
    assert "exact" not in interplay.select(X, y, dimensions=2, fit="union", strata=strata).details()
