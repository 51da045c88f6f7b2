"""The tuples that explain relevant variables: against plain loops, as a table, as a graph, saved and loaded."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import interplay
import reference
from interplay.ask.selection import best_tuples as explanations


def three_way(n_samples=400):
    """Variables 2, 5 and 9 decide together; 2 and 5 a little as a pair; 7 alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 14))
    bits = np.median(X, axis=0) < X
    y = bits[:, 2] ^ bits[:, 5] ^ bits[:, 9]
    noisy = rng.random(n_samples) < 0.15
    y[noisy] = (bits[:, 2] ^ bits[:, 5])[noisy]
    X[:, 7] += 1.2 * y
    return X, y.astype(int)


@pytest.mark.parametrize("discretizations", [1, 2])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_against_plain_loops(dimensions, discretizations):
    X, y = three_way()
    X[:, 7] = np.digitize(X[:, 7], [-0.5, 0.8])  # three levels, taken as they are
    settings = {"discretizations": discretizations, "range_": 0.4 if discretizations > 1 else None}
    result = interplay.select(X, y, dimensions=dimensions, random_state=3, n_contrast=60, **settings)
    codes = interplay.discretize(X, random_state=3, **settings).transpose(0, 2, 1).tolist()
    levels = [3 if v == 7 else 2 for v in range(14)]

    def gain(members, variable):
        place = members.index(variable)
        return max(
            reference.information_gain([c[v] for v in members], [levels[v] for v in members], y.tolist(), 2, 0.25)[
                place
            ]
            for c in codes
        )

    involved = sorted({int(m) for v in result.ranked for m in result.gains.tuples[v]})
    table = result.synergies(top=4)
    assert table["variable"].drop_duplicates().to_list() == result.relevant
    for v in result.ranked.tolist():
        rows = table[table["variable"] == result.names[v]]
        holding = [members for members in combinations(involved, dimensions) if v in members]
        ranked = sorted(((gain(members, v), members) for members in holding), key=lambda row: (-row[0], row[1]))[:4]
        np.testing.assert_allclose(rows["gain"], [row[0] for row in ranked], rtol=1e-9)
        for (whole, members), (_, row) in zip(ranked, rows.iterrows(), strict=True):
            parts = [part for size in range(1, dimensions) for part in combinations(members, size) if v in part]
            best_part = max(gain(part, v) for part in parts)
            assert row["partners"] == tuple(f"x{m}" for m in members if m != v)
            assert row["gain_in_part"] == pytest.approx(best_part, rel=1e-9)
            assert row["synergy"] == pytest.approx(whole - best_part, rel=1e-9, abs=1e-9)
            assert row["gain_alone"] == pytest.approx(gain((v,), v), rel=1e-9)
            df = reference.degrees_of_freedom([levels[m] for m in members], members.index(v), 2)
            assert row["p_gain"] == pytest.approx(result.null_fit.p_values([whole], df=[df])[0], rel=1e-6)


def test_first_tuple_is_the_best_one():
    result = interplay.select(*three_way(), dimensions=3, random_state=0)
    assert {"x2", "x5", "x9"} <= set(result.relevant)
    first = result.synergies(top=1).set_index("variable")
    table = result.table.set_index("variable")
    for name in result.relevant:
        assert first.loc[name, "gain"] == table.loc[name, "gain"]
        assert first.loc[name, "partners"] == table.loc[name, "partners"]
        assert first.loc[name, "p_gain"] == pytest.approx(table.loc[name, "p_value"])
    # The pair tells part of what the three tell.
    assert 0 < first.loc["x2", "synergy"] < first.loc["x2", "gain"]


def test_many_relevant_variables_are_explained_in_groups(monkeypatch):
    X, y = three_way()
    whole = interplay.select(X, y, dimensions=2, random_state=0).synergies(top=1)
    monkeypatch.setattr(explanations, "_TUPLES_BOUNDS", (3, 3))
    cut = interplay.select(X, y, dimensions=2, random_state=0).synergies(top=1)
    assert cut.equals(whole)


def test_saved_and_loaded(tmp_path):
    result = interplay.select(*three_way(), dimensions=3, random_state=0)
    result.save(tmp_path / "run.interplay")
    assert interplay.load(tmp_path / "run.interplay").synergies().equals(result.synergies())


def test_several_runs_and_nothing_relevant():
    X, _ = three_way()
    bits = X > 0
    y = 2 * bits[:, 3] + (bits[:, 5] ^ bits[:, 6])
    result = interplay.select(X, y, dimensions=2, multiclass="ovr", random_state=0)
    table = result.synergies()
    assert list(table.columns[:2]) == ["decision", "variable"]
    assert set(table["decision"]) == {run.decision for run in result.runs}
    assert set(table["variable"]) == set(result.relevant)
    rng = np.random.default_rng(5)
    nothing = interplay.select(rng.normal(size=(100, 10)), rng.integers(0, 2, 100), dimensions=2, random_state=1)
    assert nothing.relevant == []
    assert len(nothing.synergies()) == 0
    assert list(nothing.synergies().columns) == list(
        interplay.select(*three_way(), dimensions=2, random_state=0).synergies().columns
    )
    assert nothing.synergy_graph().number_of_nodes() == 0


def test_graph():
    result = interplay.select(*three_way(), dimensions=3, random_state=0)
    graph = result.synergy_graph(top=1)
    assert set(result.relevant) <= set(graph.nodes)
    assert graph.nodes["x2"]["relevant"] is True
    assert graph.nodes["x2"]["gain"] == result.table.loc[2, "gain"]
    edge = graph.edges["x2", "x9"]
    assert edge["members"] == ("x2", "x5", "x9")
    first = result.synergies(top=1).set_index("variable")
    assert edge["weight"] == max(first.loc["x2", "synergy"], first.loc["x9", "synergy"])
    assert edge["p_gain"] < 1e-6


def test_messages(monkeypatch):
    X, y = three_way()
    result = interplay.select(X, y, dimensions=2, random_state=0)
    older = replace(result, runs=(replace(result.runs[0], explanations=None),))
    with pytest.raises(ValueError, match="does not contain its tuples"):
        older.synergies()
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r'run .* install "networkx>=[\d.]+"$'):
        result.synergy_graph()
