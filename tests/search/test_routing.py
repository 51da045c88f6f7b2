"""Which searcher takes a tile, what a tile costs, and that all ways to search cut the same tiles."""

import logging
import time
from contextlib import contextmanager
from functools import partial
from math import comb

import numpy as np
import pytest

import interplay
import interplay.search.plan
from interplay import _core
from interplay.base.planes import DiscreteCodes
from interplay.data.codes.planes import make_bit_planes, planes_to_come
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.base import TileShape
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.routing import LANES, SEARCHERS, TRIPLE_BLOCK, max_block_size, tile_costs
from interplay.search.engines.routing import tile_searchers as searchers_of
from interplay.search.plan import cut_for_processor
from interplay.search.tiles import make_tuple_tiles

PSEUDOCOUNT = 0.25


def planes_of(levels, *, n_samples, n_classes, n_vars=None):
    rng = np.random.default_rng(0)
    codes = (rng.integers(0, 60, (len(levels), n_samples)) % levels[:, np.newaxis]).astype(np.uint8)
    classes = DecisionClasses(np.arange(n_samples) % n_classes, list(range(n_classes)))
    return make_bit_planes([DiscreteCodes(codes, levels)], classes, n_vars=n_vars or len(levels))


def alone_takes(levels, class_sizes):
    """Return who takes a tile of a single tuple: no table of such a tile is too large."""
    n = np.array(levels)
    tiles = make_tuple_tiles(n, n_vars=len(n), dimensions=len(n), block_size=1, middle_size=1, n_lanes=1)
    (searcher,) = searchers_of(planes_to_come(n, class_sizes, n_vars=len(n)), tiles, PSEUDOCOUNT)
    return searcher


LEVELS = {
    "2": [2],
    "3": [3],
    "4": [4],
    "5": [5],
    "mixed": [2, 3, 5],
}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("dimensions", [2, 3, 4, 5])
@pytest.mark.parametrize("n_real", [14, 60, pytest.param(280, marks=pytest.mark.slow)])
def test_default_tiles_have_lanes_wherever_there_are_any(levels, dimensions, n_real):
    n_contrast = 40
    many = n_real > 100 and dimensions >= 4  # up to a million tiles
    for n_strata in (None,) if many else (None, 2, 3):
        of_variables = np.resize(LEVELS[levels], n_real + n_contrast)
        of_rows = of_variables if n_strata is None else np.append(n_strata, of_variables)
        cut = partial(make_tuple_tiles, of_variables, n_vars=n_real, dimensions=dimensions, stratum_levels=n_strata)
        for n_classes in (3,) if many else (2, 3, 4):
            class_sizes = np.full(n_classes, 500)
            planes = planes_to_come(of_rows, class_sizes, n_vars=n_real + (n_strata is not None))
            shape, tiles = cut_for_processor(cut, planes, PSEUDOCOUNT)
            k = tiles.dimensions
            starts = [tiles.block_start] * (k - 2) + [tiles.middle_start, tiles.lane_start]
            rows = np.column_stack([of_rows[tiles.order[s[tiles.tiles[:, m]]]] for m, s in enumerate(starts)])
            takes = np.array(searchers_of(planes, tiles, PSEUDOCOUNT))
            for members in np.unique(rows[takes == "direct"], axis=0).tolist():
                assert alone_takes(tuple(members), class_sizes) == "direct", (members, n_classes, n_strata)
            if n_classes == 2 and k <= 5:
                assert set(takes[(rows == 2).all(axis=1)]) <= {"triples", "pairs", "singles"}
            # No tile takes minutes, whoever searches it.
            assert tile_costs(planes, tiles, PSEUDOCOUNT).max() <= 60e9, shape


def test_without_pseudocounts_there_are_no_bounds_to_search_lanes_with():
    levels = np.full(30, 2)
    tiles = make_tuple_tiles(levels, n_vars=30, dimensions=3)
    for pseudocount, class_sizes, expected in [
        (0.25, [500, 400], {"pairs"}),
        (0.0, [500, 400], {"direct"}),
        (0.25, [40_000, 400], {"wide"}),  # counts of other lanes have 16 bits
        (0.25, [2**24, 400], {"direct"}),  # floats hold no larger numbers
        (0.0, [40_000, 400], {"direct"}),
        (0.25, [500, 400, 300], {"levels"}),
        (0.25, [30] * 17, {"direct"}),
    ]:
        planes = planes_to_come(levels, np.array(class_sizes), n_vars=30)
        assert set(searchers_of(planes, tiles, pseudocount)) == expected


def test_what_tiles_are_cut_by_comes_from_the_core():
    assert LANES == 256
    assert TRIPLE_BLOCK == 14
    assert [max_block_size(k) for k in (4, 5, 6, 9)] == [128, 32, 32, 32]
    assert SEARCHERS == ("none", "triples", "pairs", "singles", "levels", "wide", "sums", "direct")


@pytest.mark.parametrize(
    ("levels", "n_vars", "dimensions", "class_sizes"),
    [
        (np.full(300, 40), 300, 3, [500, 500]),
        (np.append(np.full(290, 2), np.full(10, 40)), 300, 3, [500, 500]),
        (np.full(60, 2), 60, 6, [500, 500]),
        (np.full(100, 4), 100, 5, [500, 500]),
        (np.full(400, 2), 400, 4, [50_000, 50_000]),
    ],
)
def test_no_tile_takes_minutes(levels, n_vars, dimensions, class_sizes):
    planes = planes_to_come(levels, np.array(class_sizes), n_vars=n_vars)
    cut = partial(make_tuple_tiles, levels, n_vars=n_vars, dimensions=dimensions)
    _, tiles = cut_for_processor(cut, planes, PSEUDOCOUNT)
    assert tile_costs(planes, tiles, PSEUDOCOUNT).max() <= 60e9
    assert tiles.n_tuples.sum() == comb(n_vars, dimensions)


@pytest.mark.slow
def test_costs_are_not_far_from_the_time_it_takes():
    def measured_and_expected(levels, n_classes):
        planes = planes_of(np.full(150, levels), n_samples=1000, n_classes=n_classes)
        tiles = make_tuple_tiles(planes.n_levels, n_vars=150, dimensions=3)
        known = CpuEngine().max_gains(planes, tiles, pseudocount=PSEUDOCOUNT)
        seconds = np.inf
        for _ in range(5):
            began = time.process_time()
            CpuEngine().max_gains(planes, tiles, pseudocount=PSEUDOCOUNT, known=known)
            seconds = min(seconds, time.process_time() - began)
        return seconds, float(tile_costs(planes, tiles, PSEUDOCOUNT).sum())

    seconds, cost = measured_and_expected(2, 2)
    for levels, n_classes in [(3, 2), (2, 3), (3, 3), (5, 2)]:
        longer, more = measured_and_expected(levels, n_classes)
        assert 0.5 < (longer / seconds) / (more / cost) < 2, (levels, n_classes)


def test_costs_grow_with_levels_classes_and_samples():
    levels = np.repeat([2, 3, 4], 64)
    tiles = make_tuple_tiles(levels, n_vars=len(levels), dimensions=3)
    of_levels = levels[tiles.order[tiles.lane_start[tiles.tiles[:, -1]]]]

    def cost(*class_sizes):
        return tile_costs(planes_to_come(levels, np.array(class_sizes), n_vars=len(levels)), tiles, PSEUDOCOUNT)

    per_tuple = cost(500, 500) / tiles.n_tuples
    same = [per_tuple[(tiles.tiles[:, 0] == tiles.tiles[:, -1]) & (of_levels == c)] for c in (2, 3, 4)]
    assert same[0].max() < same[1].min() < same[2].min()
    more_classes, more_samples = cost(334, 333, 333), cost(5000, 5000)
    assert (more_classes[of_levels > 2] > cost(500, 500)[of_levels > 2]).all()
    assert (more_samples > cost(500, 500)).all()
    assert (more_samples == np.round(more_samples)).all()  # sums of whole numbers are the same on every machine


def mixed_table():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 2, (300, 40)), rng.integers(0, 3, (300, 30))]).astype(float)
    return X, rng.integers(0, 2, 300)


def three_levels():
    rng = np.random.default_rng(3)
    return rng.integers(0, 3, (300, 70)).astype(float), rng.integers(0, 2, 300)


def three_classes():
    rng = np.random.default_rng(4)
    return rng.normal(size=(300, 70)), rng.integers(0, 3, 300)


SETTINGS = {"dimensions": 3, "n_contrast": 40, "random_state": 0}


@contextmanager
def tiles_seen(monkeypatch):
    """Gather the tiles that searches are cut into."""
    seen: list[np.ndarray] = []

    def make(*args, **options):
        tiles = make_tuple_tiles(*args, **options)
        seen.append(tiles.tiles)
        return tiles

    with monkeypatch.context() as patched:
        patched.setattr(interplay.search.plan, "make_tuple_tiles", make)
        yield seen


@pytest.mark.parametrize("table", [mixed_table, three_levels, three_classes])
def test_shards_and_checkpoints_search_the_tiles_of_a_plain_search(table, tmp_path, monkeypatch):
    X, y = table()
    with tiles_seen(monkeypatch) as of_plain:
        plain = interplay.select(X, y, **SETTINGS).provenance["searchers"]
    with tiles_seen(monkeypatch) as of_kept:
        kept = interplay.select(X, y, **SETTINGS, checkpoint=tmp_path / "run.ckpt").provenance["searchers"]
    with tiles_seen(monkeypatch) as of_shards:
        parts = [interplay.search_shard(X, y, **SETTINGS, shard=(number, 3)) for number in (1, 2, 3)]
    assert len(of_plain) == len(of_kept) == 2  # of tuples, and of variables alone
    assert len(of_shards) == 6
    for others in (of_kept, of_shards):
        assert all(np.array_equal(tiles, of_plain[i % 2]) for i, tiles in enumerate(others))
    assert kept == plain == interplay.merge_parts(parts).provenance["searchers"]
    assert sum(counts["tiles"] for counts in plain.values()) == sum(map(len, of_plain))
    assert sum(counts["tuples"] for counts in plain.values()) == comb(70, 3) + 40 * comb(70, 2) + 70
    assert plain["direct"]["tuples"] == 70  # the variables alone, nothing else


def test_strata_and_comparisons_of_classes_are_counted_too():
    X, y = three_classes()
    strata = np.arange(300) % 3
    found = interplay.select(X, y, dimensions=2, n_contrast=30, random_state=0, strata=strata, multiclass="ovr")
    counts = found.provenance["searchers"]
    # With the stratum a variable alone makes a pair, which has lanes.
    assert set(counts) == {"levels"}
    assert counts["levels"]["tuples"] == 3 * (comb(70, 2) + 30 * 70 + 70)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_searches_the_tiles_of_a_plain_search():
    distributed = pytest.importorskip("distributed")
    X, y = three_levels()
    plain = interplay.select(X, y, **SETTINGS).provenance["searchers"]
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert interplay.select(X, y, **SETTINGS, engine=client).provenance["searchers"] == plain
        assert set(plain) == {"levels", "direct"}


class Stops(CpuEngine):
    """Fails at its second chunk."""

    def search(self, planes, tiles, sink, **options):
        if options["searched"] == {} and (sink.gains.gain_by_group > -np.inf).any():
            raise RuntimeError("stopped")
        super().search(planes, tiles, sink, **options)


#: As another version might cut tuples, with more than two levels or classes.
OTHER_SHAPE = {"block_size": 8, "middle_size": 16, "n_lanes": 64}


def test_a_checkpoint_goes_on_with_its_own_tiles(tmp_path, monkeypatch):
    X, y = three_levels()
    file = tmp_path / "run.ckpt"
    with monkeypatch.context() as patched:
        patched.setattr(
            interplay.search.plan,
            "cut_for_processor",
            lambda cut, *_: (TileShape(**OTHER_SHAPE), cut(**OTHER_SHAPE)),
        )
        kept = interplay.Checkpoint(file, seconds=0)
        with pytest.raises(RuntimeError, match="stopped"):
            interplay.select(X, y, **SETTINGS, engine=Stops(), checkpoint=kept)
    states = interplay.Checkpoint(file)._states
    assert sum(states["search0"].done) == states["search0"].searched["levels"]["tiles"] > 0
    plain = interplay.select(X, y, **SETTINGS)
    with tiles_seen(monkeypatch) as seen:
        found = interplay.select(X, y, **SETTINGS, checkpoint=file)
    assert np.array_equal(found.p_value, plain.p_value)
    assert np.array_equal(seen[0], make_tuple_tiles(
        np.full(110, 3), n_vars=70, dimensions=3, **OTHER_SHAPE
    ).tiles)  # fmt: skip
    counts = found.provenance["searchers"]
    assert sum(count["tuples"] for count in counts.values()) == comb(70, 3) + 40 * comb(70, 2) + 70


def test_a_resumed_search_counts_what_was_done_before(tmp_path):
    X, y = mixed_table()
    kept = interplay.Checkpoint(tmp_path / "run.ckpt", seconds=0)
    with pytest.raises(RuntimeError, match="stopped"):
        interplay.select(X, y, **SETTINGS, engine=Stops(), checkpoint=kept)
    found = interplay.select(X, y, **SETTINGS, checkpoint=tmp_path / "run.ckpt")
    assert found.provenance["searchers"] == interplay.select(X, y, **SETTINGS).provenance["searchers"]


@pytest.mark.parametrize("wrong", [None, {"pairs": {"tiles": 1}}])
def test_parts_that_do_not_say_who_searched_are_refused(wrong, tmp_path):
    X, y = mixed_table()
    part = interplay.search_shard(X, y, dimensions=2, shard=(1, 1))
    part.provenance["searchers"] = wrong
    part.save(tmp_path / "part")
    with pytest.raises(ValueError, match="search this shard again"):
        interplay.merge_parts([tmp_path / "part"])


def test_the_searchers_are_logged(caplog):
    X, y = mixed_table()
    with caplog.at_level(logging.DEBUG, logger="interplay.search.engines.cpu"):
        interplay.max_information_gain(X, y, dimensions=2, engine=CpuEngine())
    (message,) = [text for text in caplog.messages if "by searcher" in text]
    assert "2D" in message
    assert "'singles': {'tiles': 1, 'tuples': 780}" in message  # of the 40 variables with two levels


def test_shards_of_a_mixed_table_cost_the_same():
    levels = np.append(np.full(700, 2), np.full(300, 3))
    tiles = make_tuple_tiles(levels, n_vars=1000, dimensions=3)
    costs = tile_costs(planes_to_come(levels, np.array([500, 500]), n_vars=1000), tiles, PSEUDOCOUNT)
    # A shard ends where a tile does.
    assert costs.max() < 0.1 * costs.sum() / 8


def core_objects(**other):
    planes = planes_of(np.full(6, 2), n_samples=50, n_classes=2)
    tiles = make_tuple_tiles(planes.n_levels, n_vars=6, dimensions=2)
    of_planes = {
        name: getattr(planes, name)
        for name in ("words", "plane_start", "n_levels", "class_word_start", "class_sizes", "n_vars")
    }
    of_planes |= {"scores": np.empty(0, dtype=np.int32), "samples": np.empty(0, dtype=np.uint64)}
    of_tiles = {
        "n_levels": planes.n_levels,
        "n_vars": 6,
        **{
            name: getattr(tiles, name)
            for name in ("order", "block_start", "middle_start", "lane_start", "tiles", "partner_cells")
        },
    }
    return (
        _core.Planes(**of_planes | {name: value for name, value in other.items() if name in of_planes}),
        _core.Tiles(**of_tiles | {name: value for name, value in other.items() if name in of_tiles}),
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("words", np.zeros((5, 16), dtype=np.uint64), "cut the planes"),
        ("class_sizes", np.array([600, 20]), "whole blocks"),
        ("n_vars", 7, "n_vars"),
        ("scores", np.ones(128, dtype=np.int32), "has no classes"),
        ("n_levels", np.array([2, 2, 2, 2, 2, 3]), "one plane fewer"),
        ("n_levels", np.array([1, 1, 1, 1, 1, 1]), "one plane fewer"),
        ("order", np.array([0, 1, 2, 3, 4, 6]), "row out of range"),
        ("lane_start", np.array([0, 7]), "cut the order"),
        ("middle_start", np.array([0, 3, 3, 6]), "not be empty"),
        ("tiles", np.array([[0, 1]], dtype=np.int32), "block out of range"),
        ("tiles", np.array([0, 0], dtype=np.int32), "two-dimensional"),
        ("partner_cells", np.empty(0, dtype=np.int64), "partner_cells"),
    ],
)
def test_the_core_refuses_what_would_lead_it_astray(name, value, message):
    with pytest.raises(ValueError, match=message):
        core_objects(**{name: value})


def test_the_core_refuses_tiles_of_other_variables_and_results_it_cannot_write_to():
    planes, tiles = core_objects()
    job = _core.Job(1, "serial", False)
    how = {"pseudocount": 0.25, "discretization": 0, "searched_by": np.zeros(1, dtype=np.uint8), "on_tick": None}
    results = {
        "gain": np.full((6, 1), -np.inf),
        "gain_discretization": np.full((6, 1), -1),
        "gain_tuples": np.full((6, 1, 2), -1),
    }
    _core.search_max_gains(planes, tiles, job, **how, **results)
    assert np.isfinite(results["gain"]).all()
    others = make_tuple_tiles(np.full(6, 2), n_vars=5, dimensions=2)
    with pytest.raises(ValueError, match="of the variables of the planes"):
        _core.search_max_gains(
            planes,
            _core.Tiles(np.full(6, 2), 5, *(getattr(others, name) for name in (
                "order", "block_start", "middle_start", "lane_start", "tiles", "partner_cells"))),
            job, **how, **results,
        )  # fmt: skip
    with pytest.raises(TypeError):  # a copy would be filled, and thrown away
        _core.search_max_gains(planes, tiles, job, **how, **results | {"gain": np.full((6, 2), 0.0)[:, :1]})
    with pytest.raises(TypeError):
        _core.search_max_gains(planes, tiles, job, **how, **results | {"gain": np.zeros((6, 1), dtype=np.float32)})
