"""Logistic and multinomial models against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from interplay.data.models.classes import class_likelihood_ratio, fit_classes


def drawn(n_classes, n=300):
    rng = np.random.default_rng(n_classes)
    columns = np.column_stack([np.ones(n), rng.normal(size=(n, 2)) * [1, 1e3]])
    latent = columns[:, 1] + rng.normal(size=n)
    return np.digitize(latent, [-0.3, 0.8][: n_classes - 1]), columns, rng


@pytest.mark.parametrize("n_classes", [2, 3])
def test_against_statsmodels(n_classes):
    codes, columns, _ = drawn(n_classes)
    model = (sm.Logit if n_classes == 2 else sm.MNLogit)(codes, columns)
    expected = model.fit(disp=0, method="newton")
    fit = fit_classes(codes, columns, n_classes)
    params = np.atleast_2d(np.asarray(expected.params).T)
    assert fit.coefficients == pytest.approx(params, rel=1e-6, abs=1e-9)
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(np.asarray(expected.bse).T.reshape(-1), rel=1e-6)
    assert fit.log_likelihood == pytest.approx(expected.llf)
    predicted = np.asarray(expected.predict(columns))
    assert fit.probabilities[:, 1:] == pytest.approx(predicted[:, 1:] if n_classes > 2 else predicted[:, None])
    assert fit.probabilities.sum(axis=1) == pytest.approx(1)


def test_offset_of_two_classes():
    codes, columns, rng = drawn(2)
    offset = rng.normal(size=300)
    expected = sm.GLM(codes, columns, family=sm.families.Binomial(), offset=offset).fit(tol=1e-12)
    fit = fit_classes(codes, columns, 2, offset)
    assert fit.coefficients[0] == pytest.approx(expected.params, rel=1e-7, abs=1e-10)
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(expected.bse, rel=1e-6)
    assert fit.log_likelihood == pytest.approx(expected.llf)


def test_offset_of_several_classes_takes_the_place_of_a_column():
    codes, columns, _ = drawn(3)
    fit = fit_classes(codes, columns, 3)
    known = columns[:, 1:2] * fit.coefficients[:, 1]
    rest = fit_classes(codes, columns[:, [0, 2]], 3, known)
    assert rest.log_likelihood == pytest.approx(fit.log_likelihood)
    assert rest.coefficients == pytest.approx(fit.coefficients[:, [0, 2]], abs=1e-6)
    assert rest.probabilities == pytest.approx(fit.probabilities, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separated_classes(n_classes):
    codes, columns, _ = drawn(n_classes)
    columns[:, 1] = codes
    fit = fit_classes(codes, columns, n_classes)
    assert -1e-3 < fit.log_likelihood <= 0
    assert np.isfinite(fit.coefficients).all()
    assert fit.probabilities[np.arange(300), codes].min() > 0.99


@pytest.mark.parametrize("n_classes", [2, 3])
def test_dependent_columns(n_classes):
    codes, columns, _ = drawn(n_classes)
    more = np.column_stack([columns[:, :2], columns[:, :2].sum(axis=1), columns[:, 2]])
    fit, plain = fit_classes(codes, more, n_classes), fit_classes(codes, columns, n_classes)
    assert fit.coefficients[:, [0, 1, 3]] == pytest.approx(plain.coefficients, rel=1e-6)
    assert (fit.coefficients[:, 2] == 0).all()
    assert fit.covariance.shape == (4 * (n_classes - 1),) * 2
    assert np.isnan(np.diag(fit.covariance)).sum() == n_classes - 1
    assert fit.probabilities == pytest.approx(plain.probabilities, abs=1e-7)


def test_likelihood_ratio_is_the_difference_of_fits():
    codes, columns, _ = drawn(3)
    expected = 2 * (
        fit_classes(codes, columns, 3).log_likelihood - fit_classes(codes, columns[:, :1], 3).log_likelihood
    )
    assert class_likelihood_ratio(codes, columns, 1)[0] == pytest.approx(expected)
