"""
When 1D is not enough
=====================

Most filters look at one variable at a time: a t-test, a correlation, a mutual information. They cannot see a variable
that matters only together with another one. Here is such a case, what happens to it, and how to see it.
"""

# %%
# A hidden pair
# -------------
# Four hundred people, thirty measurements. Whoever has *either* a high ``a`` *or* a high ``b`` is ill; whoever has
# both, or neither, is well. Among people with high ``a`` half are ill, and among people with low ``a`` half are ill:
# alone, ``a`` says nothing.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import interplay

rng = np.random.default_rng(3)
people = pd.DataFrame(rng.normal(size=(400, 30)), columns=["a", "b", *[f"noise{i}" for i in range(28)]])
ill = np.where((people["a"] > 0) ^ (people["b"] > 0), "ill", "well")
ill[rng.random(400) < 0.1] = "ill"  # real data are never clean

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for label, colour in (("ill", "#D55E00"), ("well", "#0072B2")):
    chosen = ill == label
    axes[0].hist(people.loc[chosen, "a"], bins=25, histtype="step", color=colour, label=label)
    axes[1].plot(people.loc[chosen, "a"], people.loc[chosen, "b"], ".", color=colour, markersize=4, label=label)
axes[0].set(xlabel="a", ylabel="people", title="one variable: nothing to see")
axes[1].set(xlabel="a", ylabel="b", title="two variables: all there is")
axes[1].legend(frameon=False, loc="upper right")
plt.show()

# %%
# One at a time
# -------------
# A t-test for each variable, adjusted for their number, finds nothing, and neither does interplay in one dimension.
from scipy.stats import ttest_ind

p = ttest_ind(people[ill == "ill"], people[ill == "well"]).pvalue
print("smallest adjusted p of 30 t-tests:", round(min(1.0, 30 * p.min()), 3))

alone = interplay.select(people, ill, dimensions=1, random_state=1)
print(alone.summary())

# %%
# Two at a time
# -------------
# ``dimensions=2`` looks at all 435 pairs. Both variables are found, each names the other as its partner, and the column
# ``synergy`` says how much of the gain is there only because of the partner.
pairs = interplay.select(people, ill, dimensions=2, random_state=1)
print(pairs.summary())

# %%
# The picture of all gains against their rank shows how far the two stand out. The orange line is what chance gives:
# gains of permuted copies of the variables, looked at in exactly the same way.
pairs.plot.gains()
plt.show()

# %%
# Why is ``a`` relevant? The share of ill people in each cell of its best tuple: neither rows nor columns differ,
# but cells do.
pairs.plot.why("a")
plt.show()

# %%
# What it costs, and when to do it
# --------------------------------
# Looking at pairs means more comparisons, and the p-values pay for them: a variable that is just significant alone may
# no longer be in 2D. So both looks are worth having, and they answer different questions:
#
# * **1D**: which variables say something by themselves?
# * **2D**: which variables say something, alone or together with one other? Threshold effects that depend on sex, genes
#   that matter in one genotype only, sensors that are read against each other.
# * **3D and more**: the same with two and more partners, as in Madelon's five-dimensional cube.
#
# The number of pairs grows with the square of the number of variables, and they are searched quickly: all pairs of 500
# variables and 2000 samples in a hundredth of a second, of 100 000 variables and 500 samples in 12 seconds on two cores
# (:doc:`/performance`).
print(f"{30 * 29 // 2} pairs of 30 variables, {500 * 499 // 2} of 500, {10_000 * 9_999 // 2} of 10 000")
