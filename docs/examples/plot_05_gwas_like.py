"""
Genotypes: pairs of variants that matter together
=================================================

A genome-wide association study tests each variant alone and misses variants that act only in combination (*epistasis*).
Genotypes need no discretisation: in a column of 0, 1 and 2, each value is a level.
"""

# %%
# A simulated study
# -----------------
# The study has 3000 people, half of them cases, and 400 variants in blocks of linkage, in which neighbouring variants
# are similar. Two variants in different blocks determine the risk together: it is raised in people who are heterozygous
# at exactly one of the two. Because both alleles are equally frequent, neither variant has an effect of its own.
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
# The usual test with the usual correction finds nothing.
p = np.array([chi2_contingency(pd.crosstab(X[name], y)).pvalue for name in X])
print(f"smallest p {p.min():.2g}, Bonferroni needs {0.05 / len(p):.2g}")
print(f"p of the two: {p[first]:.2g}, {p[second]:.2g}")

# %%
# All pairs
# ---------
pairs = interplay.select(X, y, dimensions=2, random_state=1, n_jobs=2)
print(pairs.summary())

# %%
# Both variants are found, with each other as partners. So are some of their neighbours, which are correlated with them
# by linkage. Along the genome, the relevant variants form two peaks; the colour shows the block of the partner.
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
# The plot shows the share of cases for each pair of genotypes.
pairs.plot.why("rs17_2")
plt.show()

# %%
# Real studies
# ------------
# * PLINK files are read directly: ``interplay run study.bed -k 2``. :doc:`/genetics` says how to
#   bring genotypes of other kinds.
# * Missing genotypes: ``missing="impute"`` draws them from the other genotypes of the variant, ``"level"`` makes
#   "missing" a level of its own.
# * 100 000 variants have 5 billion pairs. ``interplay run ... --dry-run`` reports how long they take on your machine.
# * With population structure, variants that only distinguish populations become relevant. As in any association study,
#   use a homogeneous sample, or give the population as ``strata`` (:doc:`/strata`).
