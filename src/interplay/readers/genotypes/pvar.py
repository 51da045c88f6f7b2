"""The variants of a PLINK file: .pvar, .pvar.zst or .bim."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from interplay.base.checks import reading
from interplay.readers.genotypes.variants import Variants
from interplay.readers.genotypes.words import read_words

BIM_COLUMNS = ["CHROM", "ID", "CM", "POS", "ALT", "REF"]
_WANTED = ["CHROM", "POS", "ID", "REF", "ALT"]

ENDINGS = (".pvar", ".pvar.zst", ".bim")


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
