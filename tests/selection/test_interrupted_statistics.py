"""Ctrl-C after a search, while p-values and explanations are computed, hands over the finished part."""

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
        ("interplay.ask.interaction.class_tests", "ClassTests.tested", interplay.Selection),
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
