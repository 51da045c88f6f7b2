"""What is asked of results: tables, clusters, pictures, merging."""

import functools

import matplotlib
import numpy as np

import interplay
from hostile.case import Area, refused, same
from hostile.data import FRAME, X, Y, gains, selected
from interplay.show import plots

matplotlib.use("Agg")


@functools.cache
def result():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 6))
    return interplay.select(table, (table[:, 1] > 0) ^ (table[:, 3] > 0), dimensions=2, n_contrast=30, random_state=0)


@functools.cache
def several_runs():
    return selected(y=np.arange(60) % 3, multiclass="ovr")


AREA = Area(
    "Results",
    [
        refused("`clusters(2)`", lambda: result().clusters(2), "^threshold must be"),
        refused("`clusters(nan)`", lambda: result().clusters(float("nan")), "^threshold must be"),
        refused('`clusters("high")`', lambda: result().clusters("high"), "^threshold must be"),
        refused(
            "`counts_of` a variable that does not exist", lambda: result().counts_of("x99"), "^variable 'x99' is not"
        ),
        refused("`counts_of(-1)`", lambda: result().counts_of(-1), "^variable must be"),
        refused("`counts_of(1.0)`", lambda: result().counts_of(1.0), "^variable must be"),
        refused("`counts_of` an irrelevant variable", lambda: result().counts_of(0), "'x0' are not stored"),
        refused("`synergies(0)`", lambda: result().synergies(0), "^top must be"),
        refused(
            "`synergies` in 1D", lambda: selected(dimensions=1, n_contrast=0).synergies(), "^synergies need tuples"
        ),
        refused("`gains` of several runs", lambda: several_runs().gains, r"use .runs\[i\].gains"),
        refused(
            "`plot.null_fit` of several runs", lambda: several_runs().plot.null_fit(), "^run is needed, as there are"
        ),
        refused('`plot.null_fit(run="x")`', lambda: several_runs().plot.null_fit(run="x"), "^run must be one of"),
        refused("`plot.null_fit(run=7)`", lambda: several_runs().plot.null_fit(run=7), "^run must be"),
        refused(
            "`plot.why` a variable that does not exist", lambda: result().plot.why("x99"), "^variable 'x99' is not"
        ),
        refused(
            "`plot.synergies(max_variables=0)`", lambda: result().plot.synergies(max_variables=0), "^max_variables"
        ),
        refused("`plot.correlation(threshold=-1)`", lambda: result().plot.correlation(threshold=-1), "^threshold must"),
        refused("`annotate` of a frame", lambda: result().annotate(FRAME), "^adata must be an AnnData"),
        refused("`save` in a missing folder", lambda: result().save("no/folder/a"), "^cannot write 'no/folder/a'"),
        refused("`save` over a folder", lambda: result().save("."), "^cannot write"),
        refused("`save(7)`", lambda: result().save(7), "^path must be"),
        refused(
            "`to_html` in a missing folder", lambda: result().to_html("no/folder/a.html"), "^cannot write 'no/folder"
        ),
        refused(
            "merging gains of another search", lambda: gains().merge(gains(dimensions=3)), "^only results of the same"
        ),
        refused("`plot_gains` of two dimensions", lambda: plots.plot_gains(X, Y), "^gain must be"),
        refused("`plot_gains` with a mask of another length", lambda: plots.plot_gains(X[0], Y), "^is_relevant must"),
        refused("`plot_p_values` of texts", lambda: plots.plot_p_values(["a"], ["b"], level=0.05), "^log_p must be"),
        refused(
            "`plot_p_histogram` of a matrix", lambda: plots.plot_p_histogram(X, X, reference="a"), "^p_values must be"
        ),
        refused(
            "`plot_correlation` that is not square", lambda: plots.plot_correlation(X, ["a"] * 60), "^correlation must"
        ),
        refused("`plot_gains_by_dimension` of nothing", lambda: plots.plot_gains_by_dimension({}), "^selections must"),
        same(
            "`plot.gains` of all NaN",
            lambda: len(plots.plot_gains(np.full(5, np.nan), np.zeros(5, bool)).texts) >= 0,
            "an empty picture",
            lambda: True,
        ),
        same(
            "`synergies` of a selection with nothing relevant",
            lambda: len(nothing_found().synergies()),
            "no rows",
            lambda: 0,
        ),
        same(
            "`clusters` of a selection with nothing relevant",
            lambda: nothing_found().clusters(),
            "no groups",
            lambda: [],
        ),
        same(
            "pictures of a selection with nothing relevant",
            lambda: len(all_pictures(nothing_found())),
            "six pictures",
            lambda: 6,
        ),
        same(
            "a report of a selection with nothing relevant",
            lambda: nothing_found().to_html("a.html"),
            "any other",
            lambda: None,
        ),
    ],
)


@functools.cache
def nothing_found():
    return selected(y=np.arange(60) % 2)


def all_pictures(selection):
    drawn = selection.plot
    pictures = [drawn.gains(), drawn.p_values(), drawn.null_fit(), drawn.null_histogram(), drawn.correlation()]
    pictures.append(drawn.synergies())
    matplotlib.pyplot.close("all")
    return pictures
