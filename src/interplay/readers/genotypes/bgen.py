"""BGEN files, with a .sample file; the package bgen decodes them."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import described_by
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_file, needing
from interplay.readers.genotypes.genotype_file import (
    DEFAULT_THRESHOLD,
    Codes,
    GenotypeFile,
    Variants,
    check_threshold,
    dosage_r2,
    hard_calls,
    only,
)
from interplay.readers.genotypes.genotype_table import READER_ARGUMENTS, GenotypeTable, genotype_table, reader_arguments
from interplay.readers.genotypes.people import People, matched_people, read_people

if TYPE_CHECKING:
    from bgen import BgenReader, BgenVar

#: Errors of the package; names that are no text are ValueErrors.
_DAMAGED = (ValueError, IndexError, OverflowError, MemoryError, RuntimeError, OSError)


class BgenFile(GenotypeFile):
    """An open BGEN file; copies of the second allele are counted."""

    def __init__(self, path: Path, threshold: float, sample_file: str | os.PathLike[str] | None) -> None:
        with needing("bgen", "genetics", "reading BGEN files needs"):
            from bgen import BgenReader

        class WithoutIndex(BgenReader):
            """A reader for all threads: an index (.bgi) is for one, and could be that of another file."""

            def _check_for_index(self, bgen_path: str) -> bool:
                return False

        try:
            with _log_as_errors():
                # The whole path: "-" alone is the standard input.
                self._reader = WithoutIndex(os.path.abspath(path), delay_parsing=False)
            variants = _variants(self._reader)
        except _DAMAGED as error:
            raise ValueError(f"{os.fspath(path)!r} is not a BGEN file, or is damaged: {error}") from None
        if not len(variants) or not self._reader.header.nsamples:
            raise ValueError(f"{os.fspath(path)!r} has no {'samples' if len(variants) else 'variants'}")
        super().__init__(path, variants, _people(path, self._reader, sample_file))
        self._threshold = threshold
        self._lock = threading.Lock()  # the reader has one place in the file

    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes; see `GenotypeFile.codes`."""
        codes = np.empty((len(numbers), self.n_samples if rows is None else len(rows)), dtype=np.uint8)
        for place, dosages in enumerate(self._dosages(numbers)):
            codes[place] = hard_calls(dosages if rows is None else dosages[rows], self._threshold)
        return codes

    def info(self, numbers: IntArray, rows: IntArray | None) -> FloatArray:
        """Return the certainty of imputation by the variance of dosages."""
        return np.array([dosage_r2(only(dosages[None, :], rows))[0] for dosages in self._dosages(numbers)])

    def _dosages(self, numbers: IntArray) -> Iterator[npt.NDArray[np.float32]]:
        """Yield dosages of the second allele, NaN where missing; one copy counts as two, as in PLINK."""
        with self._lock, _log_as_errors():
            for number in numbers.tolist():
                try:
                    variant = self._reader[number]
                    dosages, copies = variant.alt_dosage, variant.ploidy & 63  # the highest bit: missing
                except _DAMAGED as error:
                    raise ValueError(
                        f"{os.fspath(self.path)!r} is damaged: variant {number + 1} cannot be read, because {error}"
                    ) from None
                if (copies != 2).any():
                    dosages = np.where(copies == 1, 2 * dosages, np.where(copies == 2, dosages, np.float32(np.nan)))
                yield dosages


@contextmanager
def _log_as_errors() -> Iterator[None]:
    """Raise ValueError where the package logs that probabilities of a genotype exceed 1 together.

    It logs by the root logger, which would get a handler if it had none.
    """
    thread, log, nowhere = threading.get_ident(), logging.getLogger(), logging.NullHandler()

    def refuse(record: logging.LogRecord) -> bool:
        if threading.get_ident() == thread and record.levelno >= logging.WARNING:
            raise ValueError("probabilities of genotypes are larger than 1 together")
        return True

    log.addHandler(nowhere)
    log.addFilter(refuse)
    try:
        yield
    finally:
        log.removeFilter(refuse)
        log.removeHandler(nowhere)


def _variants(reader: BgenReader) -> Variants:
    def described(one: BgenVar) -> tuple[str, int, str, str, str]:
        name = one.rsid if one.rsid not in (".", "") else one.varid
        return one.chrom, one.pos, name or ".", one.alleles[0], ",".join(one.alleles[1:])

    rows = [described(one) for one in reader]
    chromosomes, ids, first, others = (np.array([row[i] for row in rows], dtype=object) for i in (0, 2, 3, 4))
    return Variants(chromosomes, np.array([row[1] for row in rows], dtype=np.int64), ids, first, others)


@described_by(READER_ARGUMENTS)
def read_bgen(
    path: str | os.PathLike[str],
    *,
    samples: Any = "all",
    variants: Any = "all",
    region: Any = None,
    min_maf: float | None = None,
    max_missing: float | None = None,
    min_info: float | None = None,
    hard_call_threshold: float = DEFAULT_THRESHOLD,
    multiallelic: str = "error",
    sex_chromosomes: str = "error",
    sample_file: str | os.PathLike[str] | None = None,
    **filters: Any,
) -> GenotypeTable:
    """Open a BGEN file (versions 1.1 to 1.3) as a table for `select`.

    Parameters
    ----------
    path : path
        The .bgen file. An index file (.bgi) is not needed.
    ...
    hard_call_threshold : float
        ...
    sex_chromosomes
        Variants of X, Y and MT are refused, left out with a warning, or taken as they are written; one copy then counts
        as two, as in PLINK.
    sample_file : path, optional
        The .sample file, or a .psam or .fam file, if it does not lie beside the .bgen file. People are matched by their
        IDs; if the .bgen file has no IDs, by their order.

    Returns
    -------
    GenotypeTable
        Variables are the variants, named by their IDs or, where an ID is "." or not unique, by
        chromosome:position:first:second allele. Genotypes are copies of the second allele.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import bgen, interplay
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.bgen"
    >>> probabilities = np.array([[1, 0, 0], [0.02, 0.95, 0.03], [0.5, 0.5, 0]])
    >>> with bgen.BgenWriter(str(path), 3, samples=["ann", "bo", "cy"]) as file:
    ...     file.add_variant("id1", "rs1", "1", 10, ["A", "G"], probabilities)
    >>> study = interplay.genetics.read_bgen(path)
    >>> study.names, study.sample_names.tolist(), study.block(0, 1).tolist()
    (['rs1'], ['ann', 'bo', 'cy'], [[0.0, 1.0, nan]])
    """
    arguments = dict(locals())
    file = check_file("path", path)
    threshold = check_threshold(hard_call_threshold)
    return genotype_table(BgenFile(file, threshold, sample_file), **reader_arguments(arguments))


def _people(file: Path, reader: BgenReader, sample_file: str | os.PathLike[str] | None) -> People:
    """Return the people of a file, by their IDs in it or by the order of the .sample file."""
    beside, n_samples = file.with_suffix(".sample"), reader.header.nsamples
    ids = np.array(reader.samples, dtype=object) if reader.header.has_sample_ids else None
    if sample_file is None and beside.exists():
        sample_file = beside
    if sample_file is None:
        if ids is not None:
            return People(ids)
        return People(np.array([f"sample {i}" for i in range(n_samples)], dtype=object), are_named=False)
    described = read_people(sample_file)
    if ids is not None:
        return matched_people(ids, described, file, sample_file)
    if len(described.ids) != n_samples:
        raise ValueError(
            f"{os.fspath(file)!r} has {n_samples} samples without IDs, and {os.fspath(sample_file)!r} has "
            f"{len(described.ids)}: give the .sample file that belongs to it"
        )
    return described
