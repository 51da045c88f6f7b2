"""
Reading p-values
================

What the columns ``p_value`` and ``p_adjusted`` mean, how they come about, how to see whether they can be trusted, and
what they do not say.
"""

# %%
# What is tested
# --------------
# The null hypothesis of a variable is that it says nothing about the decision in *any* of the tuples looked at. Its
# ``gain`` is the largest over all of them, and the largest of many chance gains is large. So a gain is compared not
# with :math:`\chi^2` alone but with what the *maximum* does under the null.
#
# That is measured: ``n_contrast`` contrast variables, permuted copies of real ones, go through the same search. Their
# gains are what chance gives on these data, with these dimensions, levels, samples and correlations.
import matplotlib.pyplot as plt
import numpy as np

import interplay

X, y, truth = interplay.datasets.make_madelon(n_samples=1000, n_vars=200, random_state=2)
found = interplay.select(X, y, dimensions=2, random_state=0)
print(found.summary())

# %%
# Can the fit be trusted?
# -----------------------
# A distribution is fitted to the contrast gains, and every variable's p-value comes from it. Drawn against what a
# perfect fit would give, the contrast variables should lie on the line.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
found.plot.null_fit(ax=axes[0])
found.plot.null_histogram(ax=axes[1])
plt.show()
print(found.null_fit.summary())

# %%
# The Kolmogorov–Smirnov p in that summary says the same in a number. If it is tiny, such as when many columns are
# constant or copies of each other, prefer ``fit="union"``: no fit, a bound that always holds, and less power.
#
# One p-value per variable, many variables
# ----------------------------------------
# With 500 variables and a level of 0.05, 25 irrelevant ones are expected below it. ``p_adjusted`` takes care of that,
# and ``relevant`` compares *it* with ``level``.
for method, meaning in [
    ("holm", "P(any false find) ≤ level, whatever the dependence; the default"),
    ("BY", "share of false finds ≤ level, whatever the dependence"),
    ("BH", "share of false finds ≤ level, if tests depend in a benign way; usual in genomics"),
    ("none", "no adjustment: a ranking, not a list of finds"),
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
# The test of any method is noise. Sixty searches in data in which the decision was drawn by lot: p-values should be
# uniform, and the chance of finding anything at Holm 0.05 at most 5 %.
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
ax.set(xlabel="p-value of a variable of noise", ylabel="variables")
ax.legend(frameon=False)
plt.show()
print(f"searches of noise in which anything was found: {any_found} of 60")

# %%
# What a p-value does not say
# ---------------------------
# * **How much** a variable matters. That is the gain, in bits times samples: a gain of 100 in 1000 samples is a tenth
#   of a bit per sample. With many samples, tiny effects have tiny p-values.
# * **That a partner is needed.** ``synergy`` is the gain beyond what the variable has alone. A variable that is strong
#   alone has a partner too, by chance, and little synergy.
# * **That it is a cause**, or that no other variable says the same. Copies of a relevant variable are relevant.
#   ``clusters()`` groups those that say the same.
for group in found.clusters(0.95)[:6]:
    print(", ".join(group))

# %%
# * **Anything about an irrelevant variable.** A large p-value is no evidence of absence; there may be too few samples,
#   or the effect may need more dimensions.
# * Very small ones are right: p-values are computed without cancellation, and ``Selection.log_p`` keeps their order
#   even below 1e-308.
order = np.argsort(found.log_p)[:3]
print([(found.names[v], f"ln p = {found.log_p[v]:.1f}") for v in order])
