"""PLINK .bed files: tables of people by genotypes, read a block of variants at a time; positions of variants."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import IntArray
from interplay.base.checks import check_file, needing, reading, shown
from interplay.readers.csv_table import read_csv
from interplay.study.columns import ColumnKind
from interplay.study.table import Table, Values, Which

#: PLINK's codes of an unknown phenotype. 0 is such a code only if all known phenotypes are 1 or 2.
_UNKNOWN_PHENOTYPES = ("-9", "NA", "na", "nan", "")

_BIM_COLUMNS = ["chromosome", "variable", "morgans", "position", "allele_1", "allele_2"]


class BedTable(Table):
    """The genotypes of a .bed file: how many copies of allele 1 each person has, 0, 1 or 2, NaN where missing.

    The file stays where it is. Each reading takes one block of variants.

    Attributes
    ----------
    sample_names : (n_samples,) array of str
        Individual IDs of the .fam file.
    sample_columns : dict
        "phenotype", "sex" and "family" of each person, from the .fam file: `select` takes these names for y and
        strata. Phenotypes 1 and 2 are "control" and "case"; None or NaN where not known.
    """

    def __init__(self, bed: Any, samples: IntArray, variants: IntArray, names: list[str]) -> None:
        kinds = np.full(len(names), ColumnKind.NUMBER, dtype=np.int8)
        super().__init__(len(samples), names, kinds, np.dtype(np.float32))
        self._bed = bed
        self._rows = slice(None) if len(samples) == bed.iid_count and _is_range(samples) else samples
        self._variants = variants
        self.sample_names = np.asarray(bed.iid)[samples]
        self.sample_columns = {
            "phenotype": _phenotypes(np.asarray(bed.pheno))[samples],
            "sex": np.array([None, "male", "female"], dtype=object)[np.clip(np.asarray(bed.sex), 0, 2)][samples],
            "family": np.asarray(bed.fid)[samples],
        }

    @property
    def phenotype(self) -> npt.NDArray[Any]:
        """Of each person: "case", "control" or None; or a number, NaN where not known."""
        phenotype: npt.NDArray[Any] = self.sample_columns["phenotype"]
        return phenotype

    @property
    def positions(self) -> list[tuple[str, float]]:
        """Chromosome and base pair of each variant, from the .bim file."""
        chromosomes = np.asarray(self._bed.chromosome)[self._variants].tolist()
        base_pairs = np.asarray(self._bed.bp_position)[self._variants].tolist()
        return [(str(c), float(at)) for c, at in zip(chromosomes, base_pairs, strict=True)]

    def columns(self, which: Which) -> Values:
        """Return the chosen variants; see `Table.columns`."""
        chosen = self._variants[which]
        wanted = slice(int(chosen[0]), int(chosen[-1]) + 1) if len(chosen) and _is_range(chosen) else chosen
        # One thread, since callers read several blocks at once.
        values = self._bed.read(index=(self._rows, wanted), dtype="float32", order="F", num_threads=1)
        return np.ascontiguousarray(values.T)


def read_bed(path: str | os.PathLike[str], *, samples: Any = "all", variants: Any = "all") -> BedTable:
    """Open a PLINK .bed file, with its .bim and .fam beside it, as a table for `select`.

    Parameters
    ----------
    path : path
        The .bed file.
    samples : "all", "phenotyped", mask, or list of individual IDs or numbers
        People to keep; "phenotyped" are those whose phenotype is known.
    variants : "all", mask, or list of variant IDs or numbers
        Variants to keep.

    Returns
    -------
    BedTable
        Variables are the variants, named by their IDs; those whose ID is "." or not unique by
        chromosome:position:allele1:allele2. Genotypes have three levels; for missing ones, `select` needs
        ``missing="impute"`` or ``missing="level"``, and `interactions` also has ``missing="omit"``.

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
    for beside in (".bim", ".fam"):
        check_file("path", file.with_suffix(beside))
    with reading(path, "a .bed file that can be read", (ValueError, OSError)):
        bed = open_bed(file)
        all_names = np.asarray(bed.sid)
        _ = bed.iid
    if isinstance(samples, str) and samples == "phenotyped":
        samples = ~_is_unknown(_phenotypes(np.asarray(bed.pheno)))
    kept_samples = _numbers("samples", samples, np.asarray(bed.iid), "'all', 'phenotyped'")
    kept_variants = _numbers("variants", variants, all_names, "'all'")
    table = BedTable(bed, kept_samples, kept_variants, _variant_names(bed, kept_variants))
    table.samples_left_out = len(bed.iid) - len(kept_samples)
    return table


def _phenotypes(words: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return PLINK's sixth column as cases and controls, or as numbers."""
    if set(np.unique(words).tolist()) <= {"0", "1", "2", *_UNKNOWN_PHENOTYPES}:
        meaning = {"1": "control", "2": "case"}
        return np.array([meaning.get(str(word)) for word in words], dtype=object)
    try:
        return np.array([np.nan if str(word) in _UNKNOWN_PHENOTYPES else float(word) for word in words])
    except ValueError:
        return words.astype(object)


def _is_unknown(phenotypes: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.array([value is None or value != value for value in phenotypes], dtype=np.bool_)


def _variant_names(bed: Any, kept: IntArray) -> list[str]:
    names: list[str] = np.asarray(bed.sid)[kept].tolist()
    if len(set(names)) == len(names) and "." not in names:
        return names
    count = Counter(names)
    unclear = [i for i, name in enumerate(names) if name == "." or count[name] > 1]
    parts = [np.asarray(part) for part in (bed.chromosome, bed.bp_position, bed.allele_1, bed.allele_2)]
    for i in unclear:
        names[i] = ":".join(str(part[kept[i]]) for part in parts)
    if len(set(names)) < len(names):
        repeated = next(name for name, number in Counter(names).items() if number > 1)
        raise ValueError(f"the .bim file has more than one variant {shown(repeated)}: give each an ID of its own")
    return names


def _numbers(argument: str, chosen: Any, names: npt.NDArray[Any], words: str) -> IntArray:
    """Return the numbers of the samples or variants that a mask, IDs or numbers choose."""
    n = len(names)
    wanted = f"{words}, a mask, or a list of IDs or numbers"
    if isinstance(chosen, str):
        if chosen != "all":
            raise ValueError(f"{argument} must be {wanted}, not {shown(chosen)}")
        return np.arange(n)
    listed = np.asarray(chosen)
    if listed.ndim != 1:
        raise TypeError(f"{argument} must be {wanted}, not {shown(chosen)}")
    if listed.dtype == np.bool_:
        if len(listed) != n:
            raise ValueError(f"{argument}, as a mask, must have {n} entries, not {len(listed)}")
        numbers = np.flatnonzero(listed)
    elif listed.dtype.kind in "UO":
        number_of = {str(name): number for number, name in enumerate(names)}
        unknown = [str(name) for name in listed if str(name) not in number_of]
        if unknown:
            raise ValueError(f"{argument} names {shown(unknown[0])}, which is not in the file")
        numbers = np.array([number_of[str(name)] for name in listed], dtype=np.int64)
    elif listed.dtype.kind in "iu":
        if len(listed) and not (listed.min() >= 0 and listed.max() < n):
            raise ValueError(f"{argument} must be numbers from 0 to {n - 1}")
        numbers = listed.astype(np.int64)
    else:
        raise TypeError(f"{argument} must be {wanted}, not {shown(chosen)}")
    if not len(numbers):
        raise ValueError(f"{argument} leaves nothing: keep at least one")
    return numbers


def _is_range(numbers: IntArray) -> bool:
    return bool((np.diff(numbers) == 1).all())


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
