"""
Genotypes: pairs of variants that matter together
=================================================

In a genome-wide association study each variant is tested alone. Variants that act only in combination (*epistasis*)
stay hidden. Genotypes are small numbers already, so there is nothing to discretise: columns of 0, 1 and 2 are taken
level by level.
"""

# %%
# A made-up study
# ---------------
# 3000 people, half of them cases; 400 variants in blocks of linkage, each variant similar to its neighbours. Two of
# them, on different blocks, decide the risk together: it is raised in people who are heterozygous at exactly one of
# the two. With alleles of equal frequency neither has an effect of its own.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency

import interplay

rng = np.random.default_rng(11)
n_people, n_blocks, per_block = 9000, 80, 5


def haplotypes() -> np.ndarray:
    """One allele per person and variant; within a block, neighbours differ in one of eight people."""
    start = rng.random((n_people, n_blocks)) < 0.5
    changed = rng.random((n_people, n_blocks, per_block)) < 0.12
    changed[:, :, 0] = False
    return (start[:, :, np.newaxis] ^ (np.cumsum(changed, axis=2) % 2 == 1)).reshape(n_people, -1)


genotypes = haplotypes().astype(np.int8) + haplotypes()
names = [f"rs{block:02d}_{place}" for block in range(n_blocks) for place in range(per_block)]
first, second = names.index("rs17_2"), names.index("rs60_2")
at_risk = (genotypes[:, first] == 1) ^ (genotypes[:, second] == 1)
ill = rng.random(n_people) < np.where(at_risk, 0.24, 0.10)

# As many controls as cases, as studies do.
cases = np.flatnonzero(ill)[:1500]
people = np.concatenate([cases, np.flatnonzero(~ill)[: len(cases)]])
X = pd.DataFrame(genotypes[people], columns=names)
y = np.where(ill[people], "case", "control")
print(X.shape, pd.Series(y).value_counts().to_dict())

# %%
# One variant at a time
# ---------------------
# The usual test, with the usual correction, has nothing to report.
p = np.array([chi2_contingency(pd.crosstab(X[name], y)).pvalue for name in X])
print(f"smallest p {p.min():.2g}, Bonferroni needs {0.05 / len(p):.2g}")
print(f"p of the two: {p[first]:.2g}, {p[second]:.2g}")

# %%
# All pairs
# ---------
pairs = interplay.select(X, y, dimensions=2, random_state=1, n_jobs=2)
print(pairs.summary())

# %%
# Both are found, with each other as partners, and so are neighbours in linkage, which carry the same signal weakly.
# Sorted along the genome, the finds are two peaks, and the colour says on which block the partner lies.
table = pairs.table
position = np.arange(len(table))
partner = np.array([names.index(partners[0]) for partners in table["partners"]])
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(position, -pairs.log_p / np.log(10), ".", color="0.7", markersize=4)
chosen = pairs.is_relevant
points = ax.scatter(
    position[chosen], -pairs.log_p[chosen] / np.log(10), c=partner[chosen] // per_block, cmap="viridis", s=22
)
figure.colorbar(points, label="block of the partner")
ax.set(xlabel="variant, along the genome", ylabel="−log₁₀ p")
plt.show()

# %%
# The table behind it: how many of those who have each pair of genotypes are cases.
pairs.plot.why("rs17_2")
plt.show()

# %%
# Real studies
# ------------
# * Files of PLINK are read directly: ``interplay run study.bed -k 2`` (``pip install "interplay[genetics]"``).
# * Missing genotypes: ``missing="impute"`` draws them from the variant's other genotypes, ``"level"`` makes them a
#   level.
# * 100 000 variants are 5 billion pairs. ``interplay run ... --dry-run`` says how long that takes on your machine.
# * Population structure makes variants relevant that only tell populations apart. As in any association study, look at
#   a homogeneous sample, or treat the population as what is to be explained and see which variants tell it.
