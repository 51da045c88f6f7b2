"""
Madelon, end to end
===================

Madelon is the data set on which the method was first shown (Piliszek et al., *The R Journal* 11, 2019): 2000 samples
and 500 variables, of which 20 are relevant. The samples lie around the corners of a five-dimensional cube, the corners
have random classes, and no single coordinate is very informative. This script reproduces the tables and figures of the
paper, from the data to the last number.

It uses the original Madelon, which is downloaded once and kept (see :func:`interplay.datasets.fetch_madelon`). Without
a network it uses a simulated data set with the same structure.
"""

# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import ttest_ind
from statsmodels.stats.multitest import multipletests

import interplay

try:
    values, y = interplay.datasets.fetch_madelon()
    source = "the original Madelon"
except ConnectionError:
    values, y, truth = interplay.datasets.make_madelon(random_state=1)
    source = "a simulated Madelon, because the original could not be downloaded"
# The paper numbers variables from 1.
X = pd.DataFrame(values, columns=[str(v + 1) for v in range(values.shape[1])])
print(f"{source}; {X.shape[0]} samples, {X.shape[1]} variables")

# %%
# Variables found, by method
# --------------------------
# The first method is a t-test for each variable. The others are interplay in one, two and three dimensions with the
# settings of the paper: one cut at the median, no contrast variables, the least-squares fit of the original, and Holm's
# adjustment at 0.05. Variables are listed in order of significance.
p = ttest_ind(values[y == 1], values[y == 0]).pvalue
significant = multipletests(p, method="holm")[0]
lists = {"t-test": [X.columns[v] for v in np.argsort(p) if significant[v]]}
selections = {}
for k in (1, 2, 3):
    selections[f"{k}D"] = interplay.select(X, y, dimensions=k, n_contrast=0, fit="lsq", random_state=0, n_jobs=-1)
    lists[f"{k}D"] = selections[f"{k}D"].relevant
for method, found in lists.items():
    print(f"{method:6} ({len(found):2d}): {' '.join(found)}")

# %%
# The null fits behind these lists.
for name, selection in selections.items():
    fit = selection.null_fit
    print(f"{name}: mode {fit.mode}, α = {fit.alpha:.7g}, {fit.n_irrelevant} irrelevant variables")

# %%
# Gains against rank (Figures 2 and 3)
# ------------------------------------
figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.6), layout="constrained")
for ax, (name, selection) in zip(axes, selections.items(), strict=True):
    selection.plot.gains(ax=ax)
    ax.set_title(name)
plt.show()

# %%
# Redundant variables (Figure 1)
# ------------------------------
# The relevant variables in 3D are sorted by their groups. Correlations are close to 1 within a group, because its
# members are noisy copies of each other, and small between most groups.
best = selections["3D"]
groups = best.clusters(0.99)
best.plot.correlation()
plt.show()
for number, group in enumerate(groups, start=1):
    print(f"group {number:2d}: {' '.join(group)}")

# %%
# The network joins each relevant variable to the partners in its best tuple.
best.plot.synergies()
plt.show()

# %%
# Unknown thresholds
# ------------------
# With thirty random discretisations and contrast variables, nothing is assumed about the thresholds.
blind = interplay.select(
    X, y, dimensions=2, discretizations=30, n_contrast=500, fit="lsq", random_state=118912, n_jobs=-1
)
print(f"2D, 30 discretisations ({len(blind.relevant)}): {' '.join(blind.relevant)}")
print("not found with one discretisation:", set(blind.relevant) - set(lists["2D"]) or "nothing")
print("found only with one:", set(lists["2D"]) - set(blind.relevant) or "nothing")

# %%
# Order of the groups by dimension (the last tables)
# --------------------------------------------------
# The five coordinates of the cube are informative only together, and rank higher in more dimensions. Up to three
# dimensions take a second. ``INTERPLAY_MADELON_DIMENSIONS=4`` adds the fourth (2.6 billion tuples, less than a minute
# on two cores), and ``5`` the fifth (255 billion tuples: use many cores).
deepest = int(os.environ.get("INTERPLAY_MADELON_DIMENSIONS", "3"))
group_of = {name: number for number, group in enumerate(groups, start=1) for name in group}
ranking = {}
for k in range(1, deepest + 1):
    gains = interplay.max_information_gain(X, y, dimensions=k, n_jobs=-1)
    by_gain = [X.columns[v] for v in np.argsort(-gains.gain)]
    ranking[f"{k}D"] = list(dict.fromkeys(group_of[name] for name in by_gain if name in group_of))
ranking["2D, 30 cuts"] = list(
    dict.fromkeys(group_of[n] for n in blind.table.sort_values("gain", ascending=False)["variable"] if n in group_of)
)
first_of = {number: group[0] for number, group in enumerate(groups, start=1)}
table = pd.DataFrame({name: [first_of[number] for number in numbers] for name, numbers in ranking.items()})
table.index += 1
print("groups, named by their most significant variable, in order of gain")
print(table.to_string())

# %%
# Finally, three dimensions with the defaults of interplay, which include contrast variables:
print(interplay.select(X, y, dimensions=3, random_state=0, n_jobs=-1).summary())
