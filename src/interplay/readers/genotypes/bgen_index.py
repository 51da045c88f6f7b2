"""BGEN files: header, IDs of the samples, and where each variant lies.

The layout is that of the BGEN specification, versions 1.1 to 1.3. An index file (.bgi) is not needed: the description
of each variant says where the next one begins.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from interplay.base.arrays import IntArray
from interplay.readers.genotypes.variants import Variants

#: Ways in which genotypes are packed.
PLAIN, ZLIB, ZSTD = 0, 1, 2

#: Longest text of an allele that is kept; longer ones are signs of damage.
_MAX_TEXT = 2**20


@dataclass(frozen=True, eq=False)
class BgenIndex:
    """What a BGEN file says before and between the genotypes.

    Attributes
    ----------
    layout : int
        1 or 2.
    packing : int
        `PLAIN`, `ZLIB` or `ZSTD`.
    n_samples : int
    ids : list of str or None
        IDs of the samples, if the file has them.
    variants : Variants
    start, size, unpacked_size : (n_variants,) int64
        Where the genotypes of each variant begin, and their bytes in the file and unpacked.
    """

    layout: int
    packing: int
    n_samples: int
    ids: list[str] | None
    variants: Variants
    start: IntArray
    size: IntArray
    unpacked_size: IntArray


class _CutShort(Exception):
    """The file ends too early."""


def read_index(path: Path) -> BgenIndex:
    """Return the index of a file; refuse one that is cut short."""
    n_bytes = os.path.getsize(path)
    with path.open("rb") as file:
        try:
            return _read_index(file, path, n_bytes)
        except _CutShort:
            raise ValueError(f"{os.fspath(path)!r} is not a BGEN file, or was cut short") from None


def _read_index(file: BinaryIO, path: Path, n_bytes: int) -> BgenIndex:
    offset, header_size, n_variants, n_samples = _unpack(file, "<IIII")
    magic = file.read(4)
    if magic not in (b"bgen", b"\0\0\0\0") or header_size < 20 or header_size > offset:
        raise ValueError(f"{os.fspath(path)!r} is not a BGEN file: it does not begin as one")
    file.seek(header_size)
    (flags,) = _unpack(file, "<I")
    packing, layout = flags & 3, flags >> 2 & 15
    if layout not in (1, 2) or packing > ZSTD or (layout == 1 and packing == ZSTD):
        raise ValueError(f"{os.fspath(path)!r} is of a version of BGEN that cannot be read: convert it to version 1.2")
    ids = _ids(file, path, n_samples) if flags >> 31 else None
    if not n_samples or not n_variants:
        raise ValueError(f"{os.fspath(path)!r} has no {'variants' if n_samples else 'samples'}")
    file.seek(offset + 4)
    rows, places = [], []
    for number in range(n_variants):
        if layout == 1 and _unpack(file, "<I")[0] != n_samples:
            raise ValueError(f"{os.fspath(path)!r} is damaged: variant {number + 1} has another number of samples")
        alternative_id, name, chromosome = (_text(file, "<H") for _ in range(3))
        (position,) = _unpack(file, "<I")
        n_alleles = 2 if layout == 1 else _unpack(file, "<H")[0]
        alleles = [_text(file, "<I") for _ in range(n_alleles)]
        if layout == 1 and packing == PLAIN:
            size = unpacked = 6 * n_samples
        else:
            (size,) = _unpack(file, "<I")
            unpacked = 6 * n_samples if layout == 1 else size
            if layout == 2 and packing != PLAIN:
                (unpacked,) = _unpack(file, "<I")
                size -= 4
        start = file.tell()
        if size < 0 or start + size > n_bytes:
            raise _CutShort
        file.seek(start + size)
        name = name if name not in (".", "") else alternative_id
        rows.append((chromosome, position, name or ".", alleles[0] if alleles else "", ",".join(alleles[1:])))
        places.append((start, size, unpacked))
    chromosomes, positions, names, first, others = zip(*rows, strict=True)
    texts = [np.array(part, dtype=object) for part in (chromosomes, names, first, others)]
    variants = Variants(texts[0], np.array(positions, dtype=np.int64), *texts[1:])
    start_of, size_of, unpacked_of = np.array(places, dtype=np.int64).T
    return BgenIndex(layout, packing, n_samples, ids, variants, start_of, size_of, unpacked_of)


def _ids(file: BinaryIO, path: Path, n_samples: int) -> list[str]:
    _, n = _unpack(file, "<II")
    if n != n_samples:
        raise ValueError(f"{os.fspath(path)!r} is damaged: it has IDs of {n} samples, and genotypes of {n_samples}")
    return [_text(file, "<H") for _ in range(n_samples)]


def _text(file: BinaryIO, of_length: str) -> str:
    (length,) = _unpack(file, of_length)
    if length > _MAX_TEXT:
        raise _CutShort
    text = file.read(length)
    if len(text) < length:
        raise _CutShort
    return text.decode("utf-8", "replace")


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    content = file.read(struct.calcsize(layout))
    if len(content) < struct.calcsize(layout):
        raise _CutShort
    return struct.unpack(layout, content)
