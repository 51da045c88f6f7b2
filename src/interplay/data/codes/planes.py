"""codes → bit planes, samples split by decision class, or sorted by the score of a number outcome."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from interplay import _core
from interplay.base.arrays import IntArray, WordArray, starts_of
from interplay.base.jobs import map_in_threads
from interplay.base.planes import WORDS_PER_BLOCK, BitPlanes, CodeBlocks
from interplay.data.study.outcomes.targets import SearchScores, Target
from interplay.files.whole_file import whole_path

#: Up to this many classes, bits are made of values directly; with more classes, sorting codes by class first is faster.
MAX_CLASSES_CUT = 8


def make_bit_planes(
    parts: Sequence[CodeBlocks],
    outcome: Target,
    *,
    n_vars: int | None = None,
    n_jobs: int = 1,
    kept: MappedWords | None = None,
) -> BitPlanes:
    """Pack codes into bit planes, block by block: of the codes, only the blocks at work are in memory.

    - `parts`: the real variables, then, if there are any, the contrast variables. A stratum comes before both.
    - `outcome`: samples of one class come together, so that a count per class is a plain popcount. Those of a number
      outcome are sorted by score.
    - `n_vars`: rows that are not contrast variables; those of the first part if not given.
    - `n_jobs`: threads.
    - `kept`: the file for the words, and with them already if it was written for the same data.
    """
    # A column with one value counts as two levels, one of them empty.
    n_levels = np.maximum(np.concatenate([part.n_levels for part in parts]), 2)
    scores = outcome.integers
    planes = planes_to_come(
        n_levels, outcome.sizes, n_vars=parts[0].n_vars if n_vars is None else n_vars, scores=scores
    )
    shape = (int(planes.plane_start[-1]), planes.words.shape[1])
    order = _sample_order(outcome.class_codes) if scores is None else scores.padded(shape[1])[0]
    # Of a number outcome, all bits are listed: some are no samples.
    sizes = planes.class_sizes if scores is None else np.array([len(order)], dtype=np.int64)
    layout = (order, sizes, planes.class_word_start)
    # Bits that are made of values keep the order of the samples within a class.
    by_values = scores is None and len(planes.class_sizes) <= MAX_CLASSES_CUT

    def fill(words: WordArray) -> None:
        first_row = 0
        for part in parts:
            start = planes.plane_start[first_row : first_row + part.n_vars + 1]
            map_in_threads(partial(_pack_block, part, layout, start, words, by_values), part.blocks(n_jobs), n_jobs)
            first_row += part.n_vars

    if kept is not None:
        return replace(planes, words=kept.found_or_made(shape, fill))
    words = np.zeros(shape, dtype=np.uint64)
    fill(words)
    return replace(planes, words=words)


def planes_to_come(
    n_levels: IntArray, class_sizes: IntArray, *, n_vars: int, scores: SearchScores | None = None
) -> BitPlanes:
    """Return the layout of planes before they are packed, without words; `n_levels` are two at least.

    With the `scores` of a number outcome, bits that are no samples lie among those that are.
    """
    # Whole blocks of words for each class, so that no register straddles two classes.
    n_bits = class_sizes if scores is None else np.array([len(scores.slots)], dtype=np.int64)
    n_words = -(-n_bits // (64 * WORDS_PER_BLOCK)) * WORDS_PER_BLOCK
    class_word_start = starts_of(n_words)
    of_scores: dict[str, Any] = {}
    if scores is not None:
        _, of_bytes, samples = scores.padded(int(class_word_start[-1]))
        of_scores = {"scores": of_bytes, "samples": samples}
    return BitPlanes(
        words=np.empty((0, class_word_start[-1]), dtype=np.uint64),
        plane_start=starts_of(n_levels - 1),
        n_levels=n_levels,
        class_word_start=class_word_start,
        class_sizes=class_sizes,
        n_vars=n_vars,
        **of_scores,
    )


def _pack_block(
    part: CodeBlocks,
    layout: tuple[IntArray, IntArray, IntArray],
    plane_start: IntArray,
    words: WordArray,
    by_values: bool,
    rows: slice,
) -> None:
    """Read one block of codes and write its planes to `words`; `plane_start` are the first planes of all its part."""
    start = plane_start[rows.start : rows.stop + 1]
    block_words = words[start[0] : start[-1]]
    cut = part.read_cut(rows) if by_values else None
    if cut is not None:
        _core.pack_value_planes(cut.values, cut.thresholds, *layout, words=block_words)
        return
    codes = part.read(rows)
    _core.pack_bit_planes(codes, *layout, start - start[0], 0, len(codes), words=block_words)


def _sample_order(class_codes: IntArray) -> IntArray:
    """Return the samples of class 0, then of class 1, …, ascending in each."""
    # Short numbers have a radix sort.
    codes = class_codes.astype(np.uint16) if class_codes.max(initial=0) < 2**16 else class_codes
    return np.argsort(codes, kind="stable")


#: Bytes before the first word: a page, so that words are aligned. They begin with the name of the format.
_HEADER_BYTES, _FORMAT = 4096, b"interplay planes 1\n"

#: Rows, evenly spaced, by which a file tells that it is damaged: all of them would have to be read otherwise.
_CHECKED_ROWS = 64


@dataclass(frozen=True)
class MappedWords:
    """A file for the words of planes.

    Parameters
    ----------
    path : Path
    key : str
        Hash of all that decides the words. A file with another key is replaced.
    """

    path: Path
    key: str

    def found_or_made(self, shape: tuple[int, int], fill: Callable[[WordArray], None]) -> WordArray:
        """Return the words, of this shape: those of the file, or new ones, which `fill` makes of zeros.

        Words are in memory alone where the disk has no room for them.
        """
        words = self._found(shape)
        if words is not None:
            return words
        try:
            return self._made(shape, fill)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
        words = np.zeros(shape, dtype=np.uint64)
        fill(words)
        return words

    def _found(self, shape: tuple[int, int]) -> WordArray | None:
        with suppress(OSError, ValueError):
            if os.path.getsize(self.path) == _HEADER_BYTES + 8 * shape[0] * shape[1]:
                words = self._mapped(self.path, shape, "c")
                with open(self.path, "rb") as file:
                    if file.read(_HEADER_BYTES) == self._header(words):
                        return words
        return None

    def _made(self, shape: tuple[int, int], fill: Callable[[WordArray], None]) -> WordArray:
        n_bytes = _HEADER_BYTES + 8 * shape[0] * shape[1]
        self.path.unlink(missing_ok=True)  # its room may be needed
        if shutil.disk_usage(self.path.parent).free < n_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with whole_path(self.path) as unfinished:
            with open(unfinished, "rb+") as file:
                if hasattr(os, "posix_fallocate"):  # a disk that is full later would end the process
                    os.posix_fallocate(file.fileno(), 0, n_bytes)
                else:
                    file.truncate(n_bytes)
            words = self._mapped(unfinished, shape, "r+")
            fill(words)
            words.flush()
            header = self._header(words)
            del words
            with open(unfinished, "rb+") as file:
                file.write(header)
        return self._mapped(self.path, shape, "c")

    def _header(self, words: WordArray) -> bytes:
        rows = np.unique(np.linspace(0, len(words) - 1, _CHECKED_ROWS).astype(np.int64))
        digest = hashlib.blake2b(np.ascontiguousarray(words[rows]).tobytes(), digest_size=16).hexdigest()
        text = f"{self.key}\n{words.shape[0]} {words.shape[1]}\n{digest}\n".encode()
        return (_FORMAT + text).ljust(_HEADER_BYTES, b"\0")

    @staticmethod
    def _mapped(path: Path, shape: tuple[int, int], mode: str) -> np.memmap:
        return np.memmap(path, dtype=np.uint64, mode=mode, offset=_HEADER_BYTES, shape=shape)  # type: ignore[call-overload, no-any-return]
