"""
Numbers as outcomes
===================

Blood pressure, yield, expression: many outcomes are measured. This tutorial takes a real one, the progress of diabetes
in 442 patients, and shows what is lost if it is cut into high and low, what an interaction of a number is, and how the
answer depends on the scale of the outcome. :doc:`/numbers` explains what is computed.
"""

# %%
# The table
# ---------
# Age, sex, body mass index, mean blood pressure and six blood values of 442 patients; the outcome is a measure of the
# progress of the disease one year later (Efron, Hastie, Johnstone and Tibshirani, 2004). The data come with
# scikit-learn.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats
from sklearn.datasets import load_diabetes

import interplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
names = {"s1": "cholesterol", "s2": "LDL", "s3": "HDL", "s4": "chol/HDL", "s5": "triglycerides", "s6": "glucose"}
X = X.rename(columns=names)
print(y.describe().round(1).to_string())

# %%
# The outcome has many values, so that it is a number. Nothing has to be said about it: the summary tells how it was
# taken.
result = interplay.select(X, y, random_state=0)
print(result.summary())

# %%
# All ten variables are informative. Nine are so alone. Sex is not: its rank correlation with the outcome is not
# significant. It is found *given others*, among patients who do not differ in the strong variables.
print(f"sex alone: p = {stats.spearmanr(X['sex'], y).pvalue:.2f}")
sex = result.table.set_index("variable").loc["sex"]
print(f"sex given others: p = {sex['p_given']:.1g}")

# %%
# What a cut loses
# ----------------
# ``decision_divisions=1`` cuts the outcome at its median. With 442 patients and strong effects, a cut does no harm.
# With fewer patients it does. We draw 120 of them, 20 times, and count the variables that are found.
rng = np.random.default_rng(0)
found: dict[str, list[int]] = {"number": [], "cut at the median": [], "Spearman": []}
for seed in range(20):
    some = rng.choice(len(y), 120, replace=False)
    part, outcome = X.iloc[some], y.iloc[some]
    found["number"].append(len(interplay.select(part, outcome, random_state=seed).relevant))
    cut = interplay.select(part, outcome, decision_divisions=1, random_state=seed)
    found["cut at the median"].append(len(cut.relevant))
    p = np.sort([stats.spearmanr(part[name], outcome).pvalue for name in part])
    found["Spearman"].append(int(np.cumprod(p * np.arange(len(p), 0, -1) < 0.05).sum()))
print(pd.DataFrame(found).mean().round(2).to_string())

# %%
# Ten variables are few, and all of them matter: nothing is gained here by searching pairs and triples, and little is
# lost. What matters is that the number is not cut.
#
# Why a variable matters
# ----------------------
# The plot shows the outcome in each cell, as a box, in the place of shares of classes.
result.plot.why("bmi")
plt.show()

# %%
# Is there an interaction?
# ------------------------
# ``interactions`` asks of every pair whether the difference that one variable makes depends on the other.
pairs = interplay.interactions(X, y, top=5)
print(pairs.summary())

# %%
# No pair is significant among 45. ``effect`` is the difference of differences, in units of the outcome: by how much
# more the outcome grows from low to high values of one variable if the other is high. ``ci_low`` and ``ci_high`` say
# how large it may be. An interval that reaches from -60 to 0 says that 442 patients are too few to exclude a large
# interaction.
#
# The scale decides
# -----------------
# Whether effects add up depends on the scale. In this made-up outcome, HDL and blood pressure each *multiply* the
# outcome by a factor. On the scale of the values this is an interaction: the same factor means more where the outcome
# is large. In logarithms, effects add up, and there is none.
high = X[["bp", "HDL"]] > X[["bp", "HDL"]].median()
noise = np.exp(np.random.default_rng(1).normal(scale=0.4, size=len(X)))
cost = 100 * 3.0 ** high["bp"] * 3.0 ** high["HDL"] * noise
p_values = {}
for name, outcome in (("values", cost), ("logarithms", np.log(cost))):
    test = interplay.interactions(X, outcome, variables=["bp", "HDL"], require="all", scale="values", max_p=1)
    row = test.table.iloc[0]
    p_values[name] = row["p_value"]
    print(f"{name:10s} p = {row['p_value']:.2g}  effect {row['effect']:.2f}  holds on: {row['scales'] or 'neither'}")

# %%
# By default the outcome is taken by ranks, which are the same for values and logarithms. A significant interaction is
# tested again by values, and ``scales`` says where it holds. If it holds on one scale only, say so when you report it.
#
# In a pipeline
# -------------
# ``MDFSSelector`` takes the same outcome, before any regression.
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

selector = interplay.MDFSSelector(random_state=0)
noisy = X.join(pd.DataFrame(rng.normal(size=(len(X), 100)), index=X.index).add_prefix("noise"))
models = {"all 110 columns": LinearRegression(), "selected columns": make_pipeline(selector, LinearRegression())}
explained = {name: cross_val_score(model, noisy, y, cv=5).mean() for name, model in models.items()}
for name, value in explained.items():
    print(f"{name:17s} R² {value:.2f}")
