"""Models of an outcome on columns of covariates, as tests of statistics need them."""

from interplay.data.study.design import Covariates, Design
from interplay.data.study.full_model import FullModel


def full_model(outcome, columns, offset=None, strata=None):
    """Return the model of an outcome on columns, (n_samples, n), an offset and strata."""
    known = None if columns is None else Covariates([f"c{i}" for i in range(columns.shape[1])], columns)
    return FullModel(outcome, Design(len(columns), strata, covariates=known, offset=offset))
