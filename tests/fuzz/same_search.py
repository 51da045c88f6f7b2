"""One search in several ways: in shards, in short lists, interrupted. The finds must be the same, or their beginning.

Two known faults are left out until they are mended, each named where it is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import interplay
from fuzz.drawn_search import ShapedEngine, drawn_searches
from fuzz.outcomes import refused_or
from interplay.search.engines.base import SearchInterrupted

#: Columns of the table of tuples that belong to a tuple, whatever else is listed.
OF_A_TUPLE = ("members", "chi2", "df", "p_value", "method", "log_or")


@dataclass(frozen=True)
class DrawnInteractions:
    """A table and options of `interactions`, as numbers and words, so that what fails can be run as it is printed."""

    seed: int
    n_samples: int
    n_vars: int
    n_classes: int
    n_strata: int
    gaps: bool
    options: dict[str, Any]

    def find(self, **more):
        """Call `interactions`; None where it refuses its input."""
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=(self.n_samples, self.n_vars))
        few = rng.random(self.n_vars) < 0.5
        X[:, few] = rng.integers(0, 3, (self.n_samples, int(few.sum())))
        y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) ^ (rng.random(self.n_samples) < 0.2)) + 0
        y = np.where(rng.random(self.n_samples) < 0.3, rng.integers(0, self.n_classes, self.n_samples), y)
        strata = rng.integers(0, self.n_strata, self.n_samples) if self.n_strata else None
        if self.gaps:
            X[rng.random(X.shape) < 0.05] = np.nan
        given_ = {"strata": strata, "random_state": self.seed, **self.options, **more}
        return refused_or(lambda: interplay.interactions(X, y, **given_))


@st.composite
def drawn_interactions(draw):
    n_vars = draw(st.integers(3, 8))
    gaps = draw(st.booleans())
    options: dict[str, Any] = {
        "dimensions": draw(st.integers(2, 3)),
        "divisions": draw(st.integers(1, 2)),
        # Issue 30, items 1 and 2: with more, shards list a tuple several times, and lists leave tuples out.
        "discretizations": 1,
        "range_": draw(st.sampled_from([None, 0.0, 0.5])),
        "p_adjust": draw(st.sampled_from(["holm", "bonferroni", "none", "hochberg", "BH", "BY"])),
        "level": draw(st.sampled_from([0.05, 0.3])),
    }
    if gaps or draw(st.booleans()):
        options["missing"] = draw(st.sampled_from(["omit", "level", "impute"]))
    if draw(st.booleans()):
        some = st.sets(st.integers(0, n_vars - 1), min_size=1).map(sorted)
        options |= {"variables": draw(some), "require": draw(st.sampled_from(["any", "all"]))}
        if options["require"] == "any" and draw(st.booleans()):
            options["partners"] = draw(some)
    if draw(st.booleans()):
        options |= {"min_distance": 2, "positions": list(range(n_vars))}
    return DrawnInteractions(
        seed=draw(st.integers(0, 2**32 - 1)),
        n_samples=draw(st.integers(8, 160)),
        n_vars=n_vars,
        n_classes=draw(st.integers(2, 3)),
        n_strata=draw(st.sampled_from([0, 0, 2])),
        gaps=gaps,
        options=options,
    )


LISTED = st.sampled_from([{}, {"max_p": 0.001}, {"max_p": 0.1}, {"max_p": 1.0}, {"top": 1}, {"top": 3}, {"top": 9}])


@given(drawn_interactions(), LISTED, st.integers(2, 4))
def shards_of_interactions(search, listed, n_shards):
    """Shards, merged in any order, are the search in one piece."""
    whole = search.find(**listed)
    if whole is None:
        return
    parts = [search.find(shard=(i, n_shards), **listed) for i in range(n_shards, 0, -1)]
    merged = interplay.merge_interactions(parts)
    # Issue 30, item 1: these adjustments depend on p-values that parts do not list.
    steps_up = search.options["p_adjust"] in ("hochberg", "BH", "BY")
    assert merged.n_tests == whole.n_tests
    # As `merge_interactions` says: where more than a tenth of all tuples are significant, parts list fewer.
    n_found = max(int(one.tested.is_significant(search.options["level"]).sum()) for one in (whole, merged))
    is_many = n_found > whole.n_tests / 10
    if not is_many and (listed or not steps_up):
        _assert_first(merged, whole, len(whole), OF_A_TUPLE if steps_up else (*OF_A_TUPLE, "p_adjusted"))


@given(drawn_interactions(), st.sampled_from([0.001, 0.05, 0.4]), st.integers(1, 12))
def lists_of_interactions(search, max_p, top):
    """A list up to a p-value, or of the first few, is the beginning of the list of all tuples."""
    everything = search.find(max_p=1)
    if everything is None:
        return
    assert len(everything) == everything.n_tests
    p = everything.table["p_value"].to_numpy()
    _assert_first(search.find(max_p=max_p), everything, int((p <= max_p).sum()))
    _assert_first(search.find(top=top), everything, min(top, len(p)))


def _assert_first(found, whole, n, columns=OF_A_TUPLE):
    assert found is not None
    for column in columns:
        one, other = found.table[column].tolist(), whole.table[column].tolist()[:n]
        assert len(one) == n, (column, len(one), n)
        assert all(a == b or (a != a and b != b) for a, b in zip(one, other, strict=True)), column


@given(drawn_searches(wide=True), st.integers(1, 8))
def interrupted_searches(search, stop_at):
    """Maxima of an interrupted search are those of some tuples: none is larger than in the end."""
    X, y, strata = search.table()
    given_ = search.settings | search.chosen | {"strata": strata}
    engine = ShapedEngine(n_threads=search.n_threads, shape=search.tile_shape, stop_at=[stop_at])
    try:
        refused_or(lambda: interplay.max_information_gain(X, y, engine=engine, **given_))
    except SearchInterrupted as stopped:
        partial = stopped.partial
    else:
        return  # refused, or at its end before it was stopped
    whole = refused_or(lambda: interplay.max_information_gain(X, y, engine=search.engine(), **given_), ())
    # Of tuples with equal degrees of freedom; which of these groups a variable is shown with depends on all of them.
    so_far, in_the_end = partial.gain_by_group, whole.gain_by_group
    assert so_far.shape == in_the_end.shape
    assert not (so_far > in_the_end).any()
