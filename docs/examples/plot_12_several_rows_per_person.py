"""
Several rows per person
=======================

210 people chose how to travel between Sydney and Melbourne: by air, train, bus or car. The table has four rows for
each person, one for each way, and says which was chosen. Samples of one person belong together, as cells of one donor
do.

**What is known.** The table is a standard example of discrete choice (Greene and Hensher, 1997). Waiting time at the
terminal and the generalised cost decide; income and the size of the party describe the person and cannot differ
between the four rows.
"""

# %%
# A first attempt
# ---------------
# All columns are given to ``select``. It notices that ``individual`` is no measurement.
import warnings

import statsmodels.api as sm

import interplay

rows = sm.datasets.modechoice.load_pandas().data
X, chosen = rows.drop(columns="choice"), rows["choice"]
print(rows.head(4))

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    naive = interplay.select(X, chosen, random_state=1)
for message in said:
    print(message.message)
print(naive.relevant)

# %%
# With groups
# -----------
# ``groups="individual"`` takes the column out of the variables. Labels are exchanged within and between people,
# never as if the 840 rows were 840 people. The rows of a person are always air, train, bus, car, which looks like an
# order. It is none, unlike that of visits to a clinic: ``order=False`` says that a person could choose any of them.
result = interplay.select(X, chosen, groups="individual", order=False, random_state=1)
print(result.summary())

# %%
# Waiting time, generalised cost and time in the vehicle are found. Income and the size of the party are the same in
# all four rows of a person, of whom each chooses one: they cannot say *alone* which row is chosen, but they can in
# combination, as people with higher incomes fly more often.
print(result.table[["variable", "p_adjusted", "relevant", "gain_alone", "partners"]].to_string(index=False))

# %%
# Which pairs interact?
# ---------------------
pairs = interplay.interactions(X, chosen, groups="individual", order=False, top=5, random_state=1)
print(pairs.summary())

# %%
# What was found, and what is known
# ---------------------------------
# Waiting time and cost are those of the textbook. For cells of donors the call is the same:
# ``interplay.select(adata, "disease", groups="donor")``; the number of donors, not that of cells, decides how much
# can be found.
