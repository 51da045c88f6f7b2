"""What a run was made from and with, so that it can be repeated and checked."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version

import numpy as np

from interplay.arrays import DecisionClasses
from interplay.steps.strata import Strata
from interplay.steps.table import Table

_COLUMNS_AT_ONCE = 64


def data_fingerprint(table: Table, classes: DecisionClasses, strata: Strata | None = None) -> str:
    """Return a hash of names, values, decision and strata.

    The same data in another container or dtype has the same one.
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update("\0".join(table.names).encode())
    digest.update(classes.codes.tobytes())
    if strata is not None:
        digest.update(strata.codes.tobytes())
    for start in range(0, table.n_vars, _COLUMNS_AT_ONCE):
        values = table.block(start, min(start + _COLUMNS_AT_ONCE, table.n_vars)).astype(np.float64)
        values += 0.0  # −0 and 0 are the same value
        values[np.isnan(values)] = np.nan  # and so are all NaNs
        digest.update(values.tobytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ("interplay", "numpy", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{name: _installed(name) for name in names}}


@cache  # read from a file, which takes as long as a small search
def _installed(name: str) -> str:
    return version(name)
