"""A file of genotypes as every format gives it: variants, people, and codes of some variants."""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_real, shown
from interplay.readers.genotypes.people import People


class GenotypeFile(ABC):
    """An open file of genotypes, which may be read by several threads at once.

    Attributes
    ----------
    path : path
    variants : Variants
    people : People
    """

    #: Whether copies of the first allele are counted, and not those of the second.
    counts_first = False

    def __init__(self, path: str | os.PathLike[str], variants: Variants, people: People) -> None:
        self.path = path
        self.variants = variants
        self.people = people

    @property
    def n_samples(self) -> int:
        """Number of people in the file."""
        return len(self.people.ids)

    @abstractmethod
    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes of the variants `numbers` in the people `rows` (None: all), (n_chosen, n_rows).

        0, 1 and 2 are copies of the allele that the format counts; every other number is a missing genotype.
        """

    def tallies(self, numbers: IntArray, rows: IntArray | None) -> IntArray:
        """Return how many people have 0, 1, 2 copies or a missing genotype, (n_chosen, 4)."""
        codes = self.codes(numbers, rows)
        counts = np.stack([np.count_nonzero(codes == level, axis=1) for level in range(3)], axis=1)
        missing = codes.shape[1] - counts.sum(axis=1)
        return np.column_stack([counts, missing])

    def info(self, numbers: IntArray, rows: IntArray | None) -> FloatArray:
        """Return the certainty of imputation of some variants, (n_chosen,)."""
        raise ValueError(f"min_info cannot be used with {os.fspath(self.path)!r}, which has no dosages: leave it out")


def only(values: Any, rows: IntArray | None) -> Any:
    """Return some columns of an array; None stands for all."""
    return values if rows is None else np.ascontiguousarray(values[:, rows])


#: The code of a missing genotype. Tables show NaN.
MISSING = 3

#: PLINK's threshold: a dosage of at most this distance from 0, 1 or 2 is a genotype, any other is missing.
DEFAULT_THRESHOLD = 0.1

#: Files round dosages: 0.9 in 16 bits is 0.900002.
_ROUNDING = 1e-5

Codes = npt.NDArray[np.uint8]


def check_threshold(threshold: Any) -> float:
    """Return the argument `hard_call_threshold`, checked: at 0.5 two genotypes would be equally near."""
    return check_real("hard_call_threshold", threshold, low=0, high=0.5, high_open=True)


def hard_calls(dosages: npt.NDArray[Any], threshold: float = DEFAULT_THRESHOLD) -> Codes:
    """Return 0, 1 or 2 for dosages within `threshold` of these, else `MISSING`; NaN and negative numbers are missing.

    Examples
    --------
    >>> hard_calls(np.array([0.02, 0.9, 0.85, 1.1, 2.0, np.nan])).tolist()
    [0, 1, 3, 1, 2, 3]
    """
    nearest: npt.NDArray[Any] = np.rint(dosages)
    is_called = np.abs(dosages - nearest) <= threshold + _ROUNDING
    is_called &= nearest >= 0
    is_called &= nearest <= 2
    nearest[~is_called] = MISSING
    return nearest.astype(np.uint8)


def dosage_r2(dosages: npt.NDArray[Any]) -> FloatArray:
    """Return the certainty of imputation of each row, (n, n_samples): MaCH's r².

    It is the variance of the dosages over the variance of genotypes in Hardy–Weinberg equilibrium with the same allele
    frequency: about 1 for genotypes, 0 where every person has the mean. NaN where the allele does not vary.

    Examples
    --------
    >>> dosage_r2(np.array([[0, 1, 1, 2.0], [0.9, 1, 1, 1.1], [0, 0, 0, np.nan]])).round(3)
    array([1.  , 0.01,  nan])
    """
    is_known = ~np.isnan(dosages)
    n = is_known.sum(axis=1)
    values = np.where(is_known, dosages, 0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = values.sum(axis=1) / n
        r2: FloatArray = ((values * values).sum(axis=1) / n - mean * mean) / (mean * (1 - mean / 2))
    return r2


Texts = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Variants:
    """The variants of a file, (n_variants,) each."""

    chromosome: Texts
    position: IntArray
    ids: Texts
    #: `first`, `others`: the first allele, and the others, separated by commas.
    first: Texts
    others: Texts

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_multiallelic(self) -> BoolArray:
        """Whether a variant has more than two alleles."""
        return np.array(["," in alleles for alleles in self.others], dtype=np.bool_)

    def names(self, kept: IntArray, path: Any) -> list[str]:
        """Return names that are all different: IDs, or chromosome:position:alleles where an ID is "." or not unique."""
        names: list[str] = self.ids[kept].tolist()
        count = Counter(names)
        unclear = [i for i, name in enumerate(names) if name in (".", "") or count[name] > 1]
        for i in unclear:
            at = kept[i]
            alleles = f"{self.first[at]}:{self.others[at]}"
            names[i] = f"{self.chromosome[at]}:{self.position[at]}:{alleles}"
        if unclear and len(set(names)) < len(names):
            repeated = next(name for name, number in Counter(names).items() if number > 1)
            raise ValueError(f"{str(path)!r} has more than one variant {shown(repeated)}: give each an ID of its own")
        return names


#: The four codes of each value of a byte, as one number.
FourCodes = npt.NDArray[np.uint32]

#: Bytes of codes that are packed in one go.
_AT_ONCE = 2**22


def four_codes(codes: tuple[int, int, int, int] = (0, 1, 2, 3)) -> FourCodes:
    """Return the four codes in each value of a byte; `codes` are those of the bits 00, 01, 10 and 11, lowest first."""
    bits = (np.arange(256)[:, np.newaxis] >> np.array([0, 2, 4, 6])) & 3
    table: FourCodes = np.array(codes, dtype=np.uint8)[bits].view(np.uint32).reshape(-1)
    return table


def unpacked(packed: npt.NDArray[np.uint8], n_samples: int, table: FourCodes) -> Codes:
    """Return the codes of packed variants, (n_variants, n_samples): four at a time, a billion a second.

    Examples
    --------
    >>> unpacked(np.array([[0b11_10_01_00, 0b10]], dtype=np.uint8), 5, four_codes()).tolist()
    [[0, 1, 2, 3, 2]]
    """
    return np.ascontiguousarray(np.take(table, packed).view(np.uint8)[:, :n_samples])


def read_packed(file: IO[bytes], places: IntArray, n_bytes: int, *, begin: int = 0) -> npt.NDArray[np.uint8]:
    """Return the bytes of variants, each of `n_bytes`, from a file in which the first variant is at `begin`.

    Neighbours are read together. A file that ends before raises EOFError.

    Examples
    --------
    >>> import io
    >>> read_packed(io.BytesIO(bytes(range(12))), np.array([2, 3, 0]), 2, begin=1).tolist()
    [[5, 6], [7, 8], [1, 2]]
    """
    packed = np.empty((len(places), n_bytes), dtype=np.uint8)
    starts = np.flatnonzero(np.diff(places, prepend=-2) != 1).tolist()
    for start, stop in zip(starts, [*starts[1:], len(places)], strict=True):
        file.seek(begin + int(places[start]) * n_bytes)
        rest = packed[start:stop].reshape(-1).data
        while len(rest):  # one reading gives 2 GiB at most
            n_read = file.readinto(rest)  # type: ignore[attr-defined]
            if not n_read:
                raise EOFError
            rest = rest[n_read:]
    return packed


_PLAIN = four_codes()


class PackedGenotypes:
    """Codes 0 to 3 of variants, written one after the other and then read in any order.

    The file has no name and is gone with the object or the process.
    """

    def __init__(self, n_samples: int) -> None:
        self.n_samples = n_samples
        self.n_variants = 0
        self._n_bytes = -(-n_samples // 4)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the object
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._waiting: list[Codes] = []

    def append(self, codes: Codes) -> None:
        """Add a variant, (n_samples,)."""
        self._waiting.append(codes)
        self.n_variants += 1
        if len(self._waiting) * self.n_samples >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write all variants that were added."""
        if not self._waiting:
            return
        codes = np.zeros((len(self._waiting), 4 * self._n_bytes), dtype=np.uint8)
        codes[:, : self.n_samples] = self._waiting
        self._waiting = []
        packed = codes[:, 0::4] | (codes[:, 1::4] << 2) | (codes[:, 2::4] << 4) | (codes[:, 3::4] << 6)
        self._file.write(packed.tobytes())

    def read(self, places: IntArray) -> Codes:
        """Return variants by their places in the order of writing, (n_chosen, n_samples)."""
        with self._lock:
            packed = read_packed(self._file, places, self._n_bytes)
        return unpacked(packed, self.n_samples, _PLAIN)


Dosages = npt.NDArray[np.float64]

#: Certainty of imputation, as Minimac, Beagle and IMPUTE call it.
INFO_KEYS = ("R2", "DR2", "INFO")


@dataclass(frozen=True, eq=False)
class VcfRecord:
    """A variant of a VCF or BCF file."""

    chromosome: str
    position: int
    id: str
    first: str
    others: str
    #: What is written of each sample, such as ("GT", "DS").
    fields: tuple[str, ...]
    #: () → codes (n_samples,), by GT.
    genotypes: Callable[[], Codes]
    #: () → dosages of the second allele (n_samples,), by DS; NaN where missing.
    dosages: Callable[[], Dosages]
    #: () → certainty of imputation, by INFO; NaN if it is not written.
    info: Callable[[], float]
