"""interactions(): the same from all engines, numbers of threads, checkpoints and parts."""

import numpy as np
import pandas as pd
import pytest

import interplay
from gpu_mark import ENGINES
from interaction_problems import xor


@pytest.mark.parametrize("settings", [{}, {"dimensions": 3, "divisions": 2}, {"discretizations": 2}])
def test_threads_and_checkpoints_change_nothing(settings, tmp_path):
    X, y = xor(7)
    alone = interplay.interactions(X, y, top=30, **settings)
    told = []
    same = interplay.interactions(
        X, y, top=30, n_jobs=2, progress=told.append, checkpoint=tmp_path / "search", **settings
    )
    again = interplay.interactions(X, y, top=30, checkpoint=tmp_path / "search", **settings)
    for other in (same, again):
        pd.testing.assert_frame_equal(other.table, alone.table)
    assert told[-1] == 1
    assert min(told) >= 0
    with pytest.raises(ValueError, match="belongs to another search"):
        interplay.interactions(X, y, top=31, checkpoint=tmp_path / "search", **settings)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("settings", [{}, {"dimensions": 3, "divisions": 2}, {"discretizations": 2, "divisions": 2}])
def test_every_engine_finds_the_same(engine, settings):
    X, y = xor(7, n_vars=24)
    alone = interplay.interactions(X, y, top=30, **settings)
    pd.testing.assert_frame_equal(interplay.interactions(X, y, top=30, engine=engine, **settings).table, alone.table)


def test_a_cluster_finds_the_same():
    distributed = pytest.importorskip("distributed")
    X, y = xor(7, n_vars=24)
    strata = np.arange(len(y)) % 3
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
        for settings in ({}, {"dimensions": 3}, {"strata": strata}):
            alone = interplay.interactions(X, y, top=20, **settings)
            there = interplay.interactions(X, y, top=20, engine=client, **settings)
            pd.testing.assert_frame_equal(there.table, alone.table)


@pytest.mark.parametrize("settings", [{}, {"top": 12}, {"max_p": 0.05}, {"dimensions": 3, "divisions": 2, "top": 9}])
def test_shards_make_the_whole(settings, tmp_path):
    X, y = xor(7, n_vars=40)
    whole = interplay.interactions(X, y, **settings)
    files = []
    for number in (2, 1, 3):
        files.append(tmp_path / f"part{number}")
        interplay.interactions(X, y, shard=f"{number}/3", **settings).save(files[-1])
    merged = interplay.merge_interactions(files)
    pd.testing.assert_frame_equal(merged.table, whole.table)
    assert merged.headline() == whole.headline()
    assert [one.members.tolist() for one in merged.counts] == [one.members.tolist() for one in whole.counts]
    assert [cut.variable for cut in merged.cuts] == [cut.variable for cut in whole.cuts]


def test_parts_that_do_not_make_a_whole():
    X, y = xor(7)
    one, two = (interplay.interactions(X, y, shard=(i, 2)) for i in (1, 2))
    with pytest.raises(ValueError, match="parts: 2 of 2 is missing"):
        interplay.merge_interactions([one])
    with pytest.raises(ValueError, match="1/2 is given twice"):
        interplay.merge_interactions([one, one])
    with pytest.raises(ValueError, match="of another search"):
        interplay.merge_interactions([one, interplay.interactions(X, ~y, shard="2/2")])
    with pytest.raises(ValueError, match=r"of another search than part 1/2 \(divisions"):
        interplay.merge_interactions([one, interplay.interactions(X, y, shard="2/2", divisions=2)])
    with pytest.raises(ValueError, match="is not a part of a search"):
        interplay.merge_interactions([interplay.interactions(X, y)])
    with pytest.raises(ValueError, match="shard and holdout cannot"):
        interplay.interactions(X, y, shard="1/2", holdout=0.3)
    assert interplay.merge_interactions([one, two]).significant == [("x2", "x9")]
