"""The genotypes of one variant of a BGEN file: bytes → probabilities → dosages of the second allele."""

from __future__ import annotations

import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.readers.genotypes.bgen_index import PLAIN, ZLIB
from interplay.readers.genotypes.hard_calls import MISSING, Codes, hard_calls
from interplay.readers.genotypes.words import import_zstandard

Dosages = npt.NDArray[np.float64]

#: The code of a pair of probabilities that do not fit together.
_BAD = 255

#: Units of a probability of 1 in layout 1.
_UNITS_OF_LAYOUT_1 = 32768

_DTYPES = {8: "<u1", 16: "<u2", 32: "<u4"}


class DamagedBlock(Exception):
    """The genotypes of a variant cannot be read; the text says why."""


class Probabilities(NamedTuple):
    """Probabilities of genotypes of two alleles.

    Attributes
    ----------
    of_samples : (n_samples, 2) or (n, ) array of whole numbers
        Of people with two copies: of 0 and 1 copies of the second allele or, if phased, of the first allele on each
        copy. If some have one copy only, all numbers in a row.
    units : int
        The number that stands for 1.
    is_missing : (n_samples,) bool, or None where nothing is missing
    is_phased : bool
    n_copies : (n_samples,) array of int, or None if everybody has two
    """

    of_samples: npt.NDArray[Any]
    units: int
    is_missing: npt.NDArray[np.bool_] | None
    is_phased: bool
    n_copies: npt.NDArray[Any] | None


def unpacked_block(content: bytes, packing: int, size: int) -> bytes:
    """Return the bytes of a variant, of which there must be `size`."""
    if packing == PLAIN:
        return content
    if packing == ZLIB:
        try:
            unpacker = zlib.decompressobj()
            unpacked = unpacker.decompress(content, size + 1)
            is_whole = unpacker.eof
        except zlib.error as error:
            raise DamagedBlock(str(error)) from None
    else:
        zstandard = import_zstandard("reading BGEN files that are packed by Zstandard needs")
        try:
            unpacked = zstandard.ZstdDecompressor().stream_reader(content).read(size + 1)
            is_whole = True
        except (zstandard.ZstdError, MemoryError) as error:
            raise DamagedBlock(str(error)) from None
    if len(unpacked) != size or not is_whole:
        raise DamagedBlock("it unpacks to another number of bytes than it says")
    return unpacked


def largest_size(n_samples: int) -> int:
    """Return the largest number of bytes of a variant with two alleles: probabilities of 32 bits."""
    return 10 + n_samples + 8 * n_samples


def read_layout_1(content: bytes, n_samples: int) -> Dosages:
    """Return dosages of the second allele from three probabilities each; NaN where all are 0."""
    if len(content) != 6 * n_samples:
        raise DamagedBlock("its number of bytes is wrong")
    values = np.frombuffer(content, dtype="<u2").reshape(n_samples, 3).astype(np.float64)
    total = values.sum(axis=1)
    if (total > 1.01 * _UNITS_OF_LAYOUT_1).any():
        raise DamagedBlock("probabilities of genotypes are larger than 1 together")
    with np.errstate(invalid="ignore"):
        dosages: Dosages = np.where(total > 0, (values[:, 1] + 2 * values[:, 2]) / np.maximum(total, 1), np.nan)
    return dosages


def read_layout_2(content: bytes, n_samples: int) -> Probabilities:
    """Return the probabilities of a variant with two alleles."""
    if len(content) < 10 + n_samples:
        raise DamagedBlock("it is cut short")
    n, n_alleles, least, most = struct.unpack_from("<IHBB", content)
    if n != n_samples or n_alleles != 2:
        raise DamagedBlock("it has another number of samples or alleles than the file says")
    ploidy = np.frombuffer(content, dtype=np.uint8, count=n_samples, offset=8)
    is_phased, n_bits = content[8 + n_samples], content[9 + n_samples]
    if is_phased > 1 or not 1 <= n_bits <= 32:
        raise DamagedBlock("its description of probabilities is wrong")
    is_missing = ploidy >= 128
    copies = ploidy & 63
    if least == most == 2:
        if (copies != 2).any():
            raise DamagedBlock("its numbers of copies are wrong")
        n_values, n_copies = 2 * n_samples, None
    else:
        if copies.min() < 1 or copies.max() > 2:
            raise DamagedBlock("somebody has neither one nor two copies of it")
        n_values, n_copies = int(copies.sum()), copies
    at = 10 + n_samples
    if len(content) != at + -(-n_values * n_bits // 8):
        raise DamagedBlock("its number of bytes is wrong")
    if n_bits in _DTYPES:
        values: npt.NDArray[Any] = np.frombuffer(content, dtype=_DTYPES[n_bits], count=n_values, offset=at)
    else:
        bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8, offset=at), bitorder="little")
        values = bits[: n_values * n_bits].reshape(n_values, n_bits) @ (1 << np.arange(n_bits, dtype=np.int64))
    shaped = values.reshape(n_samples, 2) if n_copies is None else values
    return Probabilities(shaped, 2**n_bits - 1, is_missing if is_missing.any() else None, is_phased == 1, n_copies)


def dosages_of(found: Probabilities) -> Dosages:
    """Return dosages of the second allele, NaN where missing; one copy counts as two, as in PLINK."""
    if found.n_copies is None:
        first, second = found.of_samples[:, 0].astype(np.float64), found.of_samples[:, 1].astype(np.float64)
    else:
        # A person with one copy has one number, that of the first allele: as if phased, and the same on both copies.
        ends = np.cumsum(found.n_copies)
        starts = ends - found.n_copies
        first, second = found.of_samples[starts].astype(np.float64), found.of_samples[ends - 1].astype(np.float64)
        if not found.is_phased:
            is_single = found.n_copies == 1
            second = np.where(is_single, 0, second)
    is_bad = np.zeros(len(first), dtype=np.bool_) if found.is_phased else first + second > found.units
    if found.is_missing is not None:
        is_bad &= ~found.is_missing
    if is_bad.any():
        raise DamagedBlock("probabilities of genotypes are larger than 1 together")
    dosages: Dosages = 2 - (first + second if found.is_phased else 2 * first + second) / found.units
    if found.is_missing is not None:
        dosages[found.is_missing] = np.nan
    return dosages


class CodesOfUnits:
    """Codes of probabilities of up to 16 bits, looked up: nearly all files have 8 or 16.

    Of 8 bits a pair is looked up, of others the sum that a dosage is made of.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        pair = np.arange(2**16)
        first, second = pair & 255, pair >> 8
        unphased = self._codes_of_sums(255)[np.minimum(2 * first + second, 510)]
        unphased[first + second > 255] = _BAD
        self._of_pairs = (unphased, self._codes_of_sums(255)[first + second])
        self._of_sums: dict[int, Codes] = {}

    def of(self, found: Probabilities) -> Codes | None:
        """Return the codes of a variant; None if not all people have two copies, or a number has too many bits."""
        if found.n_copies is not None or found.units >= 2**16:
            return None
        if found.units == 255:
            codes: Codes = self._of_pairs[found.is_phased][found.of_samples.view("<u2")[:, 0]]
        else:
            first, second = found.of_samples[:, 0].astype(np.int32), found.of_samples[:, 1].astype(np.int32)
            total = first + second
            if found.is_phased:
                codes = self._codes_in_use(found.units)[total]
            else:
                codes = self._codes_in_use(found.units)[np.minimum(total + first, 2 * found.units)]
                codes[total > found.units] = _BAD
        if found.is_missing is not None:
            codes[found.is_missing] = MISSING
        if codes.max() == _BAD:
            raise DamagedBlock("probabilities of genotypes are larger than 1 together")
        return codes

    def _codes_in_use(self, units: int) -> Codes:
        if units not in self._of_sums:
            self._of_sums[units] = self._codes_of_sums(units)
        return self._of_sums[units]

    def _codes_of_sums(self, units: int) -> Codes:
        return hard_calls(2 - np.arange(2 * units + 1) / units, self._threshold)
