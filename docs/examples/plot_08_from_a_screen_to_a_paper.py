"""
From a screen to a paper
========================

A search over all pairs finds the strongest interactions of one table. Which of them can be published? This tutorial
goes the whole way: screen, replicate in other samples, report.
"""

# %%
# A study in two parts
# --------------------
# The genotypes of 60 variants in 1200 people, and the same variants in 800 people of a second study. Two pairs of
# variants interact; three other variants have an effect each.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import interplay

rng = np.random.default_rng(11)


def study(n_people: int) -> tuple[pd.DataFrame, np.ndarray]:
    minor_share = np.linspace(0.2, 0.5, 60)
    genotypes = pd.DataFrame(rng.binomial(2, minor_share, size=(n_people, 60)), columns=[f"rs{v}" for v in range(60)])
    carrier = genotypes > 0
    log_odds = (
        0.5 * (genotypes["rs3"] + genotypes["rs17"] + genotypes["rs40"])
        + 1.1 * (carrier["rs8"] ^ carrier["rs25"])
        + 1.2 * (genotypes["rs30"] == genotypes["rs52"])
        - 3.0
    )
    return genotypes, np.where(rng.random(n_people) < 1 / (1 + np.exp(-log_odds)), "case", "control")


X, y = study(1200)
X2, y2 = study(800)

# %%
# Screen
# ------
# All 1770 pairs are tested. With three genotypes there is no exact test; p-values are the larger of those of χ² and of
# a bootstrap. ``top=8`` lists the eight smallest, significant or not.
found = interplay.interactions(X, y, top=8)
found.table[["members", "chi2", "df", "p_value", "p_adjusted", "significant", "method"]]

# %%
# Replicate
# ---------
# The listed pairs are now tested in the second study, once each. Nothing is searched there, so p-values are adjusted
# for these eight tests only. Cuts and levels are those of the first study.
again = found.replicate(X2, y2)
again.table[["members", "p_value", "p_adjusted", "significant", "first_p_value", "same_direction"]]

# %%
# These are two tables. In 20 pairs of studies generated in this way (seeds 0 to 19), both true pairs were significant
# in the first study and in the second one in all 20. One other pair was significant in one of the first studies, and
# none in the second ones.
#
# The effect of a pair that was selected because it is significant is overestimated, because a search favours estimates
# that are too large (*winner's curse*). To see this, here is the same search in 40 smaller studies with one true
# interaction of two levels, whose log odds ratio is 1.5. Only significant pairs report an estimate.
estimates, repeated = [], []
for _ in range(40):
    levels = rng.integers(0, 2, size=(500, 20))
    risk = 1 / (1 + np.exp(-(1.5 * levels[:, 0] * levels[:, 1] - 0.75 * levels[:, 0] - 0.75 * levels[:, 1] + 0.4)))
    outcome = rng.random(500) < risk
    result = interplay.interactions(levels[:250], outcome[:250])
    if ("x0", "x1") in result.significant:
        estimates.append(result.table["log_or"].iloc[0])
        repeated.append(result.replicate(levels[250:], outcome[250:]).table["log_or"].iloc[0])
print(f"found in {len(estimates)} of 40 studies; the truth is 1.5")
print(f"mean estimate where found {np.mean(estimates):.2f}, in new samples {np.mean(repeated):.2f}")

# %%
# With other random numbers (20 times 40 studies), the pair was significant in 5 to 12 of 40 studies. The mean estimate
# was 2.2 where it was found, and 1.6 in new samples.

# %%
# One table only
# --------------
# Without a second study, ``holdout`` keeps some samples out of the search, drawn within each class, and tests in them
# what the search lists. It costs power, because both parts are smaller: in the 20 first studies above, the two pairs
# were significant in the held-out samples in 17 and 18. But it gives an unbiased effect size.
split = interplay.interactions(X, y, top=5, holdout=0.4)
print(split)

# %%
# Report
# ------
# A table for the paper, a figure, and a page with the cells of every pair and a methods paragraph. The settings, the
# fingerprint of the data and the versions are kept in the file.
again.plot.effects()
plt.show()

# %%
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
again.save(folder / "pairs.interplay")
again.to_html(folder / "pairs.html")
loaded = interplay.load(folder / "pairs.interplay")
print(loaded.headline())

# %%
# What to write: how many tuples were searched and how p-values were adjusted for them; which were tested again, in how
# many samples, and which were significant there; effect sizes from the new samples, with their intervals.
