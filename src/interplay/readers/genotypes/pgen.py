"""PLINK 2 files: .pgen with .pvar and .psam."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import described_by
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_file, needing, reading
from interplay.readers.genotypes.genotype_file import (
    Codes,
    GenotypeFile,
    Variants,
    check_threshold,
    dosage_r2,
    hard_calls,
)
from interplay.readers.genotypes.genotype_table import READER_ARGUMENTS, GenotypeTable, genotype_table, reader_arguments
from interplay.readers.genotypes.people import People, beside, read_people, read_words

_MAGIC = b"\x6c\x1b"

BIM_COLUMNS = ["CHROM", "ID", "CM", "POS", "ALT", "REF"]

_WANTED = ["CHROM", "POS", "ID", "REF", "ALT"]

VARIANT_ENDINGS = (".pvar", ".pvar.zst", ".bim")


class PgenFile(GenotypeFile):
    """An open .pgen file; copies of the alternative allele are counted."""

    def __init__(
        self, path: str | os.PathLike[str], pgenlib: Any, variants: Variants, people: People, threshold: float | None
    ) -> None:
        super().__init__(path, variants, people)
        self._lock = threading.Lock()  # the reader holds one buffer
        self._threshold = threshold
        self._rows: IntArray | None = None
        n_alleles = np.array([2 + alleles.count(",") for alleles in variants.others], dtype=np.uintp)
        offsets = np.concatenate([np.zeros(1, dtype=np.uintp), np.cumsum(n_alleles, dtype=np.uintp)])
        try:
            self._reader = pgenlib.PgenReader(
                os.fsencode(path), raw_sample_ct=self.n_samples, variant_ct=len(variants), allele_idx_offsets=offsets
            )
        except (RuntimeError, OSError) as error:
            raise self._damaged(error) from None

    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes; see `GenotypeFile.codes`."""
        if self._threshold is not None:
            return hard_calls(self._dosages(numbers, rows), self._threshold)
        return self._read(self._reader.read_list, np.int8, numbers, rows).view(np.uint8)  # missing genotypes are -9

    def tallies(self, numbers: IntArray, rows: IntArray | None) -> IntArray:
        """Return counts of genotypes; see `GenotypeFile.tallies`. Few bytes are unpacked for these."""
        if self._threshold is not None or (rows is not None and not (np.diff(rows) > 0).all()):
            return super().tallies(numbers, rows)
        counts = np.empty((len(numbers), 4), dtype=np.uint32)
        with self._lock:
            self._use(rows)
            try:
                for number, entry in zip(numbers.tolist(), counts, strict=True):
                    self._reader.count(number, entry)
            except (RuntimeError, OSError) as error:
                raise self._damaged(error) from None
        return counts.astype(np.int64)

    def info(self, numbers: IntArray, rows: IntArray | None) -> FloatArray:
        """Return the certainty of imputation by the variance of dosages."""
        return dosage_r2(self._dosages(numbers, rows))

    def _dosages(self, numbers: IntArray, rows: IntArray | None) -> npt.NDArray[np.float32]:
        values: npt.NDArray[np.float32] = self._read(self._reader.read_dosages_list, np.float32, numbers, rows)
        values[values < 0] = np.nan  # missing dosages are -9
        return values

    def _read(self, read: Any, dtype: Any, numbers: IntArray, rows: IntArray | None) -> npt.NDArray[Any]:
        if rows is not None and not (np.diff(rows) > 0).all():  # the reader gives people in the order of the file
            return np.ascontiguousarray(self._read(read, dtype, numbers, None)[:, rows])
        values: npt.NDArray[Any] = np.empty((len(numbers), self.n_samples if rows is None else len(rows)), dtype=dtype)
        if len(numbers):
            with self._lock:
                self._use(rows)
                try:
                    read(numbers.astype(np.uint32), values)
                except (RuntimeError, OSError) as error:
                    raise self._damaged(error) from None
        return values

    def _use(self, rows: IntArray | None) -> None:
        """Let the reader give these people only."""
        if rows is not self._rows:
            self._reader.change_sample_subset(None if rows is None else rows.astype(np.uint32))
            self._rows = rows

    def _damaged(self, error: Exception) -> ValueError:
        reason = str(error.args[0] if error.args else error)
        reason = reason[2:-1].replace("\n", "") if reason.startswith(("b'", 'b"')) else reason
        return ValueError(f"{os.fspath(self.path)!r} is not a .pgen file that can be read, or is damaged: {reason}")


@described_by(READER_ARGUMENTS)
def read_pgen(
    path: str | os.PathLike[str],
    *,
    samples: Any = "all",
    variants: Any = "all",
    region: Any = None,
    min_maf: float | None = None,
    max_missing: float | None = None,
    min_info: float | None = None,
    hard_call_threshold: float | None = None,
    multiallelic: str = "error",
    sex_chromosomes: str = "error",
    sample_file: str | os.PathLike[str] | None = None,
    **filters: Any,
) -> GenotypeTable:
    r"""Open a PLINK 2 .pgen file, with .pvar and .psam beside it, as a table for `select`.

    Parameters
    ----------
    path : path
        The .pgen file. A .pvar, .pvar.zst or .bim file and a .psam or .fam file lie beside it.
    ...
    hard_call_threshold
        Take genotypes from dosages: 0, 1 or 2 within this distance, missing otherwise. By default the genotypes that
        PLINK stored, for which it used 0.1.
    sample_file : path, optional
        A .psam or .fam file that does not lie beside the .pgen file.

    Returns
    -------
    GenotypeTable
        Variables are the variants, named as by `read_bed`. Genotypes are copies of the alternative allele.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import interplay, pgenlib
    >>> genotypes = np.random.default_rng(0).integers(0, 3, size=(50, 300)).astype(np.int8)
    >>> ill = (genotypes[10] == 1) ^ (genotypes[20] == 1)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.pgen"
    >>> with pgenlib.PgenWriter(str(path).encode(), 300, variant_ct=50, nonref_flags=False) as writer:
    ...     writer.append_biallelic_batch(genotypes)
    >>> lines = [f"1\t{v + 1}\trs{v}\tA\tG" for v in range(50)]
    >>> _ = path.with_suffix(".pvar").write_text("\n".join(["#CHROM\tPOS\tID\tREF\tALT", *lines, ""]))
    >>> lines = [f"p{i}\t{2 if ill[i] else 1}" for i in range(300)]
    >>> _ = path.with_suffix(".psam").write_text("\n".join(["#IID\tPHENO1", *lines, ""]))
    >>> study = interplay.genetics.read_pgen(path, region="1:5-40", min_maf=0.05)
    >>> sorted(interplay.select(study, "phenotype", dimensions=2, random_state=0).relevant)
    ['rs10', 'rs20']
    """
    arguments = dict(locals())
    with needing("Pgenlib", "genetics", "reading .pgen files needs"):
        import pgenlib
    file = check_file("path", path)
    threshold = None if hard_call_threshold is None else check_threshold(hard_call_threshold)
    of_people = beside(path, (".psam", ".fam")) if sample_file is None else Path(sample_file)
    of_variants = beside(path, VARIANT_ENDINGS)
    people, found = read_people(of_people), read_variants(of_variants)
    _check_counts(file, len(found), of_variants, len(people.ids), of_people)
    return genotype_table(PgenFile(path, pgenlib, found, people, threshold), **reader_arguments(arguments))


def _check_counts(file: Path, n_variants: int, of_variants: Path, n_people: int, of_people: Path) -> None:
    """Refuse a file that is no .pgen, or that has other numbers of variants and people than the files beside it."""
    with file.open("rb") as opened:
        begin = opened.read(11)
    if len(begin) < 11 or begin[:2] != _MAGIC:
        raise ValueError(f"{os.fspath(file)!r} is not a .pgen file: it does not begin as one")
    if begin[2] == 1:
        raise ValueError(f"{os.fspath(file)!r} is a .bed file: name it so")
    in_file = struct.unpack("<II", begin[3:])
    for n, n_beside, what, other in (
        (in_file[0], n_variants, "variants", of_variants),
        (in_file[1], n_people, "people", of_people),
    ):
        if n != n_beside:
            raise ValueError(
                f"{os.fspath(file)!r} has {n} {what}, and {other.name!r} has {n_beside}: the files do not belong "
                "together, or one is damaged"
            )


def read_variants(path: Path) -> Variants:
    """Return the variants of a .pvar or .bim file; the first allele is the reference."""
    what = "a .bim file" if path.suffix == ".bim" else "a .pvar file"
    frame = read_words(path, what, header="#CHROM", without_header=BIM_COLUMNS, wanted=_WANTED)
    with reading(path, what, (ValueError, OverflowError)):
        lacking = [name for name in _WANTED if name not in frame.columns]
        if lacking:
            raise ValueError(f"it has no column {lacking[0]}")
        position = np.array(frame["POS"].tolist()).astype(np.int64)
    texts = {name: np.array(frame[name].tolist(), dtype=object) for name in _WANTED if name != "POS"}
    return Variants(texts["CHROM"], position, texts["ID"], texts["REF"], texts["ALT"])
