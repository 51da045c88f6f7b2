"""PLINK .bed files with .bim and .fam, and positions of variants."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from interplay.base.arguments import described_by
from interplay.base.arrays import IntArray
from interplay.base.checks import check_file, needing, reading
from interplay.readers.csv_table import read_csv
from interplay.readers.genotypes.genotype_file import GenotypeFile
from interplay.readers.genotypes.genotype_table import READER_ARGUMENTS, GenotypeTable, genotype_table
from interplay.readers.genotypes.hard_calls import Codes
from interplay.readers.genotypes.people import People, phenotype_values, sexes
from interplay.readers.genotypes.variants import Variants

_BIM_COLUMNS = ["chromosome", "variable", "morgans", "position", "allele_1", "allele_2"]


class BedFile(GenotypeFile):
    """An open .bed file; copies of allele 1 are counted."""

    def __init__(self, path: str | os.PathLike[str], bed: Any) -> None:
        self._bed = bed
        ids, chromosome, first, others = (
            np.asarray(part).astype(object) for part in (bed.sid, bed.chromosome, bed.allele_1, bed.allele_2)
        )
        variants = Variants(chromosome, np.asarray(bed.bp_position).astype(np.int64), ids, first, others)
        columns = {
            "phenotype": phenotype_values(np.asarray(bed.pheno)),
            "sex": sexes(np.asarray(bed.sex).astype(str)),
            "family": np.asarray(bed.fid),
        }
        super().__init__(path, variants, People(np.asarray(bed.iid), columns))

    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes; see `GenotypeFile.codes`."""
        is_range = len(numbers) > 0 and bool((np.diff(numbers) == 1).all())
        wanted = slice(int(numbers[0]), int(numbers[-1]) + 1) if is_range else numbers
        people = slice(None) if rows is None else rows
        # One thread, since callers read several blocks at once.
        values = self._bed.read(index=(people, wanted), dtype="int8", order="F", num_threads=1)
        codes: Codes = np.ascontiguousarray(values.T).view(np.uint8)
        return codes


@described_by(READER_ARGUMENTS)
def read_bed(
    path: str | os.PathLike[str],
    *,
    samples: Any = "all",
    variants: Any = "all",
    region: Any = None,
    min_maf: float | None = None,
    max_missing: float | None = None,
    sex_chromosomes: str = "error",
) -> GenotypeTable:
    """Open a PLINK .bed file, with its .bim and .fam beside it, as a table for `select`.

    Parameters
    ----------
    path : path
        The .bed file.
    ...

    Returns
    -------
    GenotypeTable
        Variables are the variants, named by their IDs; those whose ID is "." or not unique by
        chromosome:position:allele1:allele2. Genotypes, the copies of allele 1, have three levels; for missing ones,
        `select` needs ``missing="impute"`` or ``missing="level"``, and `interactions` also has ``missing="omit"``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from bed_reader import to_bed
    >>> rng = np.random.default_rng(0)
    >>> genotypes = rng.integers(0, 3, size=(300, 50))
    >>> ill = (genotypes[:, 10] == 1) ^ (genotypes[:, 20] == 1)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.bed"
    >>> to_bed(path, genotypes.astype("int8"), properties={"pheno": np.where(ill, "2", "1")})
    >>> import interplay
    >>> study = interplay.genetics.read_bed(path)
    >>> sorted(interplay.select(study, "phenotype", dimensions=2, random_state=0).relevant)
    ['sid11', 'sid21']
    """
    with needing("bed-reader", "genetics", "reading .bed files needs"):
        from bed_reader import open_bed
    file = check_file("path", path)
    for ending in (".bim", ".fam"):
        check_file("path", file.with_suffix(ending))
    with reading(path, "a .bed file that can be read", (ValueError, OSError)):
        opened = BedFile(path, open_bed(file))
    return genotype_table(
        opened,
        samples=samples,
        variants=variants,
        region=region,
        min_maf=min_maf,
        max_missing=max_missing,
        multiallelic="error",
        sex_chromosomes=sex_chromosomes,
    )


def read_positions(path: str | os.PathLike[str]) -> Any:
    """Return the positions of variables, for the argument `positions` of `interactions`.

    The file is a PLINK .bim file, or a text table with the columns variable, chromosome and position.
    """
    file = check_file("positions", path)
    if file.suffix.lower() != ".bim":
        return read_csv(path)
    import pandas as pd

    with reading(path, "a .bim file", (ValueError, pd.errors.ParserError)):
        return pd.read_csv(
            file, sep=r"\s+", header=None, names=_BIM_COLUMNS, dtype={"chromosome": str, "variable": str}
        )
