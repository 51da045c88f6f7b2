"""BGEN files, with a .sample file."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from interplay.base.arguments import described_by
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_file
from interplay.readers.genotypes.bgen_block import (
    CodesOfUnits,
    DamagedBlock,
    Dosages,
    Probabilities,
    dosages_of,
    largest_size,
    read_layout_1,
    read_layout_2,
    unpacked_block,
)
from interplay.readers.genotypes.bgen_index import BgenIndex, read_index
from interplay.readers.genotypes.genotype_file import GenotypeFile, only
from interplay.readers.genotypes.genotype_table import READER_ARGUMENTS, GenotypeTable, genotype_table
from interplay.readers.genotypes.hard_calls import (
    DEFAULT_THRESHOLD,
    Codes,
    check_threshold,
    dosage_r2,
    hard_calls,
)
from interplay.readers.genotypes.people import People, matched_people, read_people


class BgenFile(GenotypeFile):
    """An open BGEN file; copies of the second allele are counted."""

    def __init__(self, path: Path, index: BgenIndex, people: People, threshold: float) -> None:
        super().__init__(path, index.variants, people)
        self._index = index
        self._threshold = threshold
        self._codes_of = CodesOfUnits(threshold)
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()  # of the place in the file; unpacking is done by several threads at once

    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes; see `GenotypeFile.codes`."""
        codes = np.empty((len(numbers), self.n_samples), dtype=np.uint8)
        for place, number in enumerate(numbers.tolist()):
            try:
                found = self._found(number)
                quick = self._codes_of.of(found) if isinstance(found, Probabilities) else None
                if quick is None:
                    dosages = dosages_of(found) if isinstance(found, Probabilities) else found
                    quick = hard_calls(dosages, self._threshold)
                codes[place] = quick
            except DamagedBlock as error:
                raise self._damaged(number, error) from None
        chosen: Codes = only(codes, rows)
        return chosen

    def info(self, numbers: IntArray, rows: IntArray | None) -> FloatArray:
        """Return the certainty of imputation by the variance of dosages."""
        found = np.empty(len(numbers))
        for place, number in enumerate(numbers.tolist()):
            try:
                block = self._found(number)
                dosages = dosages_of(block) if isinstance(block, Probabilities) else block
            except DamagedBlock as error:
                raise self._damaged(number, error) from None
            found[place] = dosage_r2(only(dosages[None, :], rows))[0]
        return found

    def _found(self, number: int) -> Probabilities | Dosages:
        index = self._index
        size, unpacked_size = int(index.size[number]), int(index.unpacked_size[number])
        if unpacked_size > largest_size(self.n_samples):
            raise DamagedBlock("it says that it is larger than it can be")
        with self._lock:
            self._file.seek(int(index.start[number]))
            content = self._file.read(size)
        if len(content) < size:
            raise DamagedBlock("the file was cut short")
        content = unpacked_block(content, index.packing, unpacked_size)
        if index.layout == 1:
            return read_layout_1(content, self.n_samples)
        return read_layout_2(content, self.n_samples)

    def _damaged(self, number: int, error: Exception) -> ValueError:
        return ValueError(f"{os.fspath(self.path)!r} is damaged: variant {number + 1} cannot be read, because {error}")


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
    file = check_file("path", path)
    threshold = check_threshold(hard_call_threshold)
    index = read_index(file)
    opened = BgenFile(file, index, _people(file, index, sample_file), threshold)
    return genotype_table(
        opened,
        samples=samples,
        variants=variants,
        region=region,
        min_maf=min_maf,
        max_missing=max_missing,
        min_info=min_info,
        multiallelic=multiallelic,
        sex_chromosomes=sex_chromosomes,
    )


def _people(file: Path, index: BgenIndex, sample_file: str | os.PathLike[str] | None) -> People:
    """Return the people of a file, by their IDs in it or by the order of the .sample file."""
    beside = file.with_suffix(".sample")
    if sample_file is None and beside.exists():
        sample_file = beside
    if sample_file is None:
        if index.ids is not None:
            return People(np.array(index.ids, dtype=object))
        return People(np.array([f"sample {i}" for i in range(index.n_samples)], dtype=object), are_named=False)
    described = read_people(sample_file)
    if index.ids is not None:
        return matched_people(np.array(index.ids, dtype=object), described, file, sample_file)
    if len(described.ids) != index.n_samples:
        raise ValueError(
            f"{os.fspath(file)!r} has {index.n_samples} samples without IDs, and {os.fspath(sample_file)!r} has "
            f"{len(described.ids)}: give the .sample file that belongs to it"
        )
    return described
