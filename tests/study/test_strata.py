"""Gains within strata: on null data with a batch effect, and in every place that takes them.

Gains are compared with plain loops in fuzz/differential.py.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from test_tuple_tiles import listed

import interplay
from interplay.data.study.design import Strata, make_strata
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.base import SearchInterrupted
from interplay.search.tiles import make_tuple_tiles


def batch_data(seed=0, n_samples=400, n_vars=40):
    """No variable says anything about y, but half of them, and y, differ between four batches."""
    rng = np.random.default_rng(seed)
    batch = rng.integers(0, 4, n_samples)
    y = (rng.random(n_samples) < np.array([0.2, 0.4, 0.6, 0.8])[batch]).astype(int)
    X = rng.normal(size=(n_samples, n_vars))
    X[:, : n_vars // 2] += batch[:, np.newaxis] * rng.normal(size=n_vars // 2)
    return X, y, batch


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
@pytest.mark.parametrize("require", ["any", "all", None])
def test_tiles_hold_every_tuple_once_beside_the_stratum(dimensions, require):
    n_levels = np.array([2, 3, 2, 3, 2, 2, 3, 2])
    asked_for = None if require is None else np.array([1, 0, 1, 1, 0, 1], dtype=bool)
    sizes = {"block_size": 2, "middle_size": 3, "n_lanes": 4}
    plain = make_tuple_tiles(
        n_levels, n_vars=6, dimensions=dimensions, asked_for=asked_for, require=require or "any", **sizes
    )
    within = make_tuple_tiles(
        n_levels,
        n_vars=6,
        dimensions=dimensions,
        asked_for=asked_for,
        require=require or "any",
        stratum_levels=5,
        **sizes,
    )
    strata_only = within.partner_cells[within.only_of_stratum]
    assert set(within.partner_cells) - set(strata_only) == set(5 * plain.partner_cells)
    assert plain.only_of_stratum is None
    assert sorted(listed(within)) == sorted((0, *(v + 1 for v in members)) for members in listed(plain))


class TestBatchEffect:
    """The example of the documentation: ignoring the batch gives false positives, strata do not."""

    @pytest.mark.parametrize("dimensions", [1, 2])
    def test_false_positives_only_without_strata(self, dimensions):
        n_false = {"ignored": 0, "strata": 0}
        any_false = 0
        small = []
        for seed in range(20):
            X, y, batch = batch_data(seed)
            common = {"dimensions": dimensions, "n_contrast": 0 if dimensions == 1 else 100, "random_state": seed}
            n_false["ignored"] += len(interplay.select(X, y, **common).relevant)
            within = interplay.select(X, y, strata=batch, **common)
            n_false["strata"] += len(within.relevant)
            any_false += len(within.relevant) > 0
            small.append((within.p_value < 0.05).mean())
        assert n_false["ignored"] > 100
        # Expected in one run of twenty at most; four would be seen once in 70 tries.
        assert any_false <= 3
        assert np.mean(small) < 0.08

    def test_contrast_variables_keep_the_batch(self):
        X, _, batch = batch_data()
        columns, sources = interplay.contrast_variables(X, 60, strata=batch)
        for stratum in range(4):
            rows = batch == stratum
            assert np.array_equal(np.sort(columns[rows], axis=0), np.sort(X[rows][:, sources], axis=0))
        assert (columns != X[:, sources]).mean() > 0.9

    def test_what_is_there_is_found(self):
        X, y, batch = batch_data(n_samples=600)
        y = np.where(np.arange(600) % 2, y, (X[:, 30] > 0) ^ (X[:, 35] > 0))
        result = interplay.select(X, y, dimensions=2, strata=batch, random_state=0)
        assert sorted(result.relevant) == ["x30", "x35"]
        assert result.table.loc[30, "partners"] == ("x35",)
        assert result.table.loc[30, "gain_alone"] < 10 < result.table.loc[30, "synergy"]
        assert "within 4 strata" in result.summary()
        assert sum(result.provenance["strata"].values()) == 600


class TestForms:
    """Every way to give strata says the same."""

    def gains(self, strata, X=None, **settings):
        data, y, _ = batch_data()
        return interplay.max_information_gain(data if X is None else X, y, strata=strata, **settings).gain

    def test_containers(self):
        X, _, batch = batch_data()
        expected = self.gains(batch)
        labels = np.array(["d", "a", "c", "b"])[batch]
        for strata in (batch.tolist(), labels, pd.Series(labels), pl.Series(labels), pd.Categorical(labels)):
            assert np.array_equal(self.gains(strata), expected)
        frame = pd.DataFrame(X).assign(batch=labels)
        frame.columns = [str(name) for name in frame.columns]
        assert np.array_equal(self.gains("batch", frame), expected)
        assert not np.array_equal(self.gains(None), expected)

    def test_several_columns_are_crossed(self):
        _, _, batch = batch_data()
        both = pd.DataFrame({"site": batch // 2, "sex": np.where(batch % 2, "f", "m")})
        assert np.array_equal(self.gains(both), self.gains(batch))
        assert np.array_equal(self.gains(both.to_numpy()), self.gains(batch))
        assert make_strata(both, n_samples=400).labels == ["0, f", "0, m", "1, f", "1, m"]

    def test_one_stratum_is_none(self):
        assert np.array_equal(self.gains(np.zeros(400)), self.gains(None))

    def test_order_of_samples_and_labels_of_strata_change_nothing(self):
        X, y, batch = batch_data()
        order = np.random.default_rng(1).permutation(400)
        moved = interplay.max_information_gain(X[order], y[order], strata=3 - batch[order])
        plain = interplay.max_information_gain(X, y, strata=batch)
        assert np.array_equal(moved.gain, plain.gain)
        assert np.array_equal(moved.tuples, plain.tuples)

    def test_discretisations_and_threads(self):
        X, y, batch = batch_data(n_vars=12)
        one = interplay.max_information_gain(X, y, strata=batch, discretizations=5, dimensions=3)
        two = interplay.max_information_gain(X, y, strata=batch, discretizations=5, dimensions=3, n_jobs=2)
        assert np.array_equal(one.gain, two.gain)
        assert set(one.discretization) > {0}

    @pytest.mark.parametrize("multiclass", ["joint", "ovo", "ovr"])
    def test_several_classes(self, multiclass):
        X, _, batch = batch_data(n_vars=12)
        rng = np.random.default_rng(2)
        y = np.where(rng.random(400) < 0.5, batch % 3, rng.integers(0, 3, 400))
        y = np.where(rng.random(400) < 0.5, (X[:, 10] > 0) * 2, y)
        result = interplay.select(
            X, y, dimensions=2, multiclass=multiclass, strata=batch, n_contrast=60, random_state=0
        )
        assert result.relevant == ["x10"]


def test_fingerprint_knows_the_strata():
    X, y, batch = batch_data(n_vars=8)
    prints = {
        interplay.select(X, y, dimensions=1, strata=strata).provenance["data_fingerprint"]
        for strata in (None, batch, batch[::-1])
    }
    assert len(prints) == 3


def test_interrupted_search_hands_over_gains_without_the_stratum(monkeypatch):
    import interplay.data.codes.coded as codes

    calls = []

    def make_bit_planes(*args, **kwargs):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    original = codes.make_bit_planes
    monkeypatch.setattr(codes, "make_bit_planes", make_bit_planes)
    X, y, batch = batch_data(n_vars=8)
    with pytest.raises(SearchInterrupted) as caught:
        interplay.max_information_gain(X, y, strata=batch, discretizations=10)
    assert caught.value.partial.gain.shape == (8,)
    assert caught.value.partial.tuples.max() == 7


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        (["a", None, None, *["b"] * 397], r"^strata has missing values in 2 samples \(the first is 1\)"),
        (pd.to_datetime(pd.Series(["2020-01-01"] * 400)), "^strata holds dates"),
        (pd.DataFrame({"a": range(400), "when": pd.to_datetime(["2020-01-01"] * 400)}), "^strata: column 'when'"),
    ],
)
def test_bad_strata(strata, message):
    X, y, _ = batch_data()
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        interplay.select(X, y, dimensions=2, strata=strata)
    assert "\n" not in str(caught.value)


def test_strata_that_say_what_y_says():
    _, y, batch = batch_data()
    pure = np.where((y == 1) & (batch == 3), 7, batch)
    with pytest.warns(UserWarning, match=r"2 of 5 strata have samples of one class only \('3', '7'\)"):
        DecisionClasses(y, [0, 1]).check_strata(make_strata(pure, n_samples=400))


def test_strata_of_some_samples():
    strata = Strata(np.array([0, 1, 2, 2]), ["a", "b", "c"])
    some = strata.of_samples(np.array([1, 3]))
    assert (some.codes.tolist(), some.labels) == ([0, 1], ["b", "c"])
    assert strata.of_samples(np.array([2, 3])) is None


class TestInParts:
    """Strata in checkpoints and shards: the same as in one go."""

    SETTINGS = {"dimensions": 2, "n_contrast": 30, "discretizations": 2, "random_state": 0}  # noqa: RUF012

    @pytest.mark.parametrize("named", [False, True])
    def test_shards(self, named, tmp_path):
        X, y, batch = batch_data(n_vars=12)
        X[:, 3] = np.arange(400) % 3  # numbers of levels, and so of cells, differ
        table = pd.DataFrame(X, columns=[f"v{v}" for v in range(12)])
        whole = interplay.select(table, y, strata=batch, **self.SETTINGS)
        if named:
            table = table.assign(y=y, batch=batch)
        data = (table, "y") if named else (table, y)
        strata = "batch" if named else batch
        for number in (1, 2, 3):
            part = interplay.search_shard(*data, shard=(number, 3), strata=strata, **self.SETTINGS)
            part.save(tmp_path / f"part{number}")
        merged = interplay.merge_parts(tmp_path.glob("part*"), X=table)
        assert merged.table.equals(whole.table)
        assert merged.provenance["strata"] == whole.provenance["strata"]
        other = interplay.search_shard(*data, shard=(2, 3), strata=batch[::-1], **self.SETTINGS)
        with pytest.raises(ValueError, match="another search"):
            interplay.merge_parts([tmp_path / "part1", other, tmp_path / "part3"])

    def test_checkpoint(self, tmp_path):
        X, y, batch = batch_data(n_vars=12)
        whole = interplay.select(X, y, strata=batch, **self.SETTINGS)
        calls = []

        def stop_half_way(done):
            calls.append(done)
            if done > 0.3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interplay.select(X, y, strata=batch, checkpoint=tmp_path / "run", progress=stop_half_way, **self.SETTINGS)
        with pytest.raises(ValueError, match="run"):
            interplay.select(X, y, strata=batch[::-1], checkpoint=tmp_path / "run", **self.SETTINGS)
        resumed = interplay.select(X, y, strata=batch, checkpoint=tmp_path / "run", **self.SETTINGS)
        assert resumed.table.equals(whole.table)
