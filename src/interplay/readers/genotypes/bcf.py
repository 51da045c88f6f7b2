"""BCF files: binary records → the records of a VCF file.

The layout is that of the VCF specification, section 6: typed values, with names of contigs and fields as numbers.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.readers.genotypes.genotype_file import INFO_KEYS, MISSING, Codes, Dosages, VcfRecord

_MAGIC = b"BCF\x02"
_TYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype("<i1"),
    2: np.dtype("<i2"),
    3: np.dtype("<i4"),
    5: np.dtype("<f4"),
    7: np.dtype("S1"),
}
_MISSING_FLOAT = 0x7F800001

#: A pair of bytes that is no genotype of two alleles.
_NO_PAIR = 255


def _codes_of_pairs() -> npt.NDArray[np.uint8]:
    """Return the code of each pair of bytes that is a genotype of two alleles; see `_genotypes`."""
    byte = np.arange(256)
    allele = np.where(byte < 6, (byte >> 1) - 1, 9)
    first, second = allele[None, :], allele[:, None]
    codes = np.where((first < 0) | (second < 0), MISSING, first + second)
    return np.where((first > 1) | (second > 1), _NO_PAIR, codes).astype(np.uint8).ravel()


_CODE_OF_PAIR = _codes_of_pairs()

#: Larger headers and records are signs of damage.
_MAX_BYTES = 2**31 - 1

_LINE = re.compile(r"##(contig|FILTER|INFO|FORMAT)=<(.*)>")


class BcfHeader(NamedTuple):
    """Names of the samples, and the names that stand behind the numbers in records."""

    samples: list[str]
    contigs: dict[int, str]
    words: dict[int, str]


def read_header(file: BinaryIO, path: Path) -> BcfHeader:
    """Return the header of a BCF file."""
    begin = file.read(9)
    if len(begin) < 9 or begin[:4] != _MAGIC:
        raise ValueError(f"{os.fspath(path)!r} is not a BCF file of version 2: it does not begin as one")
    (length,) = struct.unpack("<I", begin[5:])
    text = file.read(min(length, _MAX_BYTES))
    if len(text) < length:
        raise ValueError(f"{os.fspath(path)!r} is damaged: its header is cut short")
    lines = text.rstrip(b"\0").decode("utf-8", "replace").splitlines()
    contigs: dict[int, str] = {}
    words = {0: "PASS"}
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        name = re.search(r"(?:^|,)ID=([^,]+)", found[2])
        if name is None:
            continue
        index = re.search(r",IDX=(\d+)", found[2])
        known = contigs if found[1] == "contig" else words
        if index is not None:
            known[int(index[1])] = name[1]
        elif name[1] not in known.values():
            known[len(known)] = name[1]
    last = lines[-1].split("\t") if lines else []
    if last[:1] != ["#CHROM"]:
        raise ValueError(f"{os.fspath(path)!r} is damaged: its header has no line of samples")
    if len(last) < 10:
        raise ValueError(f"{os.fspath(path)!r} has no samples: it describes variants without genotypes")
    return BcfHeader(last[9:], contigs, words)


def read_records(file: BinaryIO, path: Path, header: BcfHeader) -> Iterator[VcfRecord]:
    """Yield the records after the header."""
    number = 0
    while begin := file.read(8):
        number += 1
        where = f"{os.fspath(path)!r}, record {number}"
        lengths = struct.unpack("<II", begin) if len(begin) == 8 else (_MAX_BYTES, 0)
        n_bytes = sum(lengths)
        content = file.read(n_bytes) if n_bytes <= _MAX_BYTES else b""
        if len(content) < n_bytes or lengths[0] < 24:
            raise ValueError(f"{where}: the file is damaged or cut short")
        try:
            record = _record(content, lengths[0], header, where)
        except (struct.error, KeyError, IndexError, TypeError, UnicodeDecodeError, OverflowError):
            raise ValueError(f"{where}: the record cannot be read, so the file is damaged") from None
        yield record


def _record(content: bytes, n_shared: int, header: BcfHeader, where: str) -> VcfRecord:
    contig, position, _, _, n_allele_info, n_fmt_sample = struct.unpack_from("<iiifII", content)
    n_alleles, n_fields, n_samples = n_allele_info >> 16, n_fmt_sample >> 24, n_fmt_sample & 0xFFFFFF
    if n_samples != len(header.samples):
        raise ValueError(f"{where} has {n_samples} samples, and the header has {len(header.samples)}")
    at = 24
    name, at = _text(content, at)
    alleles = []
    for _ in range(n_alleles):
        allele, at = _text(content, at)
        alleles.append(allele)
    fields, at_field = {}, n_shared
    for _ in range(n_fields):
        key, at_field = _value(content, at_field)
        n, dtype, at_field = _description(content, at_field)
        fields[header.words[int(key[0])]] = (n, dtype, at_field)
        at_field += n * dtype.itemsize * n_samples
    if at > n_shared or at_field > len(content):
        raise IndexError
    return VcfRecord(
        header.contigs[contig], position + 1, name or ".", alleles[0], ",".join(alleles[1:]) or ".", tuple(fields),
        partial(_genotypes, content, fields.get("GT"), n_samples, where),
        partial(_dosages, content, fields.get("DS"), n_samples, where),
        partial(_info, content, at, n_allele_info & 0xFFFF, header.words, where),
    )  # fmt: skip


def _description(content: bytes, at: int) -> tuple[int, np.dtype[Any], int]:
    """Return the number of values, their type, and where they begin."""
    byte = content[at]
    n, dtype, at = byte >> 4, _TYPES.get(byte & 15, _TYPES[1]), at + 1
    if byte & 15 not in _TYPES and n > 0:
        raise TypeError
    if n == 15:
        value, at = _value(content, at)
        n = int(value[0])
        if n < 0:
            raise IndexError
    return n, dtype, at


def _value(content: bytes, at: int) -> tuple[npt.NDArray[Any], int]:
    n, dtype, at = _description(content, at)
    end = at + n * dtype.itemsize
    if end > len(content):
        raise IndexError
    return np.frombuffer(content, dtype=dtype, count=n, offset=at), end


def _text(content: bytes, at: int) -> tuple[str, int]:
    value, end = _value(content, at)
    return value.tobytes().rstrip(b"\0").decode(), end


def _array(content: bytes, field: tuple[int, np.dtype[Any], int], n_samples: int) -> npt.NDArray[Any]:
    n, dtype, at = field
    return np.frombuffer(content, dtype=dtype, count=n * n_samples, offset=at).reshape(n_samples, n)


def _genotypes(content: bytes, field: tuple[int, np.dtype[Any], int] | None, n_samples: int, where: str) -> Codes:
    if field is None or field[0] == 0:
        return np.full(n_samples, MISSING, dtype=np.uint8)
    if field[:2] == (2, _TYPES[1]):
        codes: Codes = _CODE_OF_PAIR[np.frombuffer(content, dtype="<u2", count=n_samples, offset=field[2])]
        if codes.max() != _NO_PAIR:
            return codes
    values = _array(content, field, n_samples)
    if field[0] > 2 or values.dtype.kind != "i":
        raise ValueError(f"{where}: genotypes of more than two alleles cannot be read")
    alleles = (values >> 1) - 1  # -1 is missing; the lowest bit says whether the phase is known
    is_absent = values < 0  # the end of a genotype with fewer alleles
    if ((alleles > 1) | (is_absent & (values != np.iinfo(values.dtype).min + 1))).any() or is_absent[:, 0].any():
        raise ValueError(f"{where}: a genotype has an allele that the record does not have")
    first, second = alleles[:, 0], alleles[:, -1]
    second = np.where(is_absent[:, -1], first, second)  # one copy counts as two, as in PLINK
    return np.where((first < 0) | (second < 0), MISSING, first + second).astype(np.uint8)


def _dosages(content: bytes, field: tuple[int, np.dtype[Any], int] | None, n_samples: int, where: str) -> Dosages:
    if field is None or field[0] == 0:
        return np.full(n_samples, np.nan)
    values = _array(content, field, n_samples)
    if field[0] != 1 or values.dtype.kind != "f":
        raise ValueError(f"{where}: DS is not one number per sample")
    return np.where(values.view("<u4") == _MISSING_FLOAT, np.nan, values)[:, 0].astype(np.float64)


def _info(content: bytes, at: int, n_entries: int, words: dict[int, str], where: str) -> float:
    try:
        _, at = _value(content, at)  # FILTER
        found: dict[str, npt.NDArray[Any]] = {}
        for _ in range(n_entries):
            key, at = _value(content, at)
            found[words[int(key[0])]], at = _value(content, at)
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"{where}: INFO cannot be read, so the file is damaged") from None
    for name in INFO_KEYS:
        if name in found and len(found[name]) and found[name].dtype.kind in "if":
            return float(found[name][0])
    return float("nan")
