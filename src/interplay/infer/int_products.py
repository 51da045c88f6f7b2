"""Rows of small integers × rows of small integers → their scalar products, exactly.

Sums of integers do not depend on their order: blocks, threads and instruction sets give the same bits. AVX-512 has
instructions for products of bytes. Elsewhere single precision holds the sums exactly: no partial sum of rows a and z is
above |a|·|z|, and parts of the samples are cut so that this stays below 2^24.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.arrays import STEPS, IntArray, IntScores

_Singles = npt.NDArray[np.float32]

#: Integers up to this are exact in single precision.
_EXACT = 1 << 24

#: What the compiled module may use, see `interplay._core.simd_levels`.
_INSTRUCTION_SET = "auto"

#: Columns of a block and samples of a lane of the compiled kernel.
_BLOCK, _FOUR = 64, 4

#: Weights that are larger than this many times their usual size are rounded in two steps.
_COARSE = 30.0


class PackedScores(NamedTuple):
    """Rows of integers that others are multiplied by.

    Attributes
    ----------
    packed : (n_blocks, n_fours, 64, 4) uint8, or None
        For the compiled kernel: values plus 128, four samples of 64 rows side by side.
    singles : (n, n_samples) float32, or None
        Where there is no kernel.
    n : int
        Number of rows.
    """

    packed: npt.NDArray[np.uint8] | None
    singles: _Singles | None
    n: int

    @classmethod
    def of(cls, scores: IntScores) -> PackedScores:
        """Pack rows."""
        n, n_samples = scores.shape
        if not _has_kernel():
            return cls(None, scores.astype(np.float32), n)
        n_blocks, n_fours = -(-n // _BLOCK), -(-n_samples // _FOUR)
        padded = np.full((n_blocks * _BLOCK, n_fours * _FOUR), 128, dtype=np.uint8)
        np.bitwise_xor(scores.view(np.uint8), 128, out=padded[:n, :n_samples])  # plus 128
        fours = padded.view(np.uint32).reshape(n_blocks, _BLOCK, n_fours).transpose(0, 2, 1)
        return cls(np.ascontiguousarray(fours).view(np.uint8).reshape(n_blocks, n_fours, _BLOCK, _FOUR), None, n)

    def products(self, rows: IntScores) -> _Singles:
        """Return rows of integers times these, (n_rows, n), each exact sum rounded once."""
        if self.singles is not None:
            return _of_singles(rows.astype(np.float32), self.singles)
        assert self.packed is not None
        n_blocks, n_fours = self.packed.shape[:2]
        padded = rows
        if rows.shape[1] != n_fours * _FOUR or not rows.flags.c_contiguous:
            padded = np.zeros((len(rows), n_fours * _FOUR), dtype=np.int8)
            padded[:, : rows.shape[1]] = rows
        found = np.empty((len(rows), n_blocks * _BLOCK), dtype=np.float32)
        _core.int_products(padded, self.packed, _INSTRUCTION_SET, found)
        return found[:, : self.n]

    def weighted(self, weights: Weights) -> _Singles:
        """Return rows of weights times these, (n_rows, n)."""
        found = self.products(weights.rounded)
        if len(weights.coarse):
            found[weights.coarse] += self.products(weights.rest) / np.float32(2 * STEPS)
        found *= weights.step
        return found


class Weights(NamedTuple):
    """Rows of numbers, each rounded to `STEPS` of its largest; rows with outliers are rounded in finer steps.

    Attributes
    ----------
    rounded : (n, n_samples) int8
    step : (n, 1) float32
    coarse : (n_coarse,) int64
        Rows of which `rest` is left, (n_coarse, n_samples) int8, in parts of a step.
    """

    rounded: IntScores
    step: _Singles
    coarse: IntArray
    rest: IntScores

    @classmethod
    def of(cls, weights: _Singles) -> Weights:
        """Round rows."""
        largest = np.maximum(np.abs(weights).max(axis=1, keepdims=True), np.float32(1e-30))
        scaled = weights * (STEPS / largest)
        rounded = np.rint(scaled)
        usual = np.sqrt(np.einsum("ij,ij->i", scaled, scaled) / max(scaled.shape[1], 1))
        coarse = np.flatnonzero(usual < STEPS / _COARSE)
        rest = np.rint((scaled[coarse] - rounded[coarse]) * (2 * STEPS))
        return cls(rounded.astype(np.int8), largest / STEPS, coarse, rest.astype(np.int8))


def _has_kernel() -> bool:
    none = np.empty((0, 0), dtype=np.int8), np.empty((0, 0, _BLOCK, _FOUR), dtype=np.uint8)
    return _core.int_products(*none, _INSTRUCTION_SET, np.empty((0, 0), dtype=np.float32))


def _of_singles(rows: _Singles, columns: _Singles) -> _Singles:
    lengths = [float((each * each).sum(axis=1).max(initial=0.0)) for each in (rows, columns)]
    n = rows.shape[1]
    if np.sqrt(lengths[0] * lengths[1]) < _EXACT:
        return np.asarray(rows @ columns.T)
    size = (_EXACT - 1) // (128 * 128)  # whatever the lengths of parts are
    total = np.zeros((len(rows), len(columns)))
    for begin in range(0, n, size):
        total += rows[:, begin : begin + size] @ columns[:, begin : begin + size].T
    return total.astype(np.float32)
