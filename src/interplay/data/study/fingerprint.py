"""table and outcome → a hash of their values, by which checkpoints, shards and results know each other."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.jobs import map_in_threads
from interplay.data.study.columns import EXACT_FLOAT_LIMIT, FEW_VALUES, ColumnKind
from interplay.data.study.design import Groups, Strata
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.table import MISSING_WHOLE, Table

Values = npt.NDArray[Any]

#: Columns of a block: each block is hashed by itself, and the hashes are hashed again, so that threads share the work.
_COLUMNS_AT_ONCE = 64

#: Values looked at first: a column with another number among these is hashed as float64s.
_FIRST_VALUES = 32


def data_fingerprint(
    table: Table,
    outcome: Target,
    strata: Strata | None = None,
    groups: Groups | None = None,
    model: FullModel | None = None,
    offset: FloatArray | None = None,
    *,
    n_threads: int = 1,
) -> str:
    """Return a hash of names, values, decision, strata, groups, and of covariates, offset and times.

    The same values in another container or dtype have the same hash; different values, however large, have another.
    """
    digest = hashlib.blake2b(digest_size=16)
    for content in ("\0".join(table.names).encode(), outcome.content):
        digest.update(len(content).to_bytes(8, "little") + content)
    if strata is not None:
        digest.update(b"strata" + strata.codes.tobytes())
    if groups is not None:
        digest.update(b"groups" + groups.codes.tobytes())
    if model is not None:
        digest.update(b"model" + _model_bytes(model, offset))
    hashed = partial(map_in_threads, partial(_block_digest, table), _blocks(table), n_threads)
    for block in table.once("hashes of blocks", hashed):
        digest.update(block)
    return digest.hexdigest()


def check_unchanged(table: Table) -> None:
    """Refuse a table whose values are not what they were when they were hashed."""
    hashes = [_block_digest(table, columns) for columns in _blocks(table)]
    if table.once("hashes of blocks", lambda: hashes) != hashes:
        raise ValueError(
            "X was changed after the search, and what is asked for needs its values: ask before changing X, or give "
            "select() a copy"
        )


def _blocks(table: Table) -> list[tuple[int, int]]:
    starts = range(0, table.n_vars, _COLUMNS_AT_ONCE)
    return [(start, min(start + _COLUMNS_AT_ONCE, table.n_vars)) for start in starts]


def _model_bytes(model: FullModel, offset: FloatArray | None) -> bytes:
    """Return the bytes of covariates, offset and times."""
    arrays = [model.design.known, np.empty(0) if offset is None else offset, *model.outcome.arrays()]
    return b"".join(len(array).to_bytes(8, "little") + np.ascontiguousarray(array).tobytes() for array in arrays)


def _block_digest(table: Table, columns: tuple[int, int]) -> bytes:
    """Hash each column of small whole numbers as int8, an eighth of the bytes; other columns as float64s."""
    digest = hashlib.blake2b(digest_size=16)
    whole = table.whole_numbers(slice(*columns))
    if whole is not None:
        digest.update(np.packbits(np.ones(len(whole), dtype=bool)).tobytes())
        digest.update(_buffer(whole))
        return digest.digest()
    block = table.block(*columns)
    is_small, small = _small_whole_numbers(block)
    digest.update(np.packbits(is_small).tobytes())
    digest.update(_buffer(small))
    if not is_small.all():
        digest.update(_buffer(_float64s(block[~is_small])))
    is_label = table.kinds[slice(*columns)] == ColumnKind.LABEL
    # Most tables have none of these columns. A loop in Python over all columns would keep other threads waiting.
    may_exceed = block.dtype.itemsize >= 8 and block.dtype != np.float64
    for row in np.flatnonzero(is_label | ~is_small if may_exceed else is_label).tolist():
        content = b"" if is_small[row] else _beyond_float64(block[row])
        if is_label[row] and _has_many_values(block[row]):
            content += b"label"
        if content:
            digest.update((columns[0] + row).to_bytes(8, "little") + content)
    return digest.digest()


def _buffer(values: Values) -> memoryview:
    """Return the bytes of an array without a copy, during which other threads would wait."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def _small_whole_numbers(block: Values) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int8]]:
    """Return which rows have only whole numbers from -127 to 127 and gaps, and these rows as int8."""
    if block.dtype == np.bool_:
        return np.ones(len(block), dtype=bool), block.view(np.int8)
    if block.dtype.kind in "iu":
        is_small = (block.min(axis=1, initial=0) > MISSING_WHOLE) & (block.max(axis=1, initial=0) < -MISSING_WHOLE)
        return is_small, block[is_small].astype(np.int8)
    first = block[:, :_FIRST_VALUES]
    is_small = (np.isnan(first) | (np.abs(first) < -MISSING_WHOLE) & (first == np.rint(first))).all(axis=1)
    if not is_small.any():
        return is_small, np.empty((0, block.shape[1]), dtype=np.int8)
    rows = block if is_small.all() else block[is_small]
    with np.errstate(invalid="ignore"):  # gaps and numbers that are too large become arbitrary codes
        codes = rows.astype(np.int8)
    # -128 and a gap would look the same, and a number out of range may become any code.
    wrong = codes != rows
    wrong |= codes == MISSING_WHOLE
    if wrong.any():
        gaps = np.isnan(rows)
        codes[gaps] = MISSING_WHOLE
        whole = ~(wrong & ~gaps).any(axis=1)
        is_small[is_small] = whole
        codes = codes[whole]
    return is_small, codes


def _float64s(block: Values) -> npt.NDArray[np.float64]:
    with np.errstate(over="ignore"):  # of long doubles; the exponent follows
        values = block.astype(np.float64)
    values += 0.0  # −0 and 0 are the same value
    values[np.isnan(values)] = np.nan  # and so are all NaNs
    return values


def _has_many_values(codes: Values) -> bool:
    """Say whether a column has more labels than a column of numbers may have to be taken as labels."""
    return bool(np.nanmax(codes, initial=0) >= FEW_VALUES)


def _beyond_float64(column: Values) -> bytes:
    """Return bytes that distinguish a column from others with the same float64s; none if float64 is exact."""
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
