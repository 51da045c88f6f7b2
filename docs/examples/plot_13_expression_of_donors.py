"""
Expression of donors: who falls ill with influenza
==================================================

17 volunteers were infected with influenza A (H3N2), and blood was taken from each of them every few hours for more
than four days. Nine fell ill. Which genes are expressed differently in their blood, and what changes if samples of one
donor are taken for independent ones?

**What is known.** Huang et al. (2011), PLoS Genetics 7, e1002234: later than the first day, the antiviral response
rises in those who fall ill. It consists of genes that interferon turns on, such as RSAD2, IFI44L, IFIT1, OAS2, ISG15,
SERPING1 and XAF1.
"""

# %%
# The table
# ---------
# 152 samples of 17 donors: four in the first day, and five between 45 and 77 hours. The 400 genes are those with
# the largest variance over all samples, whoever they are from. The measurements are GEO's series GSE30550.
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import interplay

folder = Path(globals().get("__file__", "script")).parent / "data"
samples = pd.read_csv(folder / "influenza.csv.gz")
genes = samples.columns[5:]
print(samples.groupby("condition").agg(donors=("donor", "nunique"), samples=("donor", "size")))

early, late = samples[samples["hours"] <= 21], samples[samples["hours"] >= 45]

# %%
# The first day, without groups
# -----------------------------
# Four samples of a donor resemble each other. Taken for independent samples, 17 donors look like 67, and genes in
# which the nine happen to differ from the eight are "relevant". ``select`` notices that samples come in sets.
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    naive = interplay.select(early[["donor", *genes]], early["condition"], random_state=1)
for message in said:
    print(message.message)
false = [name for name in naive.relevant if name != "donor"]
print(len(false), "genes:", *false)

# %%
# The first day, with groups
# --------------------------
# With ``groups=``, labels of whole donors are exchanged. In the first day nothing is left.
result = interplay.select(early[["donor", *genes]], early["condition"], groups="donor", random_state=1)
n_early = len(result.relevant)
print(result.summary())

# %%
# From 45 to 77 hours
# -------------------
result = interplay.select(late[["donor", *genes]], late["condition"], groups="donor", random_state=1)
print(result.summary())

# %%
# The genes that are known are found, and all rise in those who fall ill. Intervals are wide: they are those of 17
# donors, not of 85 samples. Where an interval includes 0.5, the direction is "perhaps …".
known = ["RSAD2", "IFI44L", "IFIT1", "OAS2", "ISG15", "SERPING1", "XAF1"]
table = result.table.set_index("variable")
print(table.loc[known, ["p_adjusted", "direction", "effect", "effect_low", "effect_high"]].to_string())

# %%
# One gene over time: a line for each donor.
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for (_, condition), some in samples.groupby(["donor", "condition"]):
    axes.plot(some["hours"], some["RSAD2"], color="tab:red" if condition == "symptoms" else "tab:blue", alpha=0.7)
axes.plot([], [], color="tab:red", label="symptoms")
axes.plot([], [], color="tab:blue", label="none")
axes.set(xlabel="hours after infection", ylabel="RSAD2, log₂ expression")
axes.legend(frameon=False)
plt.show()

# %%
# What was found, and what is known
# ---------------------------------
# In the first day no gene is relevant, and from 45 hours on those of the interferon response are. Genes that are not
# named in the paper follow them: many genes rise and fall with the response, and this table cannot tell cause from
# consequence. The number of donors decides how much can be found: the smallest p-value of 199 permutations is 0.005,
# and more samples of the same donors would not make another donor.
