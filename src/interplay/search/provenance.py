"""What a run was made from and with, so that it can be repeated and checked."""

from __future__ import annotations

import hashlib
import platform
from datetime import datetime
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.arrays import DecisionClasses, FloatArray
from interplay.jobs import map_in_threads
from interplay.steps.column_survey import FEW_VALUES
from interplay.steps.columns import EXACT_FLOAT_LIMIT, ColumnKind
from interplay.steps.groups import Groups
from interplay.steps.strata import Strata
from interplay.steps.table import Table

Values = npt.NDArray[Any]

_COLUMNS_AT_ONCE = 64

#: The values of larger tables are hashed in blocks of so many columns, in threads: one hash of them all would take
#: seconds.
_VALUES_IN_ONE_HASH = 2**24
_COLUMNS_OF_HASH = 256


def data_fingerprint(
    table: Table,
    classes: DecisionClasses,
    strata: Strata | None = None,
    groups: Groups | None = None,
    *,
    n_jobs: int = 1,
) -> str:
    """Return a hash of names, values, decision, strata and groups.

    The same values in another container or dtype have the same one; values that differ have another, however large.
    First comes every value as a float64. What a float64 cannot tell (whole numbers beyond 2**53, the last digits of a
    long double, labels from numbers) follows, where there is such a thing: the fingerprints of all other tables are
    those of earlier versions, whose checkpoints and parts so stay good, unless the table is large. Then the hashes of
    its blocks are hashed, which `n_jobs` threads make.
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update("\0".join(table.names).encode())
    digest.update(classes.codes.tobytes())
    if strata is not None:
        digest.update(strata.codes.tobytes())
    if groups is not None:
        digest.update(b"groups" + groups.codes.tobytes())
    if table.n_vars * table.n_samples > _VALUES_IN_ONE_HASH:
        for of_block in map_in_threads(partial(_block_digest, table), _starts(table, _COLUMNS_OF_HASH), n_jobs):
            digest.update(of_block)
        return digest.hexdigest()
    beyond = hashlib.blake2b(digest_size=16)
    nothing_beyond = beyond.digest()
    for start in _starts(table, _COLUMNS_AT_ONCE):
        block = _block(table, start, _COLUMNS_AT_ONCE)
        digest.update(_as_float64(block).tobytes())
        beyond.update(_beyond_values(table, start, block))
    if beyond.digest() != nothing_beyond:
        digest.update(beyond.digest())
    return digest.hexdigest()


def _starts(table: Table, n_columns: int) -> range:
    return range(0, table.n_vars, n_columns)


def _block(table: Table, start: int, n_columns: int) -> Values:
    return table.block(start, min(start + n_columns, table.n_vars))


def _block_digest(table: Table, start: int) -> bytes:
    """Return a hash of a block: of its values as int8 where these are such, as genotypes are, else as float64."""
    block = _block(table, start, _COLUMNS_OF_HASH)
    with np.errstate(invalid="ignore"):
        small = block.astype(np.int8, copy=False)
    if small is block or (small == block).all():
        content, beyond = b"int8" + small.tobytes(), b""
        if (table.kinds[start : start + len(block)] == ColumnKind.LABEL).any():
            beyond = _beyond_values(table, start, block)
    else:
        content, beyond = b"float64" + _as_float64(block).tobytes(), _beyond_values(table, start, block)
    return hashlib.blake2b(content + beyond, digest_size=16).digest()


def _as_float64(block: Values) -> FloatArray:
    with np.errstate(over="ignore"):  # of long doubles; the exponent follows
        values = block.astype(np.float64)
    values += 0.0  # −0 and 0 are the same value
    values[np.isnan(values)] = np.nan  # and so are all NaNs
    return values


def _beyond_values(table: Table, start: int, block: Values) -> bytes:
    """Return what tells the columns of a block from others that are the same as float64."""
    is_label = table.kinds[start : start + len(block)] == ColumnKind.LABEL
    may_exceed = block.dtype.kind in "iuf" and block.dtype.itemsize >= 8 and block.dtype != np.float64
    found = []
    for row in range(len(block)) if may_exceed else np.flatnonzero(is_label).tolist():
        number = (start + row).to_bytes(8, "little")
        if may_exceed and (content := _beyond_float64(block[row])):
            found.append(number + content)
        # Where numbers have so few values, they are taken as labels too.
        if is_label[row] and np.nanmax(block[row].astype(np.float64), initial=0) >= FEW_VALUES:
            found.append(number + b"label")
    return b"".join(found)


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
