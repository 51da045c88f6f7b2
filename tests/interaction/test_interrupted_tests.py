"""Ctrl-C after the search for interactions, while tuples are tested and named, hands over the finished part."""

import numpy as np
import pytest

import interplay
from interplay.ask.tuple_tests import in_model
from interplay.ask.tuple_tests.screen import ScreenedTuples
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.search.engines.base import SearchInterrupted


def stop(*_args, **_options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("tuple_tests.class_tests.ClassTests.tested", ScreenedTuples),
        ("interaction.listed_tests.adjust_listed", ScreenedTuples),
        ("interaction.coded_task.CodedTask.named", TupleTests),
    ],
)
def test_interactions_hand_over_tuples_and_resume(monkeypatch, tmp_path, function, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = (X[:, 1] > 0) ^ (X[:, 4] > 0)
    whole = interplay.interactions(X, y)
    monkeypatch.setattr(f"interplay.ask.{function}", stop)
    with pytest.raises(SearchInterrupted) as caught:
        interplay.interactions(X, y, checkpoint=tmp_path / "run")
    assert isinstance(caught.value.partial, kind)
    assert [1, 4] in caught.value.partial.tuples.tolist()
    assert caught.value.done == 1
    assert caught.value.kept_in == str(tmp_path / "run")
    monkeypatch.undo()
    again = interplay.interactions(X, y, checkpoint=tmp_path / "run")
    assert (again.tested.tuples == whole.tested.tuples).all()
    assert (again.tested.log_p == whole.tested.log_p).all()


def test_products_that_are_interrupted_are_not_done(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr("interplay.ask.interaction.products.Products.tested", stop)
    with pytest.raises(SearchInterrupted, match=r"interrupted after 0\.0% of the search"):
        interplay.interactions(rng.normal(size=(100, 5)), rng.normal(size=100), coding="product")


@pytest.mark.parametrize(("coding", "n_ways"), [("levels", 1), ("auto", 3)])
def test_models_that_are_fitted_are_handed_over(coding, n_ways, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    score = 2 * ((X[:, 1] > 0) ^ (X[:, 4] > 0))
    y = (rng.exponential(np.exp(-score)), rng.random(300) < 0.8)
    whole = interplay.interactions(X, y, coding="levels", max_p=1.0)
    monkeypatch.setattr("interplay.ask.tuple_tests.in_model._AT_ONCE", 300 * 4 * 5)  # five pairs at once
    monkeypatch.setattr("interplay.base.progress._SECONDS_BETWEEN_UPDATES", 0.0)
    calls, models = [], in_model.models_of_cells

    def stopped(*args):
        calls.append(1)
        return stop() if len(calls) > 3 else models(*args)

    monkeypatch.setattr(in_model, "models_of_cells", stopped)
    with pytest.raises(SearchInterrupted) as caught:
        interplay.interactions(X, y, coding=coding, max_p=1.0)
    finished = caught.value.partial
    assert len(finished) == 15
    row_of = {tuple(members): row for row, members in enumerate(whole.tested.tuples.tolist())}
    rows = [row_of[tuple(members)] for members in finished.tuples.tolist()]
    expected = np.minimum(whole.tested.log_p[rows] + np.log(n_ways), 0)
    np.testing.assert_allclose(finished.log_p, expected, rtol=1e-6, atol=1e-9)
    adjusted = np.minimum(n_ways * whole.tested.p_adjusted[rows], 1)
    np.testing.assert_allclose(finished.p_adjusted, adjusted, rtol=1e-6)
