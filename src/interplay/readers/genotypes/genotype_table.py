"""An open file of genotypes → a table of chosen people by chosen variants."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import arguments_in
from interplay.base.arrays import IntArray
from interplay.data.study.columns import ColumnKind
from interplay.data.study.table import MISSING_WHOLE, Table, Values, Which
from interplay.readers.genotypes.filters import (
    FILTERS,
    Filtering,
    check_limits,
    chosen_numbers,
    chosen_variants,
    unless_all,
)
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
    **filters
        keep, remove : files, or lists of IDs, of people, each line FID and IID, or IID. extract, exclude : files, or
        lists, of IDs of variants. max_missing_person : the largest share of missing genotypes that a person may have.
        min_hwe : the lowest p-value of the exact test of Hardy–Weinberg equilibrium, among all kept people. They work
        in PLINK's order; `filters` of the table says how many people and variants each left out.
    """
)

#: Values of codes: everything but 0, 1 and 2 is missing.
_VALUES = np.full(256, np.nan, dtype=np.float32)
_VALUES[:3] = 0, 1, 2

#: Genotypes that stay in memory once they were read, in bytes: a search reads each some four times.
_MAX_READ_BYTES = 2**25


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
        self._rows = unless_all(rows, file)
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
    sex_chromosomes: str,
    multiallelic: str = "error",
    **filters: Any,
) -> GenotypeTable:
    """Return the chosen people and variants of a file as a table."""
    limits = check_limits(filters)
    for name in filters:
        if name not in (*FILTERS, "min_maf", "max_missing", "min_info"):
            raise TypeError(f"a reader of genotypes has no argument {name!r}: give one of {', '.join(FILTERS)}")
    people = file.people
    if isinstance(samples, str) and samples == "phenotyped":
        if "phenotype" not in people.columns:
            raise no_phenotype(file.path, list(people.columns))
        samples = ~is_unknown(people.columns["phenotype"])
        if not samples.any():
            raise ValueError(
                "samples='phenotyped' leaves nobody: no phenotype of the file is known, take another column or file"
            )
    rows = chosen_numbers("samples", samples, people.ids, "'all', 'phenotyped'")
    kept = chosen_variants(
        file.variants,
        file.path,
        chosen=variants,
        region=region,
        multiallelic=multiallelic,
        sex_chromosomes=sex_chromosomes,
    )
    filtering = Filtering(file, rows, kept)
    filtering.by_lists(filters)
    filtering.by_limits(limits)
    names = file.variants.names(filtering.kept, file.path)
    table = GenotypeTable(file, filtering.rows, filtering.kept, names)
    table.filters = filtering.counts
    return table


def reader_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `genotype_table` out of those of a reader, ``dict(locals())`` at its beginning."""
    names = READER_ARGUMENTS.keys() - {"hard_call_threshold"}  # which is for opening the file
    given = {name: value for name, value in arguments.items() if name in names}
    return {**given, **arguments["filters"]}


def no_phenotype(path: Any, columns: list[str]) -> ValueError:
    """Return the refusal of a file whose people have no phenotype; `columns` is what is known of them."""
    advice = (
        f"name one of {', '.join(columns)} as target"
        if columns
        else "give target_file, a table of people with their outcome, or sample_file"
    )
    return ValueError(f"{os.fspath(path)!r} has no phenotype: {advice}")
