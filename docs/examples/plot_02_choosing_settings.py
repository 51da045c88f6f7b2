"""
Choosing settings
=================

Three numbers determine what a search can find: how many variables are searched together (``dimensions``, *k*), into how
many levels each variable is cut (``divisions`` + 1), and how many random sets of thresholds are tried
(``discretizations``). A fourth one, ``decision_divisions``, applies if the outcome is a measurement. The defaults, 2,
1, 1 and 1, are a good start. This tutorial shows when to change them.
"""

# %%
# The samples set the limit
# -------------------------
# A tuple of *k* variables with *c* levels has *c*\ :sup:`k` cells, and the samples are divided among them. If most
# cells are nearly empty, no effect can be told from chance. As a rule of thumb, the rarest class should have ten
# samples per cell on average.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import interplay

cells = pd.DataFrame({f"{c} levels": {f"{k}D": c**k for k in range(1, 6)} for c in (2, 3, 4)})
print("cells of a tuple")
print(cells)
print("\nsamples of the rarest class for ten in each")
print(10 * cells)

# %%
# ``suggest_range`` applies the same limit to random thresholds: it returns how much they may vary if the smallest cell
# is still to expect three samples. A range of 0 means that there are too few samples for these settings.
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns if the range is small
    for n in (100, 300, 1000, 3000):
        ranges = [interplay.suggest_range(n, dimensions=k) for k in (1, 2, 3, 4, 5)]
        print(f"{n:5d} samples, 1D to 5D:", "  ".join(f"{r:.2f}" for r in ranges))

# %%
# Divisions: effects that two levels miss
# ---------------------------------------
# A variable that is cut at the median has the levels *low* and *high*. This is enough for effects that increase or
# decrease. It is not enough if the middle differs from both ends, as with a dose that is harmful when it is too low and
# when it is too high.
rng = np.random.default_rng(5)
X = rng.normal(size=(600, 25))
extreme = np.abs(X[:, 7]) > 0.8
y = np.where(rng.random(600) < 0.15, ~extreme, extreme)

for divisions in (1, 2, 3):
    found = interplay.select(X, y, dimensions=1, divisions=divisions, random_state=0)
    print(f"{divisions + 1} levels: relevant {found.relevant}, gain of x7 {found.table.loc[7, 'gain']:.1f} bits")

# %%
# More levels are not better in general, because they add cells. From 2D on, start with ``divisions=1``, and try
# ``divisions=2`` if there are enough samples.
#
# Discretisations: thresholds away from the median
# ------------------------------------------------
# If an effect occurs only above the 85th percentile, a cut at the median blurs it. With several ``discretizations``,
# each variable is cut at several random sets of thresholds, and its gain is the maximum over all of them. The contrast
# variables are treated in the same way, so the p-values allow for the repeated attempts.
y = (X[:, 3] > np.quantile(X[:, 3], 0.8)) & (X[:, 12] > np.quantile(X[:, 12], 0.3))
y = np.where(rng.random(600) < 0.05, ~y, y)

rows = {}
for discretizations in (1, 10, 30):
    found = interplay.select(X, y, dimensions=2, discretizations=discretizations, random_state=0)
    rows[discretizations] = {f"gain of {v}": found.table.loc[int(v[1:]), "gain"] for v in ("x3", "x12")}
    rows[discretizations]["largest gain of the others"] = found.table["gain"].drop([3, 12]).max()
    rows[discretizations]["relevant"] = ", ".join(found.relevant)
print(pd.DataFrame(rows).T.to_string())

# %%
# The time grows in proportion. Ten to thirty discretisations are usual. With one, the levels have equal sizes
# (``range_=0``), and only the contrast variables are random.
#
# Decision divisions: an outcome that is a measurement
# ----------------------------------------------------
# A number stays a number: variables are judged by how much they raise or lower it, by ranks. (The papers on the method
# call the outcome the *decision*.) ``decision_divisions`` cuts it by rank into ``decision_divisions + 1`` classes
# instead. Two classes, the lower and the upper half, keep about two thirds of the information. But a variable that
# changes only the *spread* of the outcome does not raise it. Three classes (low, middle, high) show it. Here ``x3``
# raises the outcome and ``x7`` makes it vary more.
spread = np.where(X[:, 7] > 0, 4.0, 1.0)
outcome = X[:, 3] + spread * rng.normal(size=600)

for decision_divisions in (None, 1, 2, 3):
    found = interplay.select(X, outcome, dimensions=1, decision_divisions=decision_divisions, random_state=0)
    gains = found.table["gain"]
    how = "a number" if decision_divisions is None else f"{decision_divisions + 1} classes"
    print(f"{how}: {', '.join(found.relevant):7} gains {gains[3]:.1f} and {gains[7]:.1f} bits")

# %%
# More classes multiply the degrees of freedom, and each class has fewer samples. Use 2 if the extremes or the middle of
# the outcome may be special, and leave it out otherwise. ``decision="number"`` treats numbers with few distinct values,
# such as grades, as numbers; ``decision="classes"`` makes each distinct value a class.
#
# How many dimensions?
# --------------------
# Increase the dimension as long as there are enough samples and new variables are found. Here is an outcome that needs
# three variables.
y = (X[:, 2] > 0) ^ (X[:, 9] > 0) ^ (X[:, 17] > 0)
y = np.where(rng.random(600) < 0.1, ~y, y)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
for k, ax in zip((1, 2, 3), axes, strict=True):
    found = interplay.select(X, y, dimensions=k, random_state=0)
    found.plot.gains(ax=ax)
    print(f"{k}D: {sorted(found.relevant)}")
plt.show()

# %%
# In short
# --------
#
# =====================================================  ==============================================
# situation                                              setting
# =====================================================  ==============================================
# first search in a new table                            defaults: all dimensions in one call
# effects in the middle of a range                       ``divisions=2``
# unknown thresholds, enough samples                     ``discretizations=10`` to ``30``
# a measured outcome whose spread or extremes matter     ``decision_divisions=2``
# three-way effects, some hundred samples per class      ``dimensions=3``
# genotypes, questionnaires, columns with few values     none: each value is a level
# how long will it take?                                 ``interplay run ... --dry-run``
# =====================================================  ==============================================
