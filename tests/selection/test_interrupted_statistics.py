"""Ctrl-C after a search, while p-values and explanations are computed, hands over the finished part."""

import importlib

import numpy as np
import pytest

import interplay
from interplay.search.engines.base import SearchInterrupted


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    return X, (X[:, 1] > 0) ^ (X[:, 4] > 0)


def stop(*_args, **_options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("module", "function", "kind"),
    [
        ("interplay.ask.selection.runs", "_score_tests", interplay.MaxGains),
        ("interplay.ask.selection.variable_tests", "conditional_log_p", None),
        ("interplay.ask.selection.significance", "fit_null", interplay.MaxGains),
        ("interplay.ask.selection.significance", "arm_p_values", interplay.MaxGains),
        ("interplay.ask.selection.explanation", "target_tests", interplay.Selection),
        ("interplay.ask.selection.explanation", "explain", interplay.Selection),
        ("interplay.ask.tuple_tests.class_tests", "ClassTests.tested", interplay.Selection),
        ("interplay.ask.selection.explanation", "find_cautions", interplay.Selection),
    ],
)
def test_select_hands_over_gains_or_a_selection(data, monkeypatch, tmp_path, module, function, kind):
    whole = interplay.select(*data, random_state=0)
    monkeypatch.setattr(f"{module}.{function}", stop)
    with pytest.raises(KeyboardInterrupt) as caught:
        interplay.select(*data, random_state=0, checkpoint=tmp_path / "run")
    if kind is None:  # before the first tile: there is nothing to hand over
        assert not isinstance(caught.value, SearchInterrupted)
        return
    assert isinstance(caught.value, SearchInterrupted)
    assert isinstance(caught.value.partial, kind)
    assert caught.value.kept_in == str(tmp_path / "run")
    assert 0 < caught.value.done <= 1
    if kind is interplay.Selection:
        assert (caught.value.partial.p_value == whole.p_value).all()
        assert caught.value.partial.relevant == whole.relevant
    monkeypatch.undo()
    again = interplay.select(*data, random_state=0, checkpoint=tmp_path / "run")
    assert (again.p_value == whole.p_value).all()


def stop_after(n_calls, function):
    """Return the function, which is stopped by Ctrl-C when it has been called so often."""
    calls = []

    def counted(*args, **options):
        calls.append(1)
        if len(calls) > n_calls:
            raise KeyboardInterrupt
        return function(*args, **options)

    return counted


@pytest.mark.parametrize(
    ("kind", "module", "function", "n_calls"),
    [
        ("classes", "interplay.ask.tuple_tests.beside_smooth", "smooth_test", 1),
        ("times", "interplay.ask.tuple_tests.in_model", "models_of_cells", 1),
        ("covariate", "interplay.ask.tuple_tests.in_model", "tuple_in_model", 4),
    ],
)
def test_finished_tests_of_tuples_are_handed_over(monkeypatch, kind, module, function, n_calls):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 12))
    score = 3 * ((X[:, 1] > 0) ^ (X[:, 4] > 0)) + 3 * ((X[:, 2] > 0) ^ (X[:, 7] > 0)) + X[:, 0]
    options = {"covariates": rng.normal(size=400)} if kind == "covariate" else {}
    y = score + rng.normal(size=400) > 3
    if kind == "times":
        y = rng.exponential(np.exp(-score)), rng.random(400) < 0.8
        monkeypatch.setattr("interplay.ask.tuple_tests.in_model._AT_ONCE", 400 * 4 * 5)  # five pairs at once
    options |= {"random_state": 0, "dimensions": 2}
    whole = interplay.select(X, y, **options)
    original = getattr(importlib.import_module(module), function)
    monkeypatch.setattr("interplay.base.progress._SECONDS_BETWEEN_UPDATES", 0.0)  # one by one
    monkeypatch.setattr(f"{module}.{function}", stop_after(n_calls, original))
    with pytest.raises(SearchInterrupted) as caught:
        interplay.select(X, y, **options)
    partial = caught.value.partial
    assert partial.relevant == whole.relevant
    of_whole = {tuple(members): row for row, members in enumerate(whole.runs[-1].tested[0].tuples.tolist())}
    finished, tested = partial.runs[-1].tested[0], whole.runs[-1].tested[0]
    assert 0 < len(finished) < len(tested)
    rows = [of_whole[tuple(members)] for members in finished.tuples.tolist()]
    for name in ("log_p", "smooth_log_p"):
        np.testing.assert_allclose(getattr(finished, name), getattr(tested, name)[rows], rtol=1e-6)
    assert partial.summary()


def test_steps_that_are_finished_are_handed_over(data, monkeypatch):
    whole = interplay.select(*data, random_state=0)
    monkeypatch.setattr("interplay.ask.selection.explanation.with_order", stop)
    with pytest.raises(SearchInterrupted) as caught:
        interplay.select(*data, random_state=0)
    partial = caught.value.partial
    assert partial.shortened.variable.tolist() == whole.shortened.variable.tolist()
    assert partial.interactions().table.equals(whole.interactions().table)
