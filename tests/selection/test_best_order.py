"""The order for models: copies apart, tuples whole, classes in turns, exactly n, for every kind of outcome."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.infer.best_order import BestOrder, choose_order, relevance

N = 400


def unit_rows(columns):
    rows = columns - columns.mean(axis=1, keepdims=True)
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


def mixed(seed=0, p=40):
    """Return a number from x0 and x1, with five copies of each, x20 and x21 together, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, p))
    X[:, 2:12] = np.repeat(X[:, :2], 5, axis=1) + 0.3 * rng.normal(size=(N, 10))
    return X, X[:, 0] + X[:, 1] + 1.5 * np.sign(X[:, 20] * X[:, 21]) + rng.normal(size=N)


def source(name):
    """Return the cause that a variable of `mixed` is, or is a copy of; −1 of the others."""
    v = int(name[1:])
    return v if v < 2 else (v - 2) // 5 if v < 12 else -1


class TestOrder:
    @pytest.mark.parametrize("n_targets", [1, 3])
    def test_as_in_plain_loops(self, n_targets: int):
        """What is left of rows, and sums of correlations, are kept up to date; here each step makes them anew."""
        from scipy import stats

        rng = np.random.default_rng(1)
        n, p, k = 90, 12, n_targets
        rows = unit_rows(rng.normal(size=(p, n)) + rng.normal(size=n))
        targets = unit_rows(np.stack([rows[0] + rows[5], rows[5] - rows[7], rows[2]]) + 0.1 * rng.normal(size=(3, n)))
        evidence = np.where(np.arange(p) == 9, 20.0, 0.0)
        found = relevance(rows, targets[:k], n - 1, {})
        order = choose_order(rows, found, evidence, {}, p, n_vars=p).variable.tolist()
        basis = np.linalg.qr(targets[:k].T)[0]

        def minus_log_p(explained: float) -> float:
            return -stats.f.logsf(explained / (1 - explained) * (n - 1 - k) / k, k, n - 1 - k)

        alone = np.array([minus_log_p(((row @ basis) ** 2).sum()) for row in rows])
        assert np.allclose(found.alone, alone)
        weights = np.maximum(1 - stats.false_discovery_control(np.exp(-alone)), 0.01) ** 2
        chosen: list[int] = []
        for step in range(p):
            left, penalty = rows.copy(), 10 / n
            for v in chosen:
                row = left[v].copy()
                left -= np.outer(left @ row / (row @ row + penalty), row)
            gains = np.full(p, -np.inf)
            for v in set(range(p)) - set(chosen):
                like = sum(max((rows[v] @ rows[u]) ** 2 - 2 / n, 0) for u in chosen)
                adds = ((left[v] @ basis) ** 2).sum() * (1 + penalty) / (left[v] @ left[v] + penalty)
                gains[v] = max(1 - 6 * step / n, 0) * weights[v] * minus_log_p(adds)
                beside = 60 / n * alone[v] * weights[v] + max(evidence[v] - alone[v] * weights[v], 0)
                gains[v] += beside / (1 + 3 * like / max(step, 1) ** 0.5)
            chosen.append(int(np.argmax(gains)))
        assert order == chosen

    def test_a_tuple_comes_in_whole_and_gives_way_without_room(self):
        rows = unit_rows(np.random.default_rng(2).normal(size=(6, 50)))
        found = relevance(rows, rows[:1], 49, {})
        order = choose_order(rows, found, np.array([0, 0, 0, 9.0, 8.0, 0]), {3: [4], 4: [3]}, 6, n_vars=6)
        assert order.variable[:3].tolist() == [0, 3, 4]
        assert order.unit[:3].tolist() == [0, 1, 1]
        assert 3 not in order.variable[order.first(2)]
        assert order.variable[order.first(3)].tolist() == [0, 3, 4]

    @pytest.mark.parametrize("n", range(1, 8))
    def test_as_many_as_asked_for(self, n):
        order = BestOrder(np.arange(7), np.array([0, 0, 0, 1, 1, 2, 3]), np.full(7, -1))
        assert len(set(order.first(n).tolist())) == n


class TestSelections:
    def test_copies_wait_and_a_pair_comes_whole(self):
        X, y = mixed()
        result = interplay.select(X, y, random_state=0)
        best = result.best(4)
        assert {source(name) for name in best} == {0, 1, -1}
        assert {"x20", "x21"} < set(best)
        assert abs(best.index("x20") - best.index("x21")) == 1
        table = best.table.set_index("variable")
        assert table.loc["x20", "came_with"] == ("x21",)
        assert table["relevant"].all()
        assert best.n_relevant == 4
        in_twelve = [source(name) for name in result.best(14)]
        assert in_twelve.count(0) + in_twelve.count(1) >= 10  # copies come before noise

    def test_exactly_n_significant_or_not(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 150))
        result = interplay.select(X, rng.integers(0, 2, 60), dimensions=1, random_state=0)
        for n in (1, 7, 100, 120, 150):
            best = result.best(n)
            assert len(set(best)) == n
            assert best.n_relevant == len(set(best) & set(result.relevant))
        assert result.best(150)[:20] == result.best(20)
        with pytest.raises(ValueError, match=r"^n must be a whole number from 1 to 150, not 151"):
            result.best(151)

    def test_each_class_gets_a_variable(self):
        rng = np.random.default_rng(3)
        y = rng.permutation(np.repeat(["a", "b", "c", "d"], [60, 30, 30, 30]))
        X = rng.normal(size=(150, 60))
        for place, name in enumerate("abcd"):
            X[:, place] += 1.5 * (y == name)
        X[:, 10:16] = X[:, :1] + 0.3 * rng.normal(size=(150, 6))  # the largest class has six more
        result = interplay.select(X, y, dimensions=1, random_state=0)
        assert {"x1", "x2", "x3"} < set(result.best(4))

    def test_a_triple_of_one_size_comes_whole(self):
        rng = np.random.default_rng(4)
        X = rng.normal(size=(N, 15))
        y = X[:, 3] * X[:, 7] * X[:, 11] > 0
        assert set(interplay.select(X, y, dimensions=3, random_state=0).best(3)) == {"x3", "x7", "x11"}
        assert set(interplay.select(X, y, random_state=0).best(3)) == {"x3", "x7", "x11"}

    def test_times_and_covariates(self):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(N, 20))
        age = rng.normal(size=N)
        X[:, 8] = age + 0.3 * rng.normal(size=N)
        X[:, 9] = X[:, 4] + 0.2 * rng.normal(size=N)
        time = rng.exponential(np.exp(-X[:, 4] - 0.8 * X[:, 6] - 2 * age))
        event = rng.random(N) < 0.8
        best = interplay.select(X, (time, event), covariates=age, dimensions=1, random_state=0).best(2)
        assert {"x4" if name == "x9" else name for name in best} == {"x4", "x6"}
        assert "x8" in interplay.select(X, (time, event), dimensions=1, random_state=0).best(3)

    def test_labels(self):
        import pandas as pd

        rng = np.random.default_rng(6)
        colour = rng.choice(["red", "green", "blue"], N)
        frame = pd.DataFrame(rng.normal(size=(N, 8))).add_prefix("n")
        frame = frame.assign(colour=colour, same=np.where(colour == "red", "r", np.where(colour == "green", "g", "b")))
        y = 2.0 * (colour == "green") + frame["n2"] + rng.normal(size=N)
        best = interplay.select(frame, y, dimensions=1, random_state=0).best(3)
        assert best[:2] in (["colour", "n2"], ["same", "n2"])

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_many_levels(self):
        """Of an identifier, rare levels are one; of a label of many levels, the frequent ones are enough."""
        import pandas as pd

        rng = np.random.default_rng(11)
        place = rng.integers(0, 200, N) * (rng.random(N) < 0.5)
        frame = pd.DataFrame(rng.normal(size=(N, 5))).add_prefix("n")
        frame = frame.assign(who=[f"p{i % 250:03d}" for i in rng.permutation(N)], place=[f"at {k}" for k in place])
        y = 2.0 * (place == 0) + rng.normal(size=N)
        result = interplay.select(frame, y, dimensions=1, random_state=0)
        assert result.best(1) == ["place"]
        assert "who" not in result.best(3)

    def test_saved_and_loaded(self, tmp_path):
        X, y = mixed()
        result = interplay.select(X, y > 0, dimensions=(1, 2), random_state=0)
        result.save(tmp_path / "a.interplay")
        loaded = interplay.load(tmp_path / "a.interplay")
        assert loaded.best(7) == result.best(7)
        assert loaded.best(7).table.equals(result.best(7).table)

    @pytest.mark.parametrize("most", [0, 1 << 20])
    def test_made_when_asked_for_from_a_copy(self, most, monkeypatch, tmp_path):
        """A table that is changed after the search changes no order; of many values it is made at once."""
        X, y = mixed()
        expected = interplay.select(X, y, dimensions=1, random_state=0).best(9)
        monkeypatch.setattr("interplay.ask.selection.best_order._MAX_COPIED", most)
        result = interplay.select(X, y, dimensions=1, random_state=0)
        assert (result.ordered is None) == (most > 0)
        X[:] = 0.0
        result.save(tmp_path / "a.interplay")
        for same in (pickle.loads(pickle.dumps(result)), interplay.load(tmp_path / "a.interplay"), result):
            assert same.best(9) == expected
        with pytest.raises(ValueError, match=r"^X was changed after the search, .* ask before changing X"):
            result.best("auto")

    def test_part_of_many_samples(self, monkeypatch):
        """Likeness from a part of the samples gives the same first variables."""
        import interplay.ask.selection.best_order as room

        X, y = mixed()
        whole = interplay.select(X, y, dimensions=(1, 2), random_state=0).best(4)
        monkeypatch.setattr(room, "_MAX_SAMPLES", 250)
        monkeypatch.setattr(room, "_MAX_SCORES", 250 * 20)
        monkeypatch.setattr(room, "_MAX_ORDERED", 20)
        part = interplay.select(X, y, dimensions=(1, 2), random_state=0)
        assert {source(name) for name in part.best(4)} == {source(name) for name in whole}
        assert len(set(part.best(40))) == 40


class TestCurve:
    def test_it_rises_to_the_causes_and_falls_with_noise(self, tmp_path):
        rng = np.random.default_rng(7)
        X = rng.normal(size=(240, 30))
        y = 2 * X[:, 1] + 1.5 * np.sign(X[:, 4] * X[:, 5]) + X[:, 6] + 0.5 * rng.normal(size=240)
        result = interplay.select(X, y, dimensions=(1, 2), random_state=0)
        best = result.best("auto")
        assert set(best) == {"x1", "x4", "x5", "x6"}
        curve = best.curve.set_index("n")["explained"]
        assert curve[4] > curve[2] > curve[1]
        assert curve[30] < curve[4]
        with pytest.raises(ValueError, match=r"^n must be "):
            result.best("all")
        kept = result.with_best("auto")
        kept.save(tmp_path / "a.interplay")
        assert interplay.load(tmp_path / "a.interplay").best("auto") == best
        assert pickle.loads(pickle.dumps(kept)).best("auto") == best
        result.save(tmp_path / "b.interplay")
        for without in (interplay.load(tmp_path / "b.interplay"), pickle.loads(pickle.dumps(replace(result)))):
            with pytest.raises(ValueError, match=r"^this result has no samples, .* use select\(X, y, "):
                without.best("auto")

    def test_noise_is_explained_by_nothing(self):
        rng = np.random.default_rng(8)
        X = rng.normal(size=(90, 30))
        curve = interplay.select(X, rng.integers(0, 3, 90), dimensions=1, random_state=0).best_curve
        assert (curve.explained < 0.1).all()
        assert curve.n_best <= 5

    def test_labels_learn_nothing_from_samples_in_which_they_are_judged(self):
        rng = np.random.default_rng(12)
        X = pd.DataFrame({f"x{i}": rng.choice(list("abcdefghijkl"), 120) for i in range(6)})
        curve = interplay.select(X, rng.normal(size=120), dimensions=1, random_state=0).best_curve
        assert (curve.explained < 0.1).all()

    def test_ridge_regression(self):
        """Coefficients are those of scikit-learn with the same penalty; of much noise the penalty is large."""
        from sklearn.linear_model import Ridge

        from interplay.infer.best_curve import _PENALTIES, _ridge

        rng = np.random.default_rng(9)
        rows = rng.normal(size=(6, 80))
        target = rows[:1] + rng.normal(size=(1, 80))
        found = _ridge(rows, target)[0]
        fits = [Ridge(alpha=a * 80, fit_intercept=False).fit(rows.T, target[0]).coef_ for a in _PENALTIES]
        assert min(np.abs(found - fit).max() for fit in fits) < 1e-9
        assert np.abs(_ridge(rows, rng.normal(size=(1, 80)))).max() < 0.2

    def test_classes_too_small_for_parts(self):
        X = np.random.default_rng(10).normal(size=(4, 3))
        result = interplay.select(X, [0, 1, 0, 1])
        with pytest.raises(ValueError, match=r"^best\('auto'\) needs at least 3 samples of each class, .* has 2"):
            result.best("auto")
