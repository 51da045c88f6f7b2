"""Samples that have labels, as in pandas: whether X, y and strata have them in one order."""

from __future__ import annotations

import sys
from typing import Any

from interplay.base.checks import shown
from interplay.base.user_warnings import warn


def warn_of_another_order(X: Any, **others: Any) -> None:
    """Warn of arguments with the labels of X in another order: values are paired by position.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1, 2]}, index=["p", "q"])
    >>> warn_of_another_order(X, y=pd.Series([0, 1], index=["p", "q"]), strata=[0, 1])  # nothing to say
    """
    if "pandas" not in sys.modules:  # nothing has labels then
        return
    labels = _labels(X)
    if labels is None:
        return
    for argument, given in others.items():
        other = _labels(given)
        if other is None or len(other) != len(labels) or other.equals(labels):
            continue
        if not (labels.is_unique and other.is_unique and bool(other.isin(labels).all())):
            continue  # labels of another kind, which say nothing about these samples
        first = int((labels.to_numpy() != other.to_numpy()).argmax())
        warn(
            f"{argument} has the samples of X in another order (sample {first} is {shown(labels[first])} in X and "
            f"{shown(other[first])} in {argument}), and they are paired by position: give {argument}.loc[X.index] to "
            "pair them by label"
        )


def _labels(data: Any) -> Any:
    """Return the labels of the samples of a pandas object or AnnData; None for everything else."""
    import pandas as pd

    labels = data.index if isinstance(data, pd.DataFrame | pd.Series) else getattr(data, "obs_names", None)
    return labels if isinstance(labels, pd.Index) else None
