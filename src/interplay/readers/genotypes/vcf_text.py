"""VCF files, plain or packed: text → records.

The samples of a line are looked at as one array of bytes. Where all fields are three bytes wide, such as 0/1, the
genotypes are found without looking for the tabs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from interplay.base.checks import shown
from interplay.readers.genotypes.genotype_file import INFO_KEYS, MISSING, Codes, Dosages, VcfRecord

_BEFORE_SAMPLES = 9
_HEADER = b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"

#: Alleles by their bytes: 0, 1, missing; anything else is none.
_MISSING_ALLELE, _NO_ALLELE = 4, 16
_ALLELE = np.full(256, _NO_ALLELE, dtype=np.uint8)
_ALLELE[ord("0")], _ALLELE[ord("1")], _ALLELE[ord(".")] = 0, 1, _MISSING_ALLELE

#: Codes by the sum of two alleles, neither of which is `_NO_ALLELE`.
_CODE = np.full(2 * _NO_ALLELE + 1, MISSING, dtype=np.uint8)
_CODE[:3] = 0, 1, 2

_TAB, _COLON, _SLASH, _BAR = (ord(sign) for sign in "\t:/|")


def _alleles_before(signs: str) -> npt.NDArray[np.uint8]:
    """Return the allele of each pair of bytes: an allele and one of `signs`; all other pairs are none."""
    alleles = np.full((256, 256), _NO_ALLELE, dtype=np.uint8)
    for sign in signs:
        alleles[ord(sign)] = _ALLELE
    return alleles.ravel()  # the first byte is the lower one of a number of two bytes


#: Both halves of a genotype of four bytes, such as "0/1" and a tab.
_FIRST_HALF, _SECOND_HALF = _alleles_before("/|"), _alleles_before("\t")


def read_header(file: BinaryIO, path: Path) -> tuple[list[str], int]:
    """Return the names of the samples and the number of lines of the header."""
    n_lines = 0
    for line in file if file.peek(1)[:1] == b"#" else ():  # type: ignore[attr-defined] # one line may be all there is
        n_lines += 1
        if line.startswith(b"##"):
            continue
        if not line.startswith(_HEADER):
            break
        names = line.rstrip(b"\r\n").decode("utf-8", "replace").split("\t")[_BEFORE_SAMPLES:]
        if not names:
            raise ValueError(f"{os.fspath(path)!r} has no samples: it describes variants without genotypes")
        return names, n_lines
    raise ValueError(f"{os.fspath(path)!r} is not a VCF or BCF file: no line begins with #CHROM, POS, ID, REF, ALT")


def read_records(file: BinaryIO, path: Path, n_samples: int, n_lines: int) -> Iterator[VcfRecord]:
    """Yield the records after the header, which has `n_lines`."""
    for number, line in enumerate(file, n_lines + 1):
        where = f"{os.fspath(path)!r}, line {number}"
        if not line.endswith(b"\n"):
            raise ValueError(f"{where}: the file ends within a line, so it was cut short")
        line = line.rstrip(b"\r\n")
        if not line:
            continue
        parts = line.split(b"\t", _BEFORE_SAMPLES)
        if len(parts) <= _BEFORE_SAMPLES:
            raise ValueError(f"{where} has {len(parts)} fields, fewer than the header: the file is damaged")
        words = [part.decode("utf-8", "replace") for part in parts[:5]]
        if not words[1].isdecimal():
            raise ValueError(f"{where}: the position {shown(words[1])} is not a number")
        fields = tuple(parts[8].decode("utf-8", "replace").split(":"))
        yield VcfRecord(
            words[0], int(words[1]), words[2], words[3], words[4], fields,
            partial(_genotypes, parts[9], n_samples, where),
            partial(_dosages, parts[9], fields.index("DS") if "DS" in fields else -1, n_samples, where),
            partial(_info, parts[7]),
        )  # fmt: skip


def _genotypes(text: bytes, n_samples: int, where: str) -> Codes:
    if len(text) == 4 * n_samples - 1:
        halves = np.frombuffer(text + b"\t", dtype="<u2").reshape(n_samples, 2)
        total = _FIRST_HALF[halves[:, 0]] + _SECOND_HALF[halves[:, 1]]
        if total.max() < _NO_ALLELE:
            quick: Codes = _CODE[total]
            return quick
    # A field of one sign still has three signs after it, also at the end.
    signs = np.frombuffer(text + b"\t\t\t\t", dtype=np.uint8)
    ends = np.flatnonzero(signs == _TAB)[:-3]
    if len(ends) != n_samples:
        raise ValueError(f"{where} has {len(ends)} samples, and the header has {n_samples}: the file is damaged")
    starts = np.concatenate([[0], ends[:-1] + 1])
    first, second, third = signs[starts], signs[starts + 1], signs[starts + 2]
    is_haploid = (second == _TAB) | (second == _COLON)
    after = np.where(is_haploid, second, signs[starts + 3])
    is_right = (is_haploid | _is_separator(second)) & ((after == _TAB) | (after == _COLON))
    if not is_right.all():
        sample = int(np.argmin(is_right))
        given = text[starts[sample] : ends[sample]].decode("utf-8", "replace")
        raise ValueError(f"{where}: {shown(given)} (sample {sample + 1}) is not a genotype of one or two alleles")
    # One copy counts as two, as in PLINK: 0 and 2.
    return _codes(first, np.where(is_haploid, first, third), where)


def _codes(first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8], where: str) -> Codes:
    total = _ALLELE[first] + _ALLELE[second]
    if total.max() >= _NO_ALLELE:
        sample = int(total.argmax())
        raise ValueError(f"{where}: sample {sample + 1} has an allele that the record does not have")
    codes: Codes = _CODE[total]
    return codes


def _is_separator(signs: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (signs == _SLASH) | (signs == _BAR)
    return found


def _dosages(text: bytes, place: int, n_samples: int, where: str) -> Dosages:
    samples = text.split(b"\t")
    if len(samples) != n_samples:
        raise ValueError(f"{where} has {len(samples)} samples, and the header has {n_samples}: the file is damaged")
    dosages = np.full(n_samples, np.nan)
    for number, sample in enumerate(samples):
        entries = sample.split(b":")
        if place >= len(entries) or entries[place] == b".":
            continue
        try:
            dosages[number] = float(entries[place])
        except ValueError:
            given = entries[place].decode("utf-8", "replace")
            raise ValueError(f"{where}: the dosage {shown(given)} (sample {number + 1}) is not a number") from None
    return dosages


def _info(text: bytes) -> float:
    entries = dict(entry.partition("=")[::2] for entry in text.decode("utf-8", "replace").split(";"))
    for key in INFO_KEYS:
        if key in entries:
            try:
                return float(entries[key])
            except ValueError:
                return float("nan")
    return float("nan")
