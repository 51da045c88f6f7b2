"""X, y and strata with labels of samples: another order is warned of, and nothing else is."""

import warnings

import anndata
import numpy as np
import pandas as pd
import pytest

import interplay

RNG = np.random.default_rng(0)
N = 80
INDEX = [f"p{i}" for i in range(N)]
X = pd.DataFrame(RNG.normal(size=(N, 5)), index=INDEX).add_prefix("v")
Y = pd.Series(RNG.integers(0, 2, N), index=INDEX, name="ill")
STRATA = pd.Series(np.arange(N) % 2, index=INDEX)
CALLS = {
    "select": lambda X, y, **options: interplay.select(X, y, random_state=0, **options),
    "max_information_gain": interplay.max_information_gain,
    "fit": lambda X, y, **options: interplay.MDFSSelector(dimensions=2, random_state=0).fit(X, y, **options),
}


@pytest.mark.parametrize("call", CALLS)
def test_another_order_is_warned_of(call):
    with pytest.warns(
        UserWarning, match="y has the samples of X in another order .sample 0 is 'p0' in X and 'p79'"
    ) as w:
        CALLS[call](X, Y[::-1])
    assert len([each for each in w if "order" in str(each.message)]) == 1
    with pytest.warns(UserWarning, match=r"strata has the samples of X .*give strata\.loc\[X\.index\]"):
        CALLS[call](X, Y, strata=STRATA[::-1])


def test_tuples_and_annotated_data_too():
    with pytest.warns(UserWarning, match="y has the samples of X in another order"):
        interplay.interesting_tuples(X, Y.sample(frac=1, random_state=0))
    with pytest.warns(UserWarning, match="y has the samples of X in another order"):
        interplay.max_information_gain(anndata.AnnData(X), Y[::-1])
    with pytest.warns(UserWarning, match="y has the samples of X in another order"):
        interplay.max_information_gain(X.reset_index(drop=True), Y.reset_index(drop=True)[::-1])


@pytest.mark.parametrize("call", CALLS)
def test_all_else_is_silent(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CALLS[call](X, Y, strata=STRATA)
        CALLS[call](X, Y.to_numpy())
        CALLS[call](X.to_numpy(), Y[::-1])
        CALLS[call](X, Y.reset_index(drop=True))  # labels of another kind
        CALLS[call](X, Y.set_axis(["same"] * N))
        CALLS[call](X, Y.set_axis(["p0", *INDEX[:-1]]))
