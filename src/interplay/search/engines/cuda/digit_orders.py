"""Scores of a number outcome → orders of its samples in which a sum of scores is a weighted sum of counts.

A score above the lowest has digits in some base. For each digit there is an order of the samples; samples of one digit
are a *group* of whole steps. Groups are counted by binary products, as classes are. The largest group of an order is
left out: with its digit z, a score is the sum of z in all orders and of the differences digit − z of its groups. The
counts are kept from group to group of an order, so that Σ (digit − z) is the sum of the samples counted after each
group, times the difference to the digit of the next. The last order has all samples, and ends with their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import IntArray
from interplay.base.planes import BitPlanes

_BYTES_OF_STEP = 32

#: Half of fewer samples fit into three steps.
_FEW_SAMPLES = 1500

#: Steps that take as long as it takes to weigh the counts of a group.
_STEPS_OF_GROUP = 2

#: Bases to choose from.
_BASES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 64, 128, 256)


@dataclass(frozen=True, eq=False)
class DigitOrders:
    """Samples of a number outcome as they lie on a device, in several orders.

    Attributes
    ----------
    bytes_of_steps : (n_steps · 32,) int32
        The byte of the host's planes that stands at each place; −1 for none.
    group_end : (n_groups,) int32
        Steps at which groups end.
    group_weight : (n_groups,) int32
        What a sample counted until then, in this order, adds to the sum of scores above the offset.
    group_begins_order : (n_groups,) int32
        Whether counting begins anew, 0 or 1.
    step_weight : (n_steps,) int32
        What a sample of each step adds to the sum of scores; together in all orders, its score.
    counted_from : int
        The first step of the last order, which has all samples.
    offset : int
        What a sample adds to the sum of scores besides.
    """

    bytes_of_steps: npt.NDArray[np.int32]
    group_end: npt.NDArray[np.int32]
    group_weight: npt.NDArray[np.int32]
    group_begins_order: npt.NDArray[np.int32]
    step_weight: npt.NDArray[np.int32]
    counted_from: int
    offset: int

    @property
    def n_steps(self) -> int:
        return len(self.step_weight)

    @property
    def n_groups(self) -> int:
        return len(self.group_end)

    @cached_property
    def for_products(self) -> npt.NDArray[np.int32]:
        """As warps take them that count products: ends from 0 on, weights, beginnings of orders, the offset."""
        return np.concatenate(
            [[0], self.group_end, self.group_weight, self.group_begins_order, [self.offset]], dtype=np.int32
        )

    @cached_property
    def for_tuples(self) -> npt.NDArray[np.int32]:
        """As threads take them that count step by step: where counting begins, where it ends, weights of steps."""
        return np.concatenate([[self.counted_from, self.n_steps], self.step_weight], dtype=np.int32)


def segment_steps(dimensions: int, n_samples: int) -> int:
    """Return how many steps kernels copy at a time: groups are multiples of them, so few where samples are few."""
    return 2 if dimensions == 2 or n_samples < _FEW_SAMPLES else 4


def digit_orders(planes: BitPlanes, segment_steps: int = 2) -> DigitOrders:
    """Return the orders of the planes of a number outcome, in the base that is counted fastest.

    Groups are multiples of `segment_steps` steps.

    Examples
    --------
    >>> import numpy as np
    >>> scores, samples = np.repeat(np.arange(-2, 2, dtype=np.int32), 16), np.full(8, ~np.uint64(0))
    >>> no_words, none = np.empty((0, 8), dtype=np.uint64), np.empty(0, dtype=np.int64)
    >>> sizes = np.array([512]), np.array([0, 8])
    >>> orders = digit_orders(BitPlanes(no_words, none, none, sizes[1], sizes[0], 0, scores, samples))
    >>> orders.n_steps, orders.group_weight.tolist(), orders.step_weight.tolist()
    (6, [2, 1, 0], [2, 2, -1, -1, -2, -2])
    """
    assert planes.scores is not None
    assert planes.samples is not None
    used = np.flatnonzero(planes.samples.astype("<u8").view(np.uint8))
    lowest = int(planes.scores[used].min())
    above = planes.scores[used].astype(np.int64) - lowest
    most = int(above.max())
    values, sizes = np.unique(above, return_counts=True)
    bases = sorted({max(2, min(base, most + 1)) for base in _BASES})
    base = min(bases, key=lambda base: _cost(values, sizes, base, most, segment_steps))
    return _in_base(used, above, lowest, base, most, segment_steps)


def _n_digits(base: int, most: int) -> int:
    n = 1
    while base**n <= most:
        n += 1
    return n


def _cost(values: IntArray, sizes: IntArray, base: int, most: int, segment_steps: int) -> float:
    """Return how long counting takes in this base, in steps."""
    cost = 0.0
    for power in range(_n_digits(base, most)):
        n_bytes = np.bincount(values // base**power % base, weights=sizes)
        n_segments = np.ceil(n_bytes / (segment_steps * _BYTES_OF_STEP))
        # The largest group is counted in one order.
        n_segments = n_segments.sum() - (n_segments.max() if power > 0 else 0)
        cost += segment_steps * n_segments + _STEPS_OF_GROUP * (np.count_nonzero(n_bytes) - 1)
    return float(cost)


def _in_base(used: IntArray, above: IntArray, lowest: int, base: int, most: int, segment_steps: int) -> DigitOrders:
    places, ends, weights, begins, of_steps = [], [], [], [], []
    n_steps = counted_from = 0
    offset = lowest
    for power in reversed(range(_n_digits(base, most))):
        counted_from, worth = n_steps, base**power
        digit = above // worth % base
        sizes = np.bincount(digit, minlength=base)
        largest = int(sizes.argmax())
        offset += largest * worth
        groups = [value for value in np.flatnonzero(sizes)[::-1].tolist() if value != largest]
        if power == 0:
            groups.append(largest)
        for which, (value, following) in enumerate(zip(groups, [*groups[1:], largest], strict=False)):
            n_new = -(-int(sizes[value]) // (segment_steps * _BYTES_OF_STEP)) * segment_steps
            padded = np.full(n_new * _BYTES_OF_STEP, -1, dtype=np.int32)
            padded[: sizes[value]] = used[digit == value]
            n_steps += n_new
            places.append(padded)
            ends.append(n_steps)
            weights.append((value - following) * worth)
            begins.append(which == 0)
            of_steps += [(value - largest) * worth + (offset if power == 0 else 0)] * n_new
    return DigitOrders(
        bytes_of_steps=np.concatenate(places),
        group_end=np.array(ends, dtype=np.int32),
        group_weight=np.array(weights, dtype=np.int32),
        group_begins_order=np.array(begins, dtype=np.int32),
        step_weight=np.array(of_steps, dtype=np.int32),
        counted_from=counted_from,
        offset=offset,
    )
