"""An open file of genotypes → a table of chosen people by chosen variants."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import arguments_in
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_real
from interplay.data.study.columns import ColumnKind
from interplay.data.study.table import MISSING_WHOLE, Table, Values, Which
from interplay.readers.genotypes.choice import chosen_numbers, chosen_variants
from interplay.readers.genotypes.genotype_file import Codes, GenotypeFile
from interplay.readers.genotypes.people import is_unknown

#: Arguments that the readers of genotypes share.
READER_ARGUMENTS = arguments_in(
    """
    samples : "all", "phenotyped", mask, or list of individual IDs or numbers
        People to keep; "phenotyped" are those whose phenotype is known.
    variants : "all", mask, or list of variant IDs or numbers
        Variants to keep.
    region : str or list of str, optional
        A chromosome, such as "22", or a part of one, such as "chr6:25000000-34000000".
    min_maf : float, optional
        Lowest frequency of the rarer allele among the kept people.
    max_missing : float, optional
        Largest share of missing genotypes among the kept people.
    min_info : float, optional
        Lowest certainty of imputation: the variance of the dosages over that of genotypes in Hardy–Weinberg
        equilibrium (MaCH's r²).
    hard_call_threshold : float, optional
        Dosages within this distance of 0, 1 or 2 are genotypes; others are missing.
    multiallelic : {"error", "drop"}
        Variants with more than two alleles are refused, or left out with a warning.
    sex_chromosomes : {"error", "drop", "keep"}
        Variants of X, Y and MT are refused, left out with a warning, or taken as they are written.
    """
)

#: Values of codes: everything but 0, 1 and 2 is missing.
_VALUES = np.full(256, np.nan, dtype=np.float32)
_VALUES[:3] = 0, 1, 2

#: Genotypes that stay in memory once they were read, in bytes: a search reads each some four times.
_MAX_READ_BYTES = 2**25

#: Genotypes that are looked at in one go.
_AT_ONCE = 2**22


class GenotypeTable(Table):
    """The genotypes of a file: copies of an allele that each person has, 0, 1 or 2, NaN where missing.

    The file stays where it is. Each reading takes one block of variants; those of a small file stay in memory.

    Attributes
    ----------
    sample_names : (n_samples,) array of str
        IDs of the people; None if the file has none.
    sample_columns : dict
        Properties of the people by name, such as "phenotype", "sex" and "family", from the file beside the genotypes:
        `select` takes these names for y, strata, groups and covariates. Phenotypes 1 and 2 are "control" and "case";
        None or NaN where not known.
    """

    def __init__(self, file: GenotypeFile, rows: IntArray, kept: IntArray, names: list[str]) -> None:
        super().__init__(len(rows), names, np.full(len(names), ColumnKind.NUMBER, dtype=np.int8), np.dtype(np.float32))
        self._file = file
        self._rows = _unless_all(rows, file)
        self._kept = kept
        self._numbers, self._is_read = np.arange(len(kept)), np.zeros(len(kept), dtype=np.bool_)
        fits = len(kept) * len(rows) <= _MAX_READ_BYTES
        self._read: Codes | None = np.empty((len(kept), len(rows)), dtype=np.uint8) if fits else None
        self.sample_names = file.people.ids[rows] if file.people.are_named else None
        self.sample_columns = {name: values[rows] for name, values in file.people.columns.items()}
        self.samples_left_out = file.n_samples - len(rows)

    @property
    def phenotype(self) -> npt.NDArray[Any]:
        """Of each person: "case", "control" or None; or a number, NaN where not known."""
        phenotype: npt.NDArray[Any] = self.sample_columns["phenotype"]
        return phenotype

    @property
    def positions(self) -> list[tuple[str, float]]:
        """Chromosome and base pair of each variant."""
        chromosomes = self._file.variants.chromosome[self._kept].tolist()
        base_pairs = self._file.variants.position[self._kept].tolist()
        return [(str(c), float(at)) for c, at in zip(chromosomes, base_pairs, strict=True)]

    @property
    def alleles(self) -> list[tuple[str, str]]:
        """Of each variant, the allele whose copies are counted (A1 of PLINK) and the other one."""
        variants = self._file.variants
        pair = (variants.first, variants.others) if self._file.counts_first else (variants.others, variants.first)
        counted, other = (texts[self._kept].tolist() for texts in pair)
        return list(zip(map(str, counted), map(str, other), strict=True))

    def columns(self, which: Which) -> Values:
        """Return the chosen variants; see `Table.columns`."""
        return np.take(_VALUES, self._codes(which))

    @property
    def has_whole_numbers(self) -> bool:
        """Genotypes are numbers of one byte."""
        return True

    def whole_numbers(self, which: Which) -> npt.NDArray[np.int8]:
        """Return genotypes as numbers of one byte; see `Table.whole_numbers`."""
        codes = self._codes(which)
        if codes.max(initial=0) > 2:
            codes = np.where(codes > 2, np.uint8(-MISSING_WHOLE), codes)
        return codes.view(np.int8)

    def _codes(self, which: Which) -> Codes:
        """Return genotypes, from memory where they were read before and are few."""
        if self._read is None:
            return self._file.codes(self._kept[which], self._rows)
        missing = self._numbers[which]
        missing = missing[~self._is_read[missing]]
        if len(missing):  # threads that read the same variants write the same codes
            self._read[missing] = self._file.codes(self._kept[missing], self._rows)
            self._is_read[missing] = True
        return self._read[which]


def genotype_table(
    file: GenotypeFile,
    *,
    samples: Any,
    variants: Any,
    region: Any,
    min_maf: Any,
    max_missing: Any,
    sex_chromosomes: str,
    multiallelic: str = "error",
    min_info: Any = None,
) -> GenotypeTable:
    """Return the chosen people and variants of a file as a table."""
    limits = check_limits(min_maf, max_missing, min_info)
    people = file.people
    if isinstance(samples, str) and samples == "phenotyped":
        if "phenotype" not in people.columns:
            raise no_phenotype(file.path, list(people.columns))
        samples = ~is_unknown(people.columns["phenotype"])
        if not samples.any():
            raise ValueError("samples='phenotyped' leaves nobody: no phenotype of the file is known")
    rows = chosen_numbers("samples", samples, people.ids, "'all', 'phenotyped'")
    kept = chosen_variants(
        file.variants,
        file.path,
        chosen=variants,
        region=region,
        multiallelic=multiallelic,
        sex_chromosomes=sex_chromosomes,
    )
    kept = good_variants(file, kept, _unless_all(rows, file), limits)
    return GenotypeTable(file, rows, kept, file.variants.names(kept, file.path))


def no_phenotype(path: Any, columns: list[str]) -> ValueError:
    """Return the refusal of a file whose people have no phenotype; `columns` is what is known of them."""
    advice = (
        f"name one of {', '.join(columns)} as target"
        if columns
        else "give target_file, a table of people with their outcome, or sample_file"
    )
    return ValueError(f"{os.fspath(path)!r} has no phenotype: {advice}")


def _unless_all(rows: IntArray, file: GenotypeFile) -> IntArray | None:
    """Return the chosen people; None for all of the file, in its order."""
    return None if np.array_equal(rows, np.arange(file.n_samples)) else rows


def check_limits(min_maf: Any, max_missing: Any, min_info: Any) -> dict[str, float]:
    """Return the limits that are given, checked."""
    limits = {}
    for name, value, high in (("min_maf", min_maf, 0.5), ("max_missing", max_missing, 1), ("min_info", min_info, 1)):
        if value is not None:
            limits[name] = check_real(name, value, low=0, high=high)
    return limits


def good_variants(file: GenotypeFile, kept: IntArray, rows: IntArray | None, limits: dict[str, float]) -> IntArray:
    """Return the numbers of the variants within the limits, in all of which equality is enough.

    The genotypes of all `kept` variants are read once, block by block, in the people `rows` (None for all).
    """
    if not limits:
        return kept
    n_rows = file.n_samples if rows is None else len(rows)
    at_once = max(1, _AT_ONCE // n_rows)
    good = []
    for start in range(0, len(kept), at_once):
        numbers = kept[start : start + at_once]
        is_good = np.ones(len(numbers), dtype=np.bool_)
        if "min_maf" in limits or "max_missing" in limits:
            counts = file.tallies(numbers, rows)
            if "min_maf" in limits:
                is_good &= minor_frequency(counts) >= limits["min_maf"]
            if "max_missing" in limits:
                is_good &= counts[:, 3] <= limits["max_missing"] * n_rows
        if "min_info" in limits:
            is_good &= file.info(numbers, rows) >= limits["min_info"]
        good.append(numbers[is_good])
    found = np.concatenate(good)
    if not len(found):
        named = ", ".join(f"{name}={value:g}" for name, value in limits.items())
        raise ValueError(f"{os.fspath(file.path)!r} has no variant within {named}: {len(kept)} were looked at")
    return found


def minor_frequency(counts: IntArray) -> FloatArray:
    """Return the frequency of the rarer allele by counts of 0, 1, 2 and missing; 0 where nothing is known.

    Examples
    --------
    >>> minor_frequency(np.array([[10, 10, 5, 75], [0, 1, 9, 0], [0, 0, 0, 4]]))
    array([0.4 , 0.05, 0.  ])
    """
    called = counts[:, :3].sum(axis=1)
    frequency: FloatArray = (counts[:, 1] + 2 * counts[:, 2]) / np.maximum(2 * called, 1)
    minor: FloatArray = np.minimum(frequency, np.where(called > 0, 1 - frequency, 0))
    return minor
