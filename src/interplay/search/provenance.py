"""What a run was made from and with, so that it can be repeated and checked."""

from __future__ import annotations

import hashlib
import platform
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.arrays import DecisionClasses
from interplay.steps.column_survey import FEW_VALUES
from interplay.steps.columns import EXACT_FLOAT_LIMIT, ColumnKind
from interplay.steps.groups import Groups
from interplay.steps.strata import Strata
from interplay.steps.table import Table

Values = npt.NDArray[Any]

_COLUMNS_AT_ONCE = 64


def data_fingerprint(
    table: Table, classes: DecisionClasses, strata: Strata | None = None, groups: Groups | None = None
) -> str:
    """Return a hash of names, values, decision, strata and groups.

    The same values in another container or dtype have the same one; values that differ have another, however large.
    First comes every value as a float64. What a float64 cannot tell (whole numbers beyond 2**53, the last digits of a
    long double, labels from numbers) follows, where there is such a thing: the fingerprints of all other tables are
    those of earlier versions, whose checkpoints and parts so stay good.
    """
    digest = hashlib.blake2b(digest_size=16)
    beyond = hashlib.blake2b(digest_size=16)
    nothing_beyond = beyond.digest()
    digest.update("\0".join(table.names).encode())
    digest.update(classes.codes.tobytes())
    if strata is not None:
        digest.update(strata.codes.tobytes())
    if groups is not None:
        digest.update(b"groups" + groups.codes.tobytes())
    for start in range(0, table.n_vars, _COLUMNS_AT_ONCE):
        block = table.block(start, min(start + _COLUMNS_AT_ONCE, table.n_vars))
        with np.errstate(over="ignore"):  # of long doubles; the exponent follows
            values = block.astype(np.float64)
        values += 0.0  # −0 and 0 are the same value
        values[np.isnan(values)] = np.nan  # and so are all NaNs
        digest.update(values.tobytes())
        for row in range(len(block)):
            v = start + row
            if content := _beyond_float64(block[row]):
                beyond.update(v.to_bytes(8, "little") + content)
            # Where numbers have so few values, they are taken as labels too.
            if table.kinds[v] == ColumnKind.LABEL and np.nanmax(values[row], initial=0) >= FEW_VALUES:
                beyond.update(v.to_bytes(8, "little") + b"label")
    if beyond.digest() != nothing_beyond:
        digest.update(beyond.digest())
    return digest.hexdigest()


def _beyond_float64(column: Values) -> bytes:
    """Return what tells a column from others that are the same as float64; nothing if there are none."""
    if column.dtype.kind in "iu" and column.dtype.itemsize == 8:
        if column.max() <= EXACT_FLOAT_LIMIT and column.min() >= -EXACT_FLOAT_LIMIT:
            return b""
        # The distance to the float64. That may be 2**63 or 2**64, which the dtype lacks: modulo 2**64 all is well.
        floats = column.astype(np.float64)
        limit = 2.0 ** (63 if column.dtype.kind == "i" else 64)
        is_limit = floats == limit
        nearest = np.where(is_limit, 0.0, floats).astype(column.dtype).view(np.uint64)
        nearest[is_limit] = int(limit) % 2**64
        distances = column.view(np.uint64) - nearest
        return distances.tobytes() if distances.any() else b""
    if column.dtype.kind == "f" and column.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            if np.array_equal(column.astype(np.float64), column, equal_nan=True):
                return b""
        mantissa, exponent = np.frexp(column)
        parts = [exponent.astype(np.int64).tobytes()]
        for _ in range(3):  # of 53 bits each: more than any long double has
            part = mantissa.astype(np.float64) + 0.0
            part[np.isnan(part)] = np.nan
            parts.append(part.tobytes())
            mantissa = mantissa - part
        return b"".join(parts)
    return b""


def now() -> str:
    """Return date and time here, to the second, with the offset from UTC."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ("interplay", "numpy", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{name: _installed(name) for name in names}}


@cache  # read from a file, which takes as long as a small search
def _installed(name: str) -> str:
    return version(name)
