"""
Choosing dimensions, divisions and discretisations
==================================================

Three numbers decide what a search can see: how many variables are looked at together (``dimensions``, *k*), into how
many levels each is cut (``divisions`` + 1), and how many random cuts are tried (``discretizations``). The defaults, 2,
1 and 1, are a good start. This page says when to change them.
"""

# %%
# The samples set the limit
# -------------------------
# A tuple of *k* variables with *c* levels has :math:`c^k` cells, and the samples are shared among them. When cells get
# empty, nothing can be told from chance. A rule of thumb is at least ten samples in an average cell of the rarest
# class.
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
# ``suggest_range`` knows the same limit for random cuts: how far thresholds may stray from equal shares so that the
# smallest cell still expects three samples. Where it gives 0, there are too few samples for what is asked.
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns where the range gets small
    for n in (100, 300, 1000, 3000):
        ranges = [interplay.suggest_range(n, dimensions=k) for k in (1, 2, 3, 4, 5)]
        print(f"{n:5d} samples, 1D to 5D:", "  ".join(f"{r:.2f}" for r in ranges))

# %%
# Divisions: what two levels cannot see
# -------------------------------------
# Cut in the middle, a variable says *low* or *high*. That is enough for anything that goes up or down. It is not
# enough for a dependence in which the middle differs from both ends, such as a dose that is harmful when too low and
# when too high.
rng = np.random.default_rng(5)
X = rng.normal(size=(600, 25))
extreme = np.abs(X[:, 7]) > 0.8
y = np.where(rng.random(600) < 0.15, ~extreme, extreme)

for divisions in (1, 2, 3):
    found = interplay.select(X, y, dimensions=1, divisions=divisions, random_state=0)
    print(f"{divisions + 1} levels: relevant {found.relevant}, gain of x7 {found.table.loc[7, 'gain']:.1f} bits")

# %%
# More levels are not better in general: they cost cells. ``divisions=1`` is the right start from 2D on,
# ``divisions=2`` is worth a second look where samples allow it.
#
# Discretisations: thresholds that are not in the middle
# ------------------------------------------------------
# If something happens above the 85th percentile only, a cut at the median blurs it. With several ``discretizations``
# each variable is cut at random places, a new set each time, and its best gain over all of them counts. The contrast
# variables are treated alike, so the p-values know about the many tries.
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
# Time grows in proportion. Ten to thirty discretisations are usual; with one, cuts are at equal shares (``range_=0``)
# and nothing is random but the contrast variables.
#
# How many dimensions?
# --------------------
# Go up as long as the samples allow it and new things turn up. Here is a decision that needs three variables.
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
# question                                               setting
# =====================================================  ==============================================
# first look at a new table                              defaults: ``dimensions=2``
# effects in the middle of a range                       ``divisions=2``
# unknown thresholds, enough samples                     ``discretizations=10`` to ``30``
# three-way effects, some hundred samples per class      ``dimensions=3``
# genotypes, questionnaires, anything with few levels    nothing: they are taken level by level
# how long will it take?                                 ``interplay run ... --dry-run``
# =====================================================  ==============================================
