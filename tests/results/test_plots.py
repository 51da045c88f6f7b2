"""Pictures, tested as data: what is drawn is what the result says."""

import sys

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

import interplay
from interplay.show.plots.gains import p_histogram
from interplay.show.plots.pairs import group_spans, order_by_likeness, order_in_groups, spring_layout, synergy_network
from interplay.show.plots.why import lay_out, share_around


@pytest.fixture(scope="module")
def xor():
    """x4 and x17 together decide; x5 is nearly x4, and x6 its opposite."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 25))
    X[:, 5] = X[:, 4] + 0.001 * rng.normal(size=500)
    X[:, 6] = -X[:, 4] + 0.001 * rng.normal(size=500)
    y = np.where((X[:, 4] > 0) ^ (X[:, 17] > 0) ^ (rng.random(500) < 0.05), "yes", "no")
    result = interplay.select(X, y, dimensions=2, random_state=0)
    assert set(result.relevant) == {"x4", "x5", "x6", "x17"}
    return result


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    result = interplay.select(rng.normal(size=(100, 20)), np.arange(100) % 2, dimensions=2, random_state=0)
    assert result.relevant == []
    return result


def line(ax, label):
    found = next(item for item in ax.get_lines() if label in str(item.get_label()))
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def test_gains(xor):
    rank, gain = line(xor.plot.gains(), "relevant (4)")
    np.testing.assert_array_equal(rank, [1, 2, 3, 4])
    np.testing.assert_array_equal(gain, np.sort(xor.gains.gain)[::-1][:4])


def test_p_values(xor):
    ax = xor.plot.p_values()
    _, before = line(ax, "p")
    np.testing.assert_allclose(before, -np.log10(np.sort(xor.p_value)), atol=1e-12)
    _, after = line(ax, "relevant (4)")
    np.testing.assert_allclose(after, -np.log10(np.sort(xor.p_adjusted)[:4]))
    _, level = line(ax, "significance level 0.05")
    np.testing.assert_allclose(level, -np.log10(0.05))


def test_p_values_below_the_range_of_floats():
    from interplay.show.plots import plot_p_values

    ax = plot_p_values(np.array([-5000.0, -800.0, -1.0]), np.array([0.0, 0.0, 1.0]), level=0.05)
    assert all(np.isfinite(item.get_ydata()).all() for item in ax.get_lines())


def test_histogram_has_area_one_and_the_line_at_one(xor):
    ax = xor.plot.null_histogram()
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1)
    _, fitted = line(ax, "expected if the fit is right")
    assert set(fitted) == {1.0}
    # One of twenty bins, all p-values in it: a density of twenty.
    np.testing.assert_allclose(p_histogram(np.full(7, 0.51))[1], np.where(np.arange(20) == 10, 20.0, 0.0))


def test_correlation_frames_what_clusters_groups(xor):
    ax = xor.plot.correlation()
    names = [label.get_text() for label in ax.get_xticklabels()]
    image = ax.images[0].get_array()
    assert image[names.index("x4"), names.index("x6")] == pytest.approx(-1, abs=1e-4)
    (frame,) = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    start, length = round(frame.get_x() + 0.5), round(frame.get_width())
    assert set(names[start : start + length]) == {"x4", "x5", "x6"} == set(max(xor.clusters(), key=len))


def test_order_keeps_groups_whole():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(6, 200))
    group = rng.permutation(np.repeat(np.arange(6), 5))
    correlation = np.corrcoef(base[group] + 0.05 * rng.normal(size=(30, 200)))
    order = order_by_likeness(correlation)
    assert sorted(order.tolist()) == list(range(30))
    assert np.count_nonzero(np.diff(group[order])) == 5
    assert group_spans(["a", "b", "c"], [["a"], ["c", "b"]]) == [(1, 2)]
    apart = np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
    assert order_in_groups(apart, ["a", "b", "c"], [["a", "c"], ["b"]]).tolist() in (
        [0, 2, 1],
        [2, 0, 1],
        [1, 0, 2],
        [1, 2, 0],
    )


def test_synergy_network_joins_partners(xor):
    nodes, edges, weight, interacts = synergy_network(xor)
    assert interacts.all()
    table = xor.table.set_index("variable")
    drawn = {frozenset(xor.names[nodes[i]] for i in edge): w for edge, w in zip(edges, weight, strict=True)}
    expected: dict[frozenset[str], float] = {}
    for name in xor.relevant:
        for partner in table.loc[name, "partners"]:
            pair = frozenset((name, partner))
            expected[pair] = max(expected.get(pair, 0), table.loc[name, "synergy"])
    assert drawn == expected
    texts = {text.get_text() for text in xor.plot.synergies().texts}
    assert texts == {xor.names[v] for v in nodes}
    assert len(synergy_network(xor, max_variables=1).nodes) == 2


def test_layout_is_repeatable_and_keeps_nodes_apart():
    edges = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [5, 3], [6, 7]])
    place = spring_layout(8, edges)
    np.testing.assert_array_equal(place, spring_layout(8, edges))
    assert place.min() >= 0
    assert place.max() <= 1
    distance = np.sqrt(((place[:, None] - place) ** 2).sum(-1))
    assert (distance + np.eye(8)).min() > 0.03
    # Joined nodes are closer than the others.
    joined = np.mean([distance[a, b] for a, b in edges])
    assert joined < 0.6 * distance[np.triu_indices(8, 1)].mean()
    np.testing.assert_array_equal(spring_layout(1, np.empty((0, 2), dtype=np.int64)), [[0.5, 0.5]])


def test_why_shows_the_xor(xor):
    ax = xor.plot.why("x17")
    shares = [text.get_text() for text in ax.texts if "%" in text.get_text()]
    assert len(shares) == 4
    assert sorted(float(share.strip("%")) > 50 for share in shares) == [False, False, True, True]
    assert ax.get_xlabel() == "x17"
    assert ax.get_ylabel() in {"x4", "x5", "x6"}
    cells = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    # Blue where the class is rare, orange where it is common; opposite corners alike.
    red = {(cell.get_x(), cell.get_y()): cell.get_facecolor()[0] for cell in cells}
    assert (red[0, 0] > red[1, 0]) == (red[1, 1] > red[1, 0]) == (red[0, 0] > red[0, 1])
    counts = xor.counts_of("x17").counts
    written = sorted(int(text.get_text()[4:]) for text in ax.texts if text.get_text().startswith("n = "))
    assert written == sorted(counts.sum(axis=-1).ravel().tolist())


@pytest.mark.parametrize("shape", [(3, 2), (2, 3, 2), (2, 3, 4, 2), (2, 2, 3, 2, 3), (2, 2, 2, 2, 2, 2)])
def test_every_cell_has_its_own_place(shape):
    counts = np.random.default_rng(0).integers(0, 9, size=shape)
    names = [f"v{i}" for i in range(len(shape) - 1)]
    panels = lay_out(counts, names, [[f"l{i}" for i in range(size)] for size in shape[:-1]])
    assert len(panels.cells) == np.prod(shape[:-1])
    assert len({(cell.x, cell.y) for cell in panels.cells}) == len(panels.cells)
    assert sum(cell.counts.sum() for cell in panels.cells) == counts.sum()
    assert max(cell.x for cell in panels.cells) + 1 == panels.width
    assert max(cell.y for cell in panels.cells) + 1 == panels.height
    assert len(panels.headings) == (np.prod(shape[2:-1]) if len(shape) > 3 else 0)


def test_shares_have_the_overall_share_in_the_middle():
    assert [share_around(share, 0.2) for share in (0, 0.1, 0.2, 0.6, 1)] == pytest.approx([0, 0.25, 0.5, 0.75, 1])


def test_why_with_several_classes_divides_each_cell():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = np.where(X[:, 0] > 0.5, "a", np.where(X[:, 0] < -0.5, "b", "c"))
    result = interplay.select(X, y, dimensions=1, divisions=2, random_state=0)
    ax = result.plot.why(0)
    counts = result.counts_of("x0").counts
    widths = [patch.get_width() for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_height() < 1]
    np.testing.assert_allclose(np.reshape(widths, (3, 3)), counts / counts.sum(axis=1, keepdims=True))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]


def test_runs_are_drawn_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    result = interplay.select(X, y, dimensions=2, multiclass="ovr", random_state=0)
    drawn = result.plot.null_fit(run="1 vs rest").lines[-1].get_ydata()
    np.testing.assert_array_equal(drawn, np.sort(result.runs[1].null_fit.reference_p))
    assert "vs rest" in result.plot.why(0).get_title()
    result.plot.gains()


def test_nothing_relevant_is_said_in_words(noise):
    for ax in (noise.plot.correlation(), noise.plot.synergies()):
        assert ax.texts[0].get_text().startswith("no ")
    line(noise.plot.gains(), "relevant (0)")
    line(noise.plot.p_values(), "relevant (0)")


def test_names_that_look_like_formulas_are_drawn_as_they_are():
    import pandas as pd

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    odd = ["$x^{", "a_b\n" + "long " * 40, *(f"v{i}" for i in range(6))]
    result = interplay.select(pd.DataFrame(X, columns=odd), y, dimensions=2, random_state=0)
    for ax in (result.plot.why(0), result.plot.synergies(), result.plot.correlation()):
        ax.figure.canvas.draw()


def test_each_plot_draws_on_given_axes(xor):
    for draw in ("gains", "p_values", "null_fit", "null_histogram", "correlation", "synergies"):
        ax = plt.subplots()[1]
        assert getattr(xor.plot, draw)(ax=ax) is ax
    ax = plt.subplots()[1]
    assert xor.plot.why("x4", ax=ax) is ax


def test_without_matplotlib(xor, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'run .* install "matplotlib>=[\d.]+"$'):
        xor.plot.why("x4")


def test_volcano():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 6)), columns=[f"p{v}_at" for v in range(6)])
    y = np.repeat(["ill", "well"], 40)
    X.loc[y == "well", "p2_at"] += 2
    X.loc[0, "p1_at"] = np.nan
    X.attrs["interplay.labels"] = {"p2_at": "DDR1"}
    result = interplay.select(X, y, dimensions=1, random_state=0)
    ax = result.plot.volcano(X, y)
    (line,) = (line for line in ax.lines if line.get_label() == "relevant")
    mean = X["p2_at"][40:].mean() - X["p2_at"][:40].mean()
    assert line.get_xdata() == pytest.approx([mean])
    assert line.get_ydata() == pytest.approx([-np.log10(result.p_value[2])])
    assert [text.get_text() for text in ax.texts] == ["DDR1"]
    assert ax.get_xlabel() == "mean of well − mean of ill"
    (others,) = (line for line in ax.lines if line.get_label() == "not relevant")
    assert len(others.get_xdata()) == 5
    with pytest.raises(ValueError, match="volcano needs X and y of the search"):
        result.plot.volcano(X.iloc[:, :3], y)
    with pytest.raises(ValueError, match="y must have one value per sample of X: 10 values"):
        result.plot.volcano(X, y[:10])
    with pytest.raises(ValueError, match="y must have the classes of the search, 'ill' and 'well'"):
        result.plot.volcano(X, np.arange(80) % 2)


def test_volcano_of_cases_and_controls():
    """The difference is that of cases less controls, as its axis says, though cases are first in the alphabet."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = np.repeat(["case", "control"], 40)
    X.loc[y == "case", "b"] += 2
    ax = interplay.select(X, y, dimensions=1, random_state=0).plot.volcano(X, y)
    (line,) = (line for line in ax.lines if line.get_label() == "relevant")
    assert ax.get_xlabel() == "mean of case − mean of control"
    assert line.get_xdata() == pytest.approx([X["b"][:40].mean() - X["b"][40:].mean()])
