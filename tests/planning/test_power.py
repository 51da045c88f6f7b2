"""power(): against plain formulas, full enumeration, other packages, and searches of simulated studies."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import interplay
from command_line import in_shell
from interplay.ask.planning.call import class_chances, make_design
from interplay.infer.interaction.interaction_test import exact_log_p
from interplay.infer.interaction.null_model import parity_signs
from interplay.infer.power.class_power import drawn_cell_counts, exact_power
from interplay.infer.power.number_power import number_power

DESIGN = {
    "dimensions": 2,
    "n_vars": 50,
    "effect": 0.3,
    "h2": None,
    "r2_tag": None,
    "maf": None,
    "coding": "levels",
    "outcome": "number",
    "levels": 2,
    "shares": None,
    "class_shares": (0.5, 0.5),
    "event_share": 1.0,
    "scale": "ranks",
    "level": 0.05,
    "n_tests": None,
}


def test_power_of_equal_cells_is_that_of_an_f_test():
    """Half of the difference, in standard deviations: the noncentrality of N equal cells' samples is N effect²."""
    counts = np.full((1, 2, 2), 25)
    means = 0.4 * np.array([[1, -1], [-1, 1]])
    threshold = 0.05 / math.comb(30, 2)
    expected = stats.ncf.sf(stats.f.isf(threshold, 1, 96), 1, 96, 100 * 0.4**2)
    found = number_power(means, counts, counts[0] / 100, log_threshold=math.log(threshold), scale="values")
    assert expected - 0.04 < found < expected  # HC3 says less in small cells


def test_power_of_numbers_agrees_with_statsmodels():
    """Three levels of unequal shares: noncentrality by weighted least squares of main effects."""
    sm = pytest.importorskip("statsmodels.api")
    counts = np.array([[[30, 20, 10], [25, 40, 15], [20, 12, 28]]])
    means = np.random.default_rng(0).normal(size=(3, 3)) / 3
    rows, columns = (a.ravel() for a in np.indices((3, 3)))
    design = np.column_stack([np.ones(9), rows == 1, rows == 2, columns == 1, columns == 2]).astype(float)
    fit = sm.WLS(means.ravel(), design, weights=counts.ravel()).fit()
    n = counts.sum()
    expected = stats.ncf.sf(stats.f.isf(1e-2, 4, n - 9), 4, n - 9, fit.ssr)
    found = number_power(means, counts, counts[0] / n, log_threshold=math.log(1e-2), scale="values")
    by_f, by_both = simulated(means, counts[0], 1e-2)
    assert by_f == pytest.approx(expected, abs=0.025)
    assert found == pytest.approx(by_both, abs=0.025)


def simulated(means, counts, p, tables=3000):
    """Shares of tables in which F, and in which both F and Wald's test with HC3 variances, have a p-value below."""
    rng, sizes, n = np.random.default_rng(0), counts.ravel(), int(counts.sum())
    contrasts = np.kron(*(np.vstack([-np.ones(levels - 1), np.eye(levels - 1)]) for levels in counts.shape))
    m = means.ravel() + rng.normal(size=(tables, len(sizes))) / np.sqrt(sizes)
    squares = rng.chisquare(sizes - 1, size=(tables, len(sizes)))
    one = squares.sum(axis=1, keepdims=True) / (n - len(sizes)) / sizes
    below = []
    for variances in (one, squares / (sizes - 1) ** 2):
        covariance = np.einsum("ia,ti,ib->tab", contrasts, variances, contrasts)
        apart = (m @ contrasts)[:, :, np.newaxis]
        wald = (apart * np.linalg.solve(covariance, apart)).sum(axis=(1, 2)) / contrasts.shape[1]
        below.append(stats.f.sf(wald, contrasts.shape[1], n - len(sizes)) < p)
    return float(below[0].mean()), float((below[0] & below[1]).mean())


def test_ranks_of_small_effects_lose_nothing_and_of_large_ones_little():
    counts, shares = np.full((1, 2, 2), 50), np.full((2, 2), 0.25)
    sign = np.array([[1, -1], [-1, 1]])
    for effect in (0.05, 0.3):
        ranks, values = (
            number_power(effect * sign, counts, shares, log_threshold=-7.0, scale=scale)
            for scale in ("ranks", "values")
        )
        assert ranks == pytest.approx(values, abs=0.01)


def test_exact_power_is_the_sum_over_all_tables():
    """Every table with the margins of one, its p-value by the test itself, its chance under the model."""
    table = np.array([[[6, 2], [3, 5]], [[2, 6], [7, 1]]])
    log_mu = np.random.default_rng(1).normal(size=table.shape)
    signs = parity_signs(table.shape).reshape(table.shape)
    theta = float((signs * log_mu).sum())
    total = rejected = 0.0
    for t in range(-10, 11):
        other = table + t * signs
        if (other < 0).any():
            continue
        chance = math.exp(sum(n * m - math.lgamma(n + 1) for n, m in zip(other.ravel(), log_mu.ravel(), strict=True)))
        total += chance
        if exact_log_p(other[np.newaxis]) <= math.log(0.05):
            rejected += chance
    assert 0 < rejected < total
    found = exact_power(table[np.newaxis], theta, log_threshold=math.log(0.05))
    assert found == pytest.approx(rejected / total, rel=1e-10)


def test_chances_of_classes_have_the_effect_and_the_shares_asked_for():
    design = make_design(
        **DESIGN | {"outcome": "classes", "effect": 3.0, "class_shares": (0.8, 0.2), "shares": (0.7, 0.3)}
    )
    chances = class_chances(design)
    sign = np.array([[1, -1], [-1, 1]])
    assert (sign * np.log(chances[..., 1] / chances[..., 0])).sum() == pytest.approx(3.0)
    assert np.tensordot(design.cell_shares, chances, axes=2) == pytest.approx([0.8, 0.2], abs=1e-10)
    three = class_chances(make_design(**DESIGN | {"outcome": "classes", "class_shares": (0.5, 0.3, 0.2), "levels": 3}))
    assert three.shape == (3, 3, 3)
    assert three.sum(axis=-1) == pytest.approx(1)


def test_drawn_cells_keep_shares_and_samples():
    shares = [np.array([0.7, 0.3]), np.array([0.2, 0.5, 0.3])]
    for is_cut in (False, True):
        counts = drawn_cell_counts(shares, 200, is_cut=is_cut)
        assert (counts.sum(axis=(1, 2)) == 200).all()
        assert counts.mean(axis=0) / 200 == pytest.approx(np.outer(*shares), abs=0.005)
    assert (counts.sum(axis=2) == [140, 60]).all()


@pytest.mark.parametrize(
    "asked",
    [
        {"n_samples": 150, "n_vars": 6, "effect": 0.3},
        {"n_samples": 150, "n_vars": 6, "effect": 2.4, "outcome": "classes"},
        {"n_samples": 300, "n_vars": 6, "effect": 4.5, "outcome": "classes", "levels": 3, "shares": (0.49, 0.42, 0.09)},
    ],
)
def test_power_is_the_share_of_studies_that_find_the_tuple(asked):
    """By `interactions` itself; the benchmark power_formula.py asks the same of 30 settings."""
    k, n, levels = 2, asked["n_samples"], asked.get("levels", 2)
    rng = np.random.default_rng(5)
    found, n_tables = 0, 60
    for _ in range(n_tables):
        if "shares" in asked:
            X = rng.choice(levels, size=(n, asked["n_vars"]), p=asked["shares"])
        else:
            X = rng.normal(size=(n, asked["n_vars"]))  # cut by the search, and tested twice
        members = X[:, :k] if "shares" in asked else interplay.discretize(X[:, :k], divisions=levels - 1)[0].astype(int)
        sign = np.prod(2 * members / (levels - 1) - 1, axis=1)
        if asked.get("outcome") == "classes":
            y = (rng.random(n) < 1 / (1 + np.exp(-asked["effect"] / 4 * sign))).astype(int)
        else:
            y = asked["effect"] * sign + rng.normal(size=n)
        found += ("x0", "x1") in interplay.interactions(X, y, n_jobs=1, progress=False).significant
    power = interplay.power(**asked)
    assert 0.3 < power < 0.95
    assert abs(found / n_tables - power) < 0.03 + 2.6 * math.sqrt(power * (1 - power) / n_tables)


@pytest.mark.parametrize("effect", [0.8, 1.6])
def test_power_of_times_is_that_of_cox_models(effect):
    phreg = pytest.importorskip("statsmodels.duration.hazard_regression").PHReg
    n, threshold = 200, 0.05 / math.comb(10, 2)
    rng = np.random.default_rng(2)
    found, n_tables = 0, 60
    for _ in range(n_tables):
        a, b = (rng.permutation(np.arange(n) * 2 // n) for _ in range(2))
        sign = (2 * a - 1) * (2 * b - 1)
        death, end = rng.exponential(size=n) / np.exp(effect / 4 * sign), rng.exponential(2.5, size=n)
        time, event = np.minimum(death, end), (death <= end).astype(int)
        small, large = (
            phreg(time, x, event).fit().llf for x in (np.column_stack([a, b]), np.column_stack([a, b, a * b]))
        )
        found += stats.chi2.sf(2 * (large - small), 1) < threshold
    power = interplay.power(n_samples=n, n_vars=10, outcome="times", effect=effect, event_share=2.5 / 3.5)
    assert abs(found / n_tables - power) < 0.03 + 2.6 * math.sqrt(max(power * (1 - power), 0.02) / n_tables)


def test_power_of_times_with_a_rare_level_and_few_events():
    """150 tables of 20 columns, searched: 33 % ± 4 % and 7 % ± 2 %. Schoenfeld's formula says 68 % and 24 %."""
    asked = {"n_vars": 20, "effect": 3.0, "event_share": 0.15, "shares": (0.85, 0.15), "outcome": "times"}
    assert interplay.power(n_samples=800, **asked) == pytest.approx(0.33, abs=0.05)
    assert interplay.power(n_samples=400, **asked) == pytest.approx(0.07, abs=0.05)


def test_power_of_numbers_knows_of_robust_variances():
    """Small cells: HC3 is stricter than F, and the larger p-value counts."""
    counts, means = np.array([[40, 8], [8, 6]]), np.array([[0.9, -0.9], [-0.9, 0.9]])
    found = number_power(means, counts[np.newaxis], counts / 62, log_threshold=math.log(1e-3), scale="values")
    assert found == pytest.approx(simulated(means, counts, 1e-3)[1], abs=0.025)


@pytest.mark.parametrize(
    "asked", [{"effect": 0.3}, {"outcome": "classes", "effect": 2.5}, {"outcome": "times", "effect": 2}]
)
def test_samples_needed_reach_the_power_and_fewer_do_not(asked):
    n = interplay.power(n_samples=None, power=0.8, n_vars=100, **asked)
    assert isinstance(n, int)
    at, below = interplay.power(n_samples=[n, round(0.95 * n)], n_vars=100, **asked)
    assert at >= 0.8 > below


def test_power_grows_with_effect_and_falls_with_variables():
    powers = [interplay.power(n_samples=200, effect=effect) for effect in (0.0, 0.1, 0.2, 0.4)]
    assert all(a < b for a, b in itertools.pairwise(powers))
    assert powers[0] == pytest.approx(0.05 / math.comb(50, 2), rel=0.05)  # the chance of a false find of this tuple
    powers = [interplay.power(n_samples=200, effect=0.3, n_vars=n_vars) for n_vars in (10, 100, 10_000)]
    assert powers == sorted(powers, reverse=True)
    assert interplay.power(n_samples=200, effect=0.3, n_tests=45) == interplay.power(
        n_samples=200, effect=0.3, n_vars=10
    )


def test_tables_that_are_too_sparse_to_be_tested_have_no_power():
    assert interplay.power(n_samples=60, dimensions=3, levels=3, outcome="classes", effect=50.0) == 0.0


def test_command_prints_power_and_curve(tmp_path):
    done = in_shell(
        "power", "--samples", "300", "--out", str(tmp_path / "curve.csv"), "--plot", str(tmp_path / "curve.png")
    )
    assert done.returncode == 0, done.stderr
    assert "Power with 300 samples: 0.9" in done.stdout
    assert "1225 tuples of 2 among 50 variables: p below 4.08e-05 by the F test" in done.stdout
    rows = (tmp_path / "curve.csv").read_text().splitlines()
    assert rows[0] == "n_samples,power"
    assert len(rows) == 9
    assert (tmp_path / "curve.png").stat().st_size > 1000
    needed = in_shell("power", "--outcome", "classes", "--effect", "3", "--power", "0.9", "--no-curve")
    assert needed.stdout.startswith(
        f"{interplay.power(n_samples=None, power=0.9, outcome='classes', effect=3)} samples are"
    )


@pytest.mark.parametrize("outcome", ["number", "classes", "times"])
def test_shares_of_variance_are_those_of_made_tables(outcome):
    asked = {"h2": 0.04, "effect": None, "maf": (0.3, 0.2), "outcome": outcome, "class_shares": (0.6, 0.4)}
    design = make_design(**DESIGN | asked)
    made = interplay.datasets.make_epistasis(
        50,
        2,
        outcome=outcome,
        model="multiplicative",
        heritability=0.04,
        prevalence=0.4,
        minor_allele_frequencies=(0.3, 0.2),
    )[2]
    assert np.allclose(design.cell_shares, np.multiply.outer(*made.shares[0]))
    if outcome == "classes":
        assert np.allclose(class_chances(design)[..., 1], made.penetrance[0])
    else:
        # Made numbers have the variance 1 with the interaction; logarithms of exponential times π²/6 without it.
        unit = {"number": math.sqrt(0.96), "times": 1.0}[outcome]
        assert np.allclose(np.abs(design.effects * unit), np.abs(made.effects[0]))


def test_tags_show_less():
    asked = {"h2": 0.05, "effect": None, "maf": 0.3}
    seen = make_design(**DESIGN | asked | {"r2_tag": (0.9, 0.5)}).effects
    assert np.allclose(seen, make_design(**DESIGN | asked | {"h2": 0.05 * 0.45}).effects)


def test_power_of_dosages_agrees_with_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    counts = np.array([[[30, 20, 10], [25, 40, 15], [20, 12, 28]]])
    rows, columns = (a.ravel() for a in np.indices((3, 3)))
    effects = 0.15 * (rows - 0.9) * (columns - 1.2) + 0.3 * rows
    design = sm.add_constant(np.column_stack([rows, columns, rows * columns]).astype(float))
    fit = sm.WLS(effects, design, weights=counts.ravel()).fit()
    without = sm.WLS(effects, design[:, :3], weights=counts.ravel()).fit()
    n = counts.sum()
    expected = stats.ncf.sf(stats.f.isf(1e-3, 1, n - 4), 1, n - 4, without.ssr - fit.ssr)
    means = effects.reshape(3, 3)
    found = number_power(means, counts, counts[0] / n, log_threshold=math.log(1e-3), scale="values", coding="dosage")
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("coding", ["levels", "dosage", "product", "auto"])
def test_power_of_tags_is_the_share_of_studies_that_find_the_pair(coding):
    """Causes are not typed: each allele of a tag is that of its cause with probability r, else drawn anew."""
    rng = np.random.default_rng(7)
    n, maf, r2, h2, n_tables = 300, np.array([0.3, 0.4]), np.array([0.8, 0.6]), 0.12, 50
    found = 0
    for _ in range(n_tables):
        alleles = rng.random((2, n, 2)) < maf
        tags = np.where(rng.random((2, n, 2)) < np.sqrt(r2), alleles, rng.random((2, n, 2)) < maf)
        cause, typed = alleles.sum(axis=0), tags.sum(axis=0)
        product = ((cause - 2 * maf) / np.sqrt(2 * maf * (1 - maf))).prod(axis=1)
        y = math.sqrt(h2) * product + math.sqrt(1 - h2) * rng.normal(size=n)
        X = np.column_stack([typed, rng.binomial(2, 0.3, (n, 3))])
        table = interplay.interactions(X, y, coding=coding, n_jobs=1).table
        # By F alone: the test with robust variances, which must be significant too, is not part of `power`.
        found += ("x0", "x1") in table["members"][table["p_adjusted"] < 0.05].to_list()
    asked = {"h2": h2, "maf": tuple(maf), "r2_tag": tuple(r2), "coding": coding}
    power = interplay.power(n_samples=n, n_vars=5, **asked)
    assert 0.3 < power < 0.95
    assert found / n_tables == pytest.approx(power, abs=3 * math.sqrt(power * (1 - power) / n_tables))


def test_power_of_all_ways_pays_for_their_number():
    few = {"n_samples": 400, "n_vars": 100, "h2": 0.06, "maf": 0.3}
    by = {coding: interplay.power(**few, coding=coding) for coding in ("levels", "product", "auto")}
    assert by["levels"] < by["auto"] < by["product"]
    cut = {"n_samples": 300, "n_vars": 100, "outcome": "number", "effect": 1.6}
    assert interplay.power(**cut, coding="auto") == interplay.power(**cut, n_tests=3 * 4950)
    assert interplay.power(**cut, shares=(0.5, 0.5), coding="auto") == interplay.power(**cut, shares=(0.5, 0.5))


def test_the_command_in_units_of_geneticists():
    options = "--h2 0.02 --maf 0.3,0.2 --r2-tag 0.9 --coding dosage --vars 1000 --no-curve"
    done = in_shell("power", *options.split())
    expected = interplay.power(n_samples=None, h2=0.02, maf=(0.3, 0.2), r2_tag=0.9, coding="dosage", n_vars=1000)
    assert done.stdout.startswith(f"{expected} samples are needed")
    assert "the F test of the product of dosages, of ranks" in done.stdout
