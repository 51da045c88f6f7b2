"""Shards: any number of parts, put together, equals one run to the last bit."""

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.search.engines.base import TileShape
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.routing import tile_costs
from interplay.search.loop import Shard


@pytest.fixture(scope="module")
def data():
    """Numbers, flags and text, so that there are tiles of several kinds; three classes."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(240, 60)), columns=[f"gene {v}" for v in range(60)])
    X["flag"] = rng.random(240) < 0.3
    X["city"] = rng.choice(["Łódź", "Kraków", "Gdańsk"], 240)
    y = np.where((X["gene 3"] > 0) ^ (X["gene 17"] > 0), "ill", np.where(X["flag"], "well", "unknown"))
    return X, y


def assert_same(a, b, *, tested=True):
    """Compare two results; without the table of samples, the tuples of one were not tested."""
    for name in ("log_p", "p_value", "p_adjusted", "is_relevant", "ranked"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.settings == b.settings
    if tested:
        assert a.table.equals(b.table)
    else:
        of_tests = ["verdict", "interacting", "p_interaction", "direction", "effect", "effect_low", "effect_high"]
        of_tests += ["effect_kind", "representative", "short_list"]
        assert a.table.drop(columns=of_tests).equals(b.table.drop(columns=of_tests))
        assert set(a.table["verdict"]) <= {"", "untested"}
        assert set(a.table["direction"]) == {""}
    assert a.contrast.equals(b.contrast)
    for run, other in zip(a.runs, b.runs, strict=True):
        assert np.array_equal(run.gains.tuples_by_group, other.gains.tuples_by_group)
        assert np.array_equal(run.gains.gain_by_group, other.gains.gain_by_group)
        assert run.null_fit.summary() == other.null_fit.summary()
        assert run.class_labels == other.class_labels


@pytest.mark.parametrize(
    ("n_shards", "settings"),
    [
        (20, {"dimensions": 2, "discretizations": 5}),
        (12, {"dimensions": 3, "n_contrast": 40}),
        (1, {"dimensions": 2}),
        (3, {"dimensions": 1}),
        (7, {"dimensions": 2, "multiclass": "ovo"}),
        (5, {"dimensions": 2, "multiclass": "ovr", "n_contrast": 0, "fit": "lsq", "discrete": ["flag", "city"]}),
    ],
)
@pytest.mark.filterwarnings("ignore:column .* of X determines? y completely")  # one pair of classes
def test_parts_equal_one_run(data, tmp_path, n_shards, settings):
    X, y = data
    files = []
    for number in range(1, n_shards + 1):
        files.append(tmp_path / f"part{number}")
        interplay.search_shard(X, y, shard=(number, n_shards), random_state=7, **settings).save(files[-1])
    np.random.default_rng(0).shuffle(files)
    merged = interplay.merge_parts(files, X=X)
    plain = interplay.select(X, y, random_state=7, **settings)
    assert_same(merged, plain)
    assert np.array_equal(merged.correlation, plain.correlation)
    assert merged.cautions == plain.cautions
    assert merged.provenance["data_fingerprint"] == plain.provenance["data_fingerprint"]
    assert merged.provenance["engine"] == {"name": plain.provenance["engine"]["name"], "shards": n_shards}
    merged.save(tmp_path / "merged")
    assert_same(interplay.load(tmp_path / "merged"), plain)


def test_shares_are_even_and_cover_everything(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 600)), rng.integers(0, 2, 60)
    n_tuples, costs = [], []

    class Counts(CpuEngine):
        def search(self, planes, tiles, sink, **options):
            n_tuples[-1] += tiles.n_tuples.sum()
            costs[-1] += tile_costs(planes, tiles, options["pseudocount"]).sum()
            super().search(planes, tiles, sink, **options)

    for number in range(1, 9):
        n_tuples.append(0.0)
        costs.append(0.0)
        interplay.search_shard(X, y, shard=(number, 8), dimensions=3, n_contrast=0, engine=Counts())
    assert sum(n_tuples) == 600 * 599 * 598 / 6 + 600
    assert max(costs) < 1.25 * sum(costs) / 8


def test_engines_that_cut_otherwise_make_parts_that_fit(data):
    class OtherTiles(CpuEngine):
        def tile_shape(self, dimensions):
            return TileShape(block_size=8, middle_size=8, n_lanes=8, even=False)

    parts = [
        interplay.search_shard(*data, dimensions=2, shard=(i, 3), engine=engine)
        for i, engine in enumerate(("cpu", OtherTiles(), "auto"), start=1)
    ]
    assert_same(interplay.merge_parts(parts, X=data[0]), interplay.select(*data, dimensions=2, random_state=0))


def test_without_the_table_only_clusters_are_missing(data):
    X, y = data
    parts = [interplay.search_shard(X, y, dimensions=2, shard=(i, 2)) for i in (1, 2)]
    merged = interplay.merge_parts(parts)
    assert_same(merged, interplay.select(X, y, dimensions=2, random_state=0), tested=False)
    with pytest.raises(ValueError, match="clusters are not available"):
        merged.clusters()
    other = X.copy()
    other.iloc[0, 0] += 1
    for table in (other, X.iloc[:, 1:], X.iloc[1:]):
        with pytest.raises(ValueError, match="X is not the table"):
            interplay.merge_parts(parts, X=table)


def test_missing_doubled_and_foreign_parts_are_refused(data, tmp_path):
    X, y = data
    parts = {i: interplay.search_shard(X, y, shard=f"{i}/4", dimensions=1) for i in (1, 2, 3, 4)}

    def refused(given, message):
        with pytest.raises(ValueError, match=message) as caught:
            interplay.merge_parts(given)
        assert "\n" not in str(caught.value)

    refused([], "at least one")
    refused([parts[2]], "1, 3-4 of 4 are missing: search them")
    refused([parts[2], parts[4], parts[3]], "1 of 4 is missing: search it")
    refused([*parts.values(), parts[2]], "2/4 is given twice")
    refused([parts[1], interplay.search_shard(X, y, shard="2/5", dimensions=1)], "2/5 and part 1/4 is 1/4")
    foreign = {
        "dimensions: 1 in part 1/4, 2 in part 2/4": interplay.search_shard(X, y, shard="2/4", dimensions=2),
        "random_state: 0 in": interplay.search_shard(X, y, shard="2/4", dimensions=1, random_state=1),
        "level: 0.05 in": interplay.search_shard(X, y, shard="2/4", dimensions=1, level=0.1),
        "other data": interplay.search_shard(X.assign(flag=~X["flag"]), y, shard="2/4", dimensions=1),
    }
    for message, part in foreign.items():
        refused([parts[1], part, parts[3], parts[4]], message)

    file = tmp_path / "part1"
    parts[1].save(file)
    file.write_bytes(file.read_bytes()[:-100])
    refused([file], "is not a part of interplay, or is damaged: search this shard again")
    with pytest.raises(FileNotFoundError):
        interplay.merge_parts([tmp_path / "nowhere"])


@pytest.mark.parametrize("shard", ["3", "0/4", "5/4", "a/b", (1, 2, 3), 3, None, "1/0", (1.5, 3)])
def test_bad_shards(data, shard):
    with pytest.raises((ValueError, TypeError), match="shard"):
        interplay.search_shard(*data, dimensions=2, shard=shard)


def test_a_shard_may_be_written_with_spaces():
    assert str(Shard.parse(" 3 / 64")) == "3/64"


def test_a_shard_has_a_checkpoint_of_its_own(data, tmp_path):
    file = tmp_path / "run.ckpt"
    first = interplay.search_shard(*data, dimensions=2, shard="1/2", checkpoint=file)
    again = interplay.search_shard(*data, dimensions=2, shard="1/2", checkpoint=file)
    assert np.array_equal(first.runs[0].gains.gain, again.runs[0].gains.gain)
    with pytest.raises(ValueError, match="shard: '1/2' there, '2/2' here"):
        interplay.search_shard(*data, dimensions=2, shard="2/2", checkpoint=file)
