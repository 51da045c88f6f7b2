"""All options at once: plain loops, or the direct searcher, against every way to run a search.

Tuples are compared, not only gains. What fails is printed as a `DrawnSearch`, in its simplest form; put it into `FOUND`
to have it repeated for good.
"""

import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from hypothesis import assume, example, given

import interplay
from fuzz.drawn_search import MAX_TUPLES, DrawnSearch, drawn_searches
from fuzz.outcomes import refused_or
from fuzz.plain_search import TOLERANCE, PlainSearch, n_tuples
from hostile.case import assert_same
from interplay.search.engines.cpu import CpuEngine

#: Contrast variables of a selection: as few as a null distribution can be fitted to.
N_CONTRAST = 30

#: Ties among tuples of constant columns were broken by the order of the search, here and in test_engines_agree.py.
FOUND = DrawnSearch(
    seed=558, kinds=("constant",) * 2 + ("three",) + ("constant",) * 4, n_samples=14, dimensions=3, n_classes=3,
    variables=(5, 6),
)  # fmt: skip


@given(drawn_searches())
@example(FOUND)
def every_option(search):
    """Gains, tuples, lists of tuples and selections of a small search against plain loops."""
    assume(n_tuples(search) <= MAX_TUPLES)
    found = _gains(search, search.engine())
    if found is None:
        return
    plain = PlainSearch(search)
    plain.assert_gains(found)
    _assert_same_however_it_is_run(search, found)
    if search.dimensions > 1:
        _assert_rows(search, plain)
    _assert_selection(search)


@given(drawn_searches(wide=True))
@example(FOUND)
def every_way(search):
    """A larger search: the bits of the direct searcher with one thread, however it is run."""
    found = _gains(search, CpuEngine(simd_level="serial", direct_only=True))
    if found is None:
        return
    assert_same(_gains(search, search.engine()), found)
    _assert_same_however_it_is_run(search, found)


def _gains(search, engine, **more):
    X, y, strata = search.table()
    given_ = search.settings | search.chosen | search.contrast(X, strata) | more
    return refused_or(lambda: interplay.max_information_gain(X, y, strata=strata, engine=engine, **given_))


def _assert_same_however_it_is_run(search, found):
    assert_same(_gains(search, CpuEngine(n_threads=search.n_threads, simd_level=search.simd_level)), found)
    assert_same(_gains(search, search.engine(direct_only=True)), found)
    if not search.stop_at:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kept"
        with suppress(KeyboardInterrupt):
            stopping = search.engine(stop_at=[search.stop_at])
            _gains(search, stopping, checkpoint=interplay.Checkpoint(file, seconds=0))
        assert_same(_gains(search, CpuEngine(n_threads=search.n_threads), checkpoint=file), found)


def _assert_rows(search, plain):
    X, y, _ = search.table()
    given_ = search.settings | search.chosen | {"min_gain": search.min_gain, "average": search.average}
    for decision in (y, None) if search.dimensions == 2 or search.stat == "H" else (y,):
        table = refused_or(
            lambda decision=decision: interplay.interesting_tuples(
                X, decision, stat=search.stat, engine=search.engine(), **given_
            )
        )
        if table is None:
            continue
        tuples = [tuple(members) for members in table.tuples.tolist()]
        listed = dict(zip(zip(tuples, table.variable.tolist(), strict=True), table.value.tolist(), strict=True))
        assert list(listed) == sorted(listed)
        assert len(listed) == len(table.value)
        for key, value in plain.rows(with_decision=decision is not None).items():
            if key in listed:
                assert abs(listed.pop(key) - value) <= TOLERANCE * max(1, abs(value)), key
                assert search.min_gain == 0 or value > search.min_gain - TOLERANCE, key
            else:
                assert search.min_gain != 0, key
                assert value <= search.min_gain + TOLERANCE, key
        assert not listed


def _assert_selection(search):
    """A selection searches as `max_information_gain` does, and its shards make up the whole."""
    X, y, strata = search.table()
    given_ = search.settings | {"strata": strata, "n_contrast": N_CONTRAST}
    selection = refused_or(lambda: interplay.select(X, y, engine=search.engine(), **given_))
    if selection is None:
        return
    columns, sources = interplay.contrast_variables(X, N_CONTRAST, strata=strata, random_state=search.seed)
    alike = {"contrast": columns, "contrast_sources": sources, "variables": None}
    assert_same(_gains(search, CpuEngine(direct_only=True), **alike), selection.gains)
    if not search.n_shards:
        return
    parts = [
        refused_or(
            lambda shard=shard: interplay.search_shard(
                X, y, shard=(shard + 1, search.n_shards), engine=search.engine(), **given_
            )
        )
        for shard in range(search.n_shards)
    ]
    order = np.random.default_rng(search.seed).permutation(search.n_shards)
    merged = refused_or(lambda: interplay.merge_parts([parts[i] for i in order], X=X))
    assert_same(merged.gains, selection.gains)
    assert np.array_equal(merged.log_p, selection.log_p, equal_nan=True)
    assert merged.relevant == selection.relevant
