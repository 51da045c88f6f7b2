"""All pairs of a table → those whose product of dosages may be significant: an exhaustive screen by matrix products.

The screen of engines is about levels: it leaves a pair whose product only stands for a curved effect of one member.
With more than two levels, tests of products need a screen of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.progress import ShowDone
from interplay.codes.coded import CodedComparison
from interplay.codes.cuts import block_cuts
from interplay.interaction.number_tables import NumberTables
from interplay.search.loop import Shard
from interplay.statistics.number_interaction.pair_products import DosageBlock, product_ratios
from interplay.statistics.number_interaction.search_bars import least_ratio

#: Variables of a block: three matrices of dosages of a thousand samples stay in the cache.
_BLOCK = 256

#: Ratios are lowered by this share: far more than what rounding does to them.
_ROUNDING = 1e-7


class ProductScreen:
    """Screens the products of all pairs of the variables of a comparison.

    Parameters
    ----------
    coded : CodedComparison
    asked_for, require
        As in `make_tuple_tiles`.
    shard : Shard, optional
        Screen only this part of the blocks.
    """

    def __init__(
        self,
        coded: CodedComparison,
        *,
        omit_missing: bool,
        asked_for: BoolArray | None = None,
        require: str = "any",
        shard: Shard | None = None,
    ) -> None:
        self._coded, self._omit_missing = coded, omit_missing
        self._asked_for, self._require = asked_for, require
        n_blocks = -(-coded.comparison.table.n_vars // _BLOCK)
        blocks = [(i, j) for i in range(n_blocks) for j in range(i, n_blocks)]
        self._blocks = blocks if shard is None else blocks[shard.number - 1 :: shard.of]
        self.layout = f"products of {n_blocks} blocks of {_BLOCK} variables"
        self.n_tuples = float(len(self._blocks) * _BLOCK**2)

    def pairs(
        self, d: int, scores: FloatArray, log_p: float, *, show: ShowDone | None = None, before: float = 0.0
    ) -> Iterator[IntArray]:
        """Yield pairs, (n, 2) ascending, whose p-values in discretisation `d` may be at most exp(`log_p`)."""
        strata = self._coded.comparison.strata
        least = least_ratio(math.exp(log_p), n_samples=len(scores)) * (1 - _ROUNDING)
        kept: dict[int, DosageBlock] = {}
        for number, (i, j) in enumerate(self._blocks):
            for block in (i, j):
                if block not in kept:
                    if len(kept) > 1:
                        kept = {b: kept[b] for b in kept if b in (i, j)}
                    kept[block] = self._dosages(d, block)
            ratio, uncertain = product_ratios(kept[i], kept[j], scores, None if strata is None else strata.codes)
            chosen = (ratio >= least) | uncertain
            pairs = np.argwhere(chosen) + np.array([i, j]) * _BLOCK
            yield self._asked(pairs[pairs[:, 0] < pairs[:, 1]].astype(np.int64))
            if show is not None:
                show(before + (number + 1) * _BLOCK**2)

    def _asked(self, pairs: IntArray) -> IntArray:
        if self._asked_for is None:
            return pairs
        asked = self._asked_for[pairs]
        return pairs[asked.all(axis=1) if self._require == "all" else asked.any(axis=1)]

    def _dosages(self, d: int, block: int) -> DosageBlock:
        coder = self._coded.coder
        variables = np.arange(block * _BLOCK, min((block + 1) * _BLOCK, coder.table.n_vars))
        codes = coder.codes_of(d, variables).codes
        cuts = block_cuts(coder, int(variables[0]), int(variables[-1]) + 1)
        dosages = np.stack([cut.dosages()[row] for cut, row in zip(cuts, codes, strict=True)])
        if not self._omit_missing or not coder.has_missing_level[variables].any():
            return DosageBlock(dosages - dosages.mean(axis=1)[:, np.newaxis])
        missing = (coder.n_levels[variables] - 1)[:, np.newaxis]
        known = 1.0 - (codes == missing) * coder.has_missing_level[variables][:, np.newaxis]
        mean = (dosages * known).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        return DosageBlock((dosages - mean[:, np.newaxis]) * known, known)


def screened_pairs(
    screen: ProductScreen, tables: NumberTables, d: int, max_p: float, *, show: ShowDone | None = None
) -> Iterator[IntArray]:
    """Yield the pairs with p ≤ `max_p` in a discretisation: the test itself, where the screen leaves a pair."""
    log_p = math.log(max_p)
    for pairs in screen.pairs(d, tables.numbers.scores, log_p, show=show):
        if len(pairs):
            yield pairs if max_p >= 1 else pairs[tables.log_p(pairs) <= log_p + _ROUNDING]


def needs_product_screen(coded: CodedComparison) -> bool:
    """Say whether products of dosages differ from levels: some variable has more than two."""
    coder = coded.coder
    return bool((coder.n_levels - coder.has_missing_level > 2).any())


def check_products(coded: CodedComparison, coding: str, dimensions: int) -> None:
    """Refuse products that no screen can find: of three and more members with more than two levels."""
    if coding == "dosage" and dimensions > 2 and needs_product_screen(coded):
        raise ValueError(
            f"coding='dosage' with dimensions={dimensions} needs variables of two levels: use dimensions=2, or "
            "coding='levels'"
        )
