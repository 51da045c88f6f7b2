"""random_state, in any of its forms, as one 32-bit seed; and streams of random numbers that follow from a seed."""

from __future__ import annotations

import enum
import operator
from typing import Any

import numpy as np

from interplay.base.checks import shown

#: Seeds are 32-bit words, as in the original.
SEED_LIMIT = 2**32


class Purpose(enum.IntEnum):
    """Purposes of random streams: streams of one seed and different purposes are independent."""

    IMPUTE = 1
    CONTRAST_CHOICE = 2
    CONTRAST_PERMUTATION = 3
    RELABELING = 4


def resolve_seed(random_state: Any) -> int:
    """Return a seed in [0, 2^32) for `random_state`.

    A whole number is used as it is, so that the same seed gives the same codes as the original package. None draws
    a fresh seed; a numpy RandomState, Generator or BitGenerator gives its next one, and a SeedSequence always the same.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, SEED_LIMIT, dtype=np.uint32))
    if isinstance(random_state, np.random.SeedSequence):
        return int(random_state.generate_state(1)[0])
    if isinstance(random_state, np.random.BitGenerator):
        random_state = np.random.Generator(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, SEED_LIMIT, dtype=np.uint32))
    wanted = f"a whole number from 0 to {SEED_LIMIT - 1}, None, or a numpy RandomState or Generator"
    # A bool is a number to Python, but as a seed it is a slip.
    if isinstance(random_state, bool | np.bool_):
        raise TypeError(f"random_state must be {wanted}, not {shown(random_state)}")
    try:
        seed = operator.index(random_state)
    except TypeError:
        raise TypeError(f"random_state must be {wanted}, not {shown(random_state)}") from None
    if not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"random_state must be {wanted}, not {shown(seed)}")
    return seed


def random_stream(seed: int, purpose: Purpose, number: int = 0) -> np.random.RandomState:
    """Return the stream of `seed` for a purpose and, within it, for variable `number`.

    Philox is a function of its key, so streams never overlap and are quick to make (RandomState's own generator takes
    0.2 ms). RandomState around it, rather than Generator, because NumPy never changes the draws of its methods.
    """
    key = np.array([(int(purpose) << 32) | seed, number], dtype=np.uint64)
    return np.random.RandomState(np.random.Philox(key=key))
