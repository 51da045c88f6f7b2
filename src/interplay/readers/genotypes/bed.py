"""PLINK .bed files with .bim and .fam, and positions of variants."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from interplay.base.arguments import described_by
from interplay.base.arrays import IntArray
from interplay.base.checks import check_file, needing, reading
from interplay.readers.csv_table import read_csv
from interplay.readers.genotypes.genotype_file import (
    Codes,
    GenotypeFile,
    Variants,
    four_codes,
    only,
    read_packed,
    unpacked,
)
from interplay.readers.genotypes.genotype_table import READER_ARGUMENTS, GenotypeTable, genotype_table, reader_arguments
from interplay.readers.genotypes.people import People, phenotype_values, sexes

_BIM_COLUMNS = ["chromosome", "variable", "morgans", "position", "allele_1", "allele_2"]


#: First bytes of a file: all people of a variant come together, or all variants of a person.
_BY_VARIANT, _BY_PERSON = bytes([0x6C, 0x1B, 0x01]), bytes([0x6C, 0x1B, 0x00])

#: Copies of allele 1 for the bits 00, 01 (missing), 10 and 11.
_COPIES = four_codes((2, 255, 1, 0))


class BedFile(GenotypeFile):
    """An open .bed file; copies of allele 1 are counted.

    bed-reader reads .bim and .fam. Its reader of genotypes keeps the interpreter's lock, so that threads wait for each
    other, and takes six times as long as a table of bytes.
    """

    counts_first = True

    def __init__(self, path: str | os.PathLike[str], bed: Any) -> None:
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
        self._n_bytes = -(-self.n_samples // 4)
        self._check(len(ids))

    def _check(self, n_variants: int) -> None:
        """Refuse a file of another format or length."""
        with open(self.path, "rb") as file:
            begin = file.read(len(_BY_VARIANT))
        if begin == _BY_PERSON:
            raise ValueError("it has the variants of one person after another: write it anew with plink2 --make-bed")
        if begin != _BY_VARIANT:
            raise ValueError("its first bytes are those of another format" if begin else "it is empty")
        size, wanted = os.path.getsize(self.path), len(_BY_VARIANT) + n_variants * self._n_bytes
        if size != wanted:
            raise ValueError(
                f"it has {size} bytes, but {n_variants} variants of {self.n_samples} people take {wanted}: it is cut "
                "short, or .bim and .fam belong to another file"
            )

    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes; see `GenotypeFile.codes`."""
        try:
            with open(self.path, "rb", buffering=0) as file:  # each thread has its own place in the file
                packed = read_packed(file, numbers, self._n_bytes, begin=len(_BY_VARIANT))
        except EOFError:
            raise ValueError(f"{os.fspath(self.path)!r} has become shorter while it was read") from None
        codes: Codes = only(unpacked(packed, self.n_samples, _COPIES), rows)
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
    **filters: Any,
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
    arguments = dict(locals())
    with needing("bed-reader", "genetics", "reading .bed files needs"):
        from bed_reader import open_bed
    file = check_file("path", path)
    for ending in (".bim", ".fam"):
        check_file("path", file.with_suffix(ending))
    with reading(path, "a .bed file that can be read", (ValueError, OSError)):
        opened = BedFile(path, open_bed(file, skip_format_check=True))
    return genotype_table(opened, **reader_arguments(arguments))


def read_positions(path: str | os.PathLike[str]) -> Any:
    """Return the positions of variables, for the argument `positions` of `interactions`.

    The file is a PLINK .bim or .pvar file, or a text table with the columns variable, chromosome and position.
    """
    file = check_file("positions", path)
    ending = file.suffix.lower()
    if ending in (".pvar", ".zst"):
        from interplay.readers.genotypes.pgen import read_variants

        variants = read_variants(file)
        return dict(zip(variants.ids, zip(variants.chromosome, variants.position, strict=True), strict=True))
    if ending != ".bim":
        return read_csv(path, has_ids=True, sample_id="variable")
    import pandas as pd

    with reading(path, "a .bim file", (ValueError, pd.errors.ParserError)):
        return pd.read_csv(
            file, sep=r"\s+", header=None, names=_BIM_COLUMNS, dtype={"chromosome": str, "variable": str}
        )
