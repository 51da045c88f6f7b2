"""What comes after a search takes work in proportion to its candidates: calls are counted, which no clock disturbs."""

import sys
from collections import Counter

import numpy as np
import pytest

import interplay
from interplay.ask.interaction import coded_task, find, listed_tests
from interplay.ask.selection import best_order, explanation

#: Steps after the search, and what each is asked about.
STEPS = (
    "explain",
    "make_selected_tests",
    "find_cautions",
    "variable_effects",
    "make_linkage",
    "make_short_list",
    "_make_best_order",  # made when it is asked for
)

#: The least share of calls that is not in proportion: what a step does once.
SLACK = 1.3


@pytest.fixture
def counted(monkeypatch):
    """Count the calls inside functions of a module, C functions included."""
    calls: Counter[str] = Counter()

    def count(module, *names):
        for name in names:
            monkeypatch.setattr(module, name, counting(getattr(module, name), name))
        return calls

    def counting(function, name):
        def inside(*args, **how):
            def note(frame, event, _):
                calls[name] += event in ("call", "c_call")

            before = sys.getprofile()
            sys.setprofile(note)
            try:
                return function(*args, **how)
            finally:
                sys.setprofile(before)

        return inside

    return count


def proxies(n_proxies, kind):
    """Columns of three causes, all relevant; the causes alone would do."""
    rng = np.random.default_rng(3)
    causes = rng.normal(size=(400, 3))
    columns = causes[:, np.arange(n_proxies) % 3] + 0.7 * rng.normal(size=(400, n_proxies))
    score = causes.sum(axis=1) + 0.5 * rng.normal(size=400)
    X = np.column_stack([columns, rng.normal(size=(400, 6))])
    if kind == "times":
        return X, (rng.exponential(np.exp(-score)), rng.random(400) < 0.8)
    return X, (score > 0 if kind == "classes" else score)


@pytest.mark.parametrize("kind", ["classes", "number", "times"])
def test_steps_of_a_selection(counted, kind):
    counted(explanation, *STEPS[:-1])
    calls = counted(best_order, STEPS[-1])
    found, work = {}, {}
    for n_proxies in (8, 24):
        calls.clear()
        found[n_proxies] = interplay.select(*proxies(n_proxies, kind), random_state=0, dimensions=(1, 2))
        found[n_proxies].best(3)
        work[n_proxies] = dict(calls)
    few, many = found.values()
    assert len(many.ranked) >= 2.5 * len(few.ranked)
    n_tuples = [sum(len(tested) for run in one.runs for tested in run.tested) for one in (few, many)]
    assert set(work[8]) == set(STEPS)
    for step in STEPS:
        candidates = n_tuples if step == "make_selected_tests" else [len(few.ranked), len(many.ranked)]
        # The short list and the order test all that are left once for each variable that they add.
        added = [len(one.shortened.variable) for one in (few, many)]
        steps = (added[1] + 1) / (added[0] + 1) if step == "make_short_list" else 1.0
        assert work[24][step] <= SLACK * steps * candidates[1] / candidates[0] * work[8][step], step


@pytest.mark.parametrize("kind", ["classes", "number", "times"])
def test_tests_of_listed_tuples(counted, kind):
    counted(listed_tests.TestsOfScreen, "_test")
    counted(coded_task.CodedTask, "named")
    calls = counted(find, "_beside_others", "_in_model")
    listed, work = [], []
    for n_vars in (8, 20):
        calls.clear()
        X, y = proxies(n_vars, kind)
        listed.append(len(interplay.interactions(X, y, max_p=1.0)))
        work.append(sum(calls.values()))
    assert listed == [14 * 13 // 2, 26 * 25 // 2]
    assert work[1] <= SLACK * listed[1] / listed[0] * work[0]
