"""
Is it an interaction?
=====================

``select`` finds variables that are informative, and names their partners. A partner may be there by chance, may add an
effect of its own, or may really change what the other variable does. This tutorial shows four kinds of pairs, what each
looks like, and what the test of the interaction says.
"""

# %%
# Four kinds of pairs
# -------------------
# The table has 2000 people and 40 measurements. Eight of them raise the risk of an illness, two by two:
#
# * **additive**: each of the two raises the odds by a factor of 4.5, whatever the other is;
# * **modifier**: the first has an effect only if the second is high, which does nothing by itself;
# * **XOR**: one of the two must be high, but not both; neither has an effect by itself;
# * **threshold**: the risk is raised only if both are high.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import interplay

rng = np.random.default_rng(2)
kinds = ["additive", "modifier", "xor", "threshold"]
names = [f"{kind}_{i}" for kind in kinds for i in (1, 2)]
people = pd.DataFrame(rng.normal(size=(2000, 40)), columns=[*names, *[f"noise{i}" for i in range(32)]])
high = people > 0


def ill(log_odds: pd.Series) -> np.ndarray:
    return np.where(rng.random(len(people)) < 1 / (1 + np.exp(-log_odds)), "ill", "healthy")


outcomes = {
    "additive": ill(1.5 * high["additive_1"] + 1.5 * high["additive_2"] - 1.5),
    "modifier": ill(2.0 * (high["modifier_1"] & high["modifier_2"]) - 1.0 * high["modifier_2"] - 0.3),
    "xor": ill(1.2 * (high["xor_1"] ^ high["xor_2"]) - 0.6),
    "threshold": ill(1.8 * (high["threshold_1"] & high["threshold_2"]) - 1.0),
}

# %%
# What each looks like
# --------------------
# The share of ill people in the four cells of each pair. In the additive pair, going to the right raises the odds as
# much in the lower row as in the upper row. In the other three it does not.
figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
figure.get_layout_engine().set(wspace=0.2)
tests = {}
for ax, kind in zip(axes.flat, kinds, strict=True):
    pair = [f"{kind}_1", f"{kind}_2"]
    tests[kind] = interplay.interactions(people, outcomes[kind], variables=pair, require="all", max_p=1)
    tests[kind].plot.why(0, ax=ax)
plt.show()

# %%
# What the test says
# ------------------
# The hypothesis is that the log odds of the illness are a sum of an effect of one variable and an effect of the other.
# ``chi2`` is its likelihood ratio G², ``log_or`` the log odds ratio of the interaction: by how much the effect of one
# variable grows when the other goes from low to high. ``log_or_1`` and ``log_or_2`` are the effects of the members by
# themselves.
rows = pd.concat({kind: test.table for kind, test in tests.items()}).reset_index(level=1, drop=True)
rows[["chi2", "p_value", "log_or", "ci_low", "ci_high", "log_or_1", "log_or_2"]].round(4)

# %%
# The additive pair has large effects and no interaction. XOR is an interaction and nothing else. The modifier and the
# threshold have both. With four cells and two classes, every p-value is exact.
#
# Among all pairs
# ---------------
# Above, one pair was tested that was chosen beforehand. In a search the pair is unknown, and p-values must account for
# all pairs that were searched, not only for those that look interesting. ``interactions`` searches all 780 pairs and
# adjusts for all of them.
for kind in kinds:
    found = interplay.interactions(people, outcomes[kind])
    print(f"{kind:9s} {found.significant}")

# %%
# The gains of ``select`` cannot show this: in an additive pair, the gain of a variable is large too. Therefore its
# table has a column ``verdict``.
for kind in kinds:
    table = interplay.select(people, outcomes[kind], dimensions=2, random_state=0).table
    shown = table.loc[table["relevant"], ["variable", "partners", "gain", "synergy", "verdict", "p_interaction"]]
    print(shown.to_string(index=False), "\n")

# %%
# The words mean:
#
# * **interaction**: significant, after adjustment for all pairs of the search;
# * **additive**: both variables are informative by themselves, and no interaction was found;
# * **unclear**: no interaction was found, but a variable is not informative by itself: a partner by chance, or an
#   interaction that is too weak to be detected with so few samples;
# * **untested**: the result does not contain the counts that the test needs.
#
# This is one table. In 20 tables generated in this way (seeds 0 to 19), the three interacting pairs were significant in
# all 20, and the additive pair in none. In 3 of the 80 searches another pair was significant, by chance, as expected at
# a significance level of 5 %.
#
# If no interaction is found, there may still be one: an interaction needs about four times as many samples as an effect
# of the same size by itself. The interval from ``ci_low`` to ``ci_high`` says how large it may be.
#
# Numbers are cut
# ---------------
# The test concerns the levels, high and low. If the log odds are a sum of effects of the *numbers*, cutting them at the
# median can create a small interaction of the levels. So every significant tuple is tested again beside smooth effects
# of the numbers themselves, ``p_smooth``; a tuple that does not hold there is not called an interaction.
additive = people["additive_1"] + people["additive_2"]
print(interplay.interactions(people, ill(2 * additive), variables=["additive_1", "additive_2"], require="all", max_p=1))
