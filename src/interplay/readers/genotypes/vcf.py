"""VCF and BCF files: read once from the beginning, with the genotypes kept as two bits each in a temporary file."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from interplay.base.arguments import described_by
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_file
from interplay.readers.genotypes import bcf, vcf_text
from interplay.readers.genotypes.filters import Region, plain_name, regions_of
from interplay.readers.genotypes.genotype_file import (
    DEFAULT_THRESHOLD,
    MISSING,
    Codes,
    GenotypeFile,
    PackedGenotypes,
    Variants,
    VcfRecord,
    check_threshold,
    dosage_r2,
    hard_calls,
    only,
)
from interplay.readers.genotypes.genotype_table import (
    READER_ARGUMENTS,
    GenotypeTable,
    genotype_table,
    no_phenotype,
    reader_arguments,
)
from interplay.readers.genotypes.people import People, matched_people, read_people

#: The empty block at the end of every file of bgzip: without it, the file is cut short.
_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")

_BUFFER_BYTES = 2**20


class VcfFile(GenotypeFile):
    """The genotypes of a VCF or BCF file; copies of the alternative allele are counted.

    Variants outside of `regions` are left out. With a `threshold`, genotypes come from dosages (DS), otherwise from GT
    or, where a record has no GT, from DS.
    """

    def __init__(self, path: Path, regions: list[Region] | None, threshold: float | None, with_info: bool) -> None:
        rows: list[tuple[str, int, str, str, str]] = []
        places: list[int] = []
        info: list[float] = []
        with _records(path) as (names, records):
            self._packed = PackedGenotypes(len(names))
            for record in records:
                if regions is not None and not _is_inside(record, regions):
                    continue
                rows.append((record.chromosome, record.position, record.id, record.first, record.others))
                if "," in record.others:  # refused or left out by genotype_table
                    places.append(-1)
                    info.append(np.nan)
                    continue
                places.append(self._packed.n_variants)
                codes, certainty = _decoded(record, threshold, path, len(names), with_info)
                self._packed.append(codes)
                info.append(certainty)
        self._packed.flush()
        if not rows:
            where = "" if regions is None else " in the region"
            raise ValueError(f"{os.fspath(path)!r} has no variants{where}")
        chromosome, position, ids, first, others = zip(*rows, strict=True)
        texts = [np.array(part, dtype=object) for part in (chromosome, ids, first, others)]
        variants = Variants(texts[0], np.array(position, dtype=np.int64), *texts[1:])
        self._places, self._info = np.array(places, dtype=np.int64), np.array(info)
        super().__init__(path, variants, People(np.array(names, dtype=object)))

    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes; see `GenotypeFile.codes`."""
        codes: Codes = only(self._packed.read(self._places[numbers]), rows)
        return codes

    def info(self, numbers: IntArray, rows: IntArray | None) -> FloatArray:
        """Return the certainty of imputation in all people of the file."""
        found: FloatArray = self._info[numbers]
        if np.isnan(found).all():
            raise ValueError(
                f"min_info cannot be used with {os.fspath(self.path)!r}, which has neither dosages (DS) nor R2, DR2 or "
                "INFO: leave it out"
            )
        return found


@described_by(READER_ARGUMENTS)
def read_vcf(
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
    r"""Read a .vcf, .vcf.gz or .bcf file as a table for `select`.

    The file is read once, variant by variant. Genotypes are then kept in a temporary file, two bits each, in the folder
    of `tempfile.gettempdir`.

    Parameters
    ----------
    path : path
    ...
    samples
        People to keep; "phenotyped" are those whose phenotype is known from `sample_file`.
    variants
        Variants to keep; numbers count the variants within `region`.
    min_info
        Lowest certainty of imputation: R2, DR2 or INFO of the record, or the variance of its dosages over that of
        genotypes in Hardy–Weinberg equilibrium (MaCH's r²).
    hard_call_threshold
        Take genotypes from the dosages DS: 0, 1 or 2 within this distance, missing otherwise. By default genotypes are
        those of GT; a record without GT has genotypes from DS within 0.1.
    sex_chromosomes
        Variants of X, Y and MT are refused, left out with a warning, or taken as they are written; one copy then counts
        as two, as in PLINK.
    sample_file : path, optional
        A .psam, .fam or .sample file with phenotypes of the people, matched by their IDs.

    Returns
    -------
    GenotypeTable
        Variables are the variants, named by their IDs or, where an ID is "." or not unique, by
        chromosome:position:first:other allele. Genotypes are copies of the alternative allele. A genotype with one
        missing allele is missing. Records count whatever their FILTER says.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import interplay
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.vcf"
    >>> columns = "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT".split()
    >>> lines = ["##fileformat=VCFv4.3", "\t".join([*columns, "ann", "bo", "cy"])]
    >>> lines += ["\t".join(["1", "10", "rs1", "A", "G", ".", ".", ".", "GT", "0/0", "0|1", "./."]), ""]
    >>> _ = path.write_text("\n".join(lines))
    >>> study = interplay.genetics.read_vcf(path)
    >>> study.names, study.sample_names.tolist(), study.block(0, 1).tolist()
    (['rs1'], ['ann', 'bo', 'cy'], [[0.0, 1.0, nan]])
    """
    arguments = dict(locals())
    file = check_file("path", path)
    if isinstance(samples, str) and samples == "phenotyped" and sample_file is None:
        raise no_phenotype(path, [])
    threshold = None if hard_call_threshold is None else check_threshold(hard_call_threshold)
    opened = VcfFile(file, None if region is None else regions_of(region), threshold, min_info is not None)
    if sample_file is not None:
        opened.people = matched_people(opened.people.ids, read_people(sample_file), path, sample_file)
    return genotype_table(opened, **reader_arguments(arguments))


@contextmanager
def _records(path: Path) -> Iterator[tuple[list[str], Iterator[VcfRecord]]]:
    """Open a file as the names of its samples and its records, by its first bytes."""
    with unpacked_stream(path) as file:
        if file.peek(4)[:3] == b"BCF":  # type: ignore[attr-defined]
            header = bcf.read_header(file, path)
            yield header.samples, bcf.read_records(file, path, header)
        else:
            names, n_lines = vcf_text.read_header(file, path)
            yield names, vcf_text.read_records(file, path, len(names), n_lines)


def _is_inside(record: VcfRecord, regions: list[Region]) -> bool:
    chromosome = plain_name(record.chromosome)
    return any(chromosome == region.chromosome and region.first <= record.position <= region.last for region in regions)


def _decoded(
    record: VcfRecord, threshold: float | None, path: Path, n_samples: int, with_info: bool
) -> tuple[Codes, float]:
    """Return the codes of a record, and its certainty of imputation if it is wanted."""
    has_dosages = "DS" in record.fields
    if threshold is not None and not has_dosages:
        raise ValueError(
            f"hard_call_threshold cannot be used with {os.fspath(path)!r}: variant {record.id} "
            f"({record.chromosome}:{record.position}) has no dosages (DS)"
        )
    certainty = record.info() if with_info else np.nan
    if threshold is None and "GT" in record.fields:
        codes = record.genotypes()
        if with_info and has_dosages and np.isnan(certainty):
            certainty = float(dosage_r2(record.dosages()[None, :])[0])
        return codes, certainty
    if not has_dosages:
        return np.full(n_samples, MISSING, dtype=np.uint8), certainty
    dosages = record.dosages()
    if with_info and np.isnan(certainty):
        certainty = float(dosage_r2(dosages[None, :])[0])
    return hard_calls(dosages, DEFAULT_THRESHOLD if threshold is None else threshold), certainty


@contextmanager
def unpacked_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a file that may be packed; errors of unpacking become one line."""
    with path.open("rb") as file:
        begin = file.read(18)
        if begin[:2] != b"\x1f\x8b":
            file.seek(0)
            yield cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, file), _BUFFER_BYTES))
            return
        if begin[3:4] == b"\x04" and begin[12:14] == b"BC":
            file.seek(-min(len(_END), os.path.getsize(path)), os.SEEK_END)
            if file.read() != _END:
                raise ValueError(f"{os.fspath(path)!r} is damaged: its end is missing, so it was cut short")
        file.seek(0)
        try:
            with gzip.GzipFile(fileobj=file) as packed:
                yield cast(BinaryIO, io.BufferedReader(packed, _BUFFER_BYTES))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{os.fspath(path)!r} is damaged: {error}") from None
