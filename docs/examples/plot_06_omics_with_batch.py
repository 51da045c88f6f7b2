"""
Expression measured in batches
==============================

Samples are measured in batches, batches differ, and patients are rarely distributed evenly over them. A gene that only
distinguishes the batches then seems to be informative about the disease. With ``strata``, a gain is what a gene tells
*within* a batch.
"""

# %%
# A simulated study
# -----------------
# The study has 480 samples in four batches, and 120 genes. In the first batches most samples are patients, in the last
# ones most are controls. Thirty genes are shifted from batch to batch and are unrelated to the disease. Two genes are
# related to it: patients have *either* high ``IL6`` *or* high ``TNF``, compared with their batch.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import interplay

rng = np.random.default_rng(8)
batch = np.repeat(["B1", "B2", "B3", "B4"], 120)
genes = ["IL6", "TNF", *[f"shifted{i}" for i in range(30)], *[f"gene{i}" for i in range(88)]]
expression = pd.DataFrame(rng.normal(size=(480, 120)), columns=genes)

ill_by_genes = (expression["IL6"] > 0) ^ (expression["TNF"] > 0)
share_of_patients = pd.Series(batch).map({"B1": 0.75, "B2": 0.6, "B3": 0.4, "B4": 0.25}).to_numpy()
noise = rng.random(480) < share_of_patients
disease = np.where(np.where(rng.random(480) < 0.75, ill_by_genes, noise), "patient", "control")
# More patients in the first batch, and more controls in the last one, than by chance.
for name, wanted in {"B1": "patient", "B4": "control"}.items():
    chosen = (batch == name) & (rng.random(480) < 0.45)
    disease[chosen] = wanted

shift = pd.Series(batch).map({"B1": 0.0, "B2": 0.7, "B3": 1.4, "B4": 2.1}).to_numpy()
expression.loc[:, "shifted0":"shifted29"] += shift[:, np.newaxis]
print(pd.crosstab(batch, disease))

# %%
# Without strata
# --------------
# Most relevant genes are those that differ between batches.
plain = interplay.select(expression, disease, dimensions=2, random_state=1)
print(f"{len(plain.relevant)} relevant, {sum(name.startswith('shifted') for name in plain.relevant)} of them shifted")

# %%
# Within batches
# --------------
# The stratum is one more member of every tuple: a gain is what a gene tells beyond its partner *and* beyond the batch.
# Contrast variables are permuted within batches, so the chance level is measured under the same conditions.
within = interplay.select(expression, disease, dimensions=2, strata=batch, random_state=1)
print(within.summary())

# %%
# One of the three is false. Among twenty tables that were simulated with other random numbers, this is the only one
# with a false selection, as expected at a significance level of 5 %.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
shifted = np.array([name.startswith("shifted") for name in genes])
for ax, result, title in ((axes[0], plain, "without strata"), (axes[1], within, "within batches")):
    height = -result.log_p / np.log(10)
    ax.plot(np.flatnonzero(~shifted), height[~shifted], ".", color="0.5", label="other genes")
    ax.plot(np.flatnonzero(shifted), height[shifted], ".", color="#E69F00", label="shifted between batches")
    ax.plot([0, 1], height[:2], "o", color="#0072B2", label="IL6, TNF")
    ax.set(title=title, xlabel="gene", ylabel="−log₁₀ p")
axes[0].legend(frameon=False)
plt.show()

# %%
# Costs and limits
# ----------------
# * The number of cells of every tuple is multiplied by the number of batches: four batches in 2D need as many samples
#   as 4D. If there are many small batches, combine those that were measured in the same way.
# * A batch with patients only is not informative about the disease. If batch and disease are completely confounded, no
#   method can separate them.
# * Values are cut by rank over all samples. If batches are shifted against each other, as here, the threshold may fall
#   between batches: centre each gene within its batch first, or use more levels (``divisions=2``).
centred = expression.groupby(batch).transform(lambda values: values - values.median())
result = interplay.select(centred, disease, dimensions=2, strata=batch, random_state=1)
print(result.relevant)

# %%
# * ``strata`` accepts several columns, such as batch and sex; each combination of values is a stratum. With an AnnData,
#   give the name of a column of ``.obs``: ``interplay.select(adata, "disease", strata="batch")``.
