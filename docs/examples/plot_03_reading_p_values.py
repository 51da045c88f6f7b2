"""
Reading p-values
================

This tutorial explains what the columns ``p_value`` and ``p_adjusted`` mean, how they are computed, how to check whether
they can be trusted, and what they do not say.
"""

# %%
# What is tested
# --------------
# The null hypothesis of a variable is that it is not informative about the outcome in *any* of the tuples searched. Its
# ``gain`` is the maximum over all of them, and the maximum of many chance gains is large. A gain is therefore compared
# not with χ² alone but with the null distribution of the *maximum*.
#
# This distribution is measured: ``n_contrast`` contrast variables, permuted copies of real variables, go through the
# same search. Their gains show the chance level for these data, with these dimensions, levels, samples and
# correlations.
import matplotlib.pyplot as plt
import numpy as np

import interplay

X, y, truth = interplay.datasets.make_madelon(n_samples=1000, n_vars=200, random_state=2)
found = interplay.select(X, y, dimensions=2, random_state=0)
print(found.summary())

# %%
# Can the fit be trusted?
# -----------------------
# A null distribution is fitted to the gains of the contrast variables, and it gives the p-value of every variable. In a
# Q–Q plot (left), the p-values of the contrast variables should lie on the diagonal.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
found.plot.null_fit(ax=axes[0])
found.plot.null_histogram(ax=axes[1])
plt.show()
print(found.null_fit.summary())

# %%
# The Kolmogorov–Smirnov p in that summary expresses the same as a number. It is tiny if, for instance, many columns are
# constant or copies of each other. Then prefer ``fit="union"``: a bound that always holds, without a fit and with less
# power.
#
# One p-value per variable, many variables
# ----------------------------------------
# With 500 irrelevant variables, 25 p-values are expected below 0.05. ``p_adjusted`` allows for the number of variables,
# and ``relevant`` compares ``p_adjusted`` with ``level``.
for method, meaning in [
    ("holm", "P(any false selection) ≤ level under any dependence; the default"),
    ("BY", "share of false selections ≤ level under any dependence"),
    ("BH", "share of false selections ≤ level under positive dependence; usual in genomics"),
    ("none", "no adjustment: a ranking, not a selection"),
]:
    result = interplay.select(X, y, dimensions=2, p_adjust=method, random_state=0)
    numbers = {int(name[1:]) for name in result.relevant}
    false = len(numbers - set(truth.relevant.tolist()))
    print(f"{method:5} {len(numbers):3d} relevant, {false} of them false. {meaning}")

# %%
# Before and after adjustment, in order of significance:
found.plot.p_values()
plt.show()

# %%
# When nothing is there
# ---------------------
# Every method should be tested on noise. Here are sixty searches in tables whose outcome was drawn at random. p-values
# should be uniform, and the probability of any selection at Holm 0.05 should be at most 5 %.
p_values, any_found = [], 0
for run in range(60):
    rng = np.random.default_rng(run)
    noise = rng.normal(size=(200, 40))
    result = interplay.select(noise, rng.integers(0, 2, 200), dimensions=2, n_contrast=150, random_state=run)
    p_values.append(result.p_value)
    any_found += len(result.relevant) > 0
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.hist(np.concatenate(p_values), bins=20, color="0.6")
ax.axhline(60 * 40 / 20, color="#0072B2", label="uniform")
ax.set(xlabel="p-value of a noise variable", ylabel="variables")
ax.legend(frameon=False)
plt.show()
print(f"searches of noise in which a variable was selected: {any_found} of 60")

# %%
# What a p-value does not say
# ---------------------------
# A p-value does not say
#
# * **how much** a variable matters. The gain says that, in bits times samples: a gain of 100 in 1000 samples is a tenth
#   of a bit per sample. With many samples, tiny effects have tiny p-values.
# * **that a partner is needed.** ``synergy`` is the gain beyond the gain of the variable alone. A variable that is
#   strong alone also has a partner, by chance, but little synergy.
# * **that the variable is a cause**, or that no other variable is redundant with it. Copies of a relevant variable are
#   relevant. ``clusters()`` groups redundant variables.
for group in found.clusters(0.95)[:6]:
    print(", ".join(group))

# %%
# * **that a variable is irrelevant.** A large p-value is not evidence of absence: there may be too few samples, or the
#   effect may need more dimensions.
#
# Very small p-values are accurate: they are computed without cancellation, and ``Selection.log_p`` keeps their order
# even below 1e-308.
order = np.argsort(found.log_p)[:3]
print([(found.names[v], f"ln p = {found.log_p[v]:.1f}") for v in order])
