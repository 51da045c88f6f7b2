"""random_state, in any of its forms, as one 32-bit seed; and streams of random numbers that follow from a seed.

First draws of many MT19937 generators at once.

Every (variable, discretisation) pair has a generator of its own, of which only the first few draws are used. Making
them one by one costs about 10 microseconds each, most of it in filling 624 words of state; here the fill runs over
many seeds together, one NumPy operation per word, and stops at the last word that the wanted draws need.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

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
    return next(random_streams(seed, purpose, [number]))


def random_streams(seed: int, purpose: Purpose, numbers: Iterable[int]) -> Iterator[np.random.RandomState]:
    """Yield the streams of several variables, each to be used before the next: a generator takes 13 µs, its key 1."""
    generator = np.random.Philox(key=np.array([(int(purpose) << 32) | seed, 0], dtype=np.uint64))
    state: Any = generator.state
    for number in numbers:
        state["state"]["key"][1] = number
        generator.state = state
        yield np.random.RandomState(generator)


STATE_WORDS = 624
SHIFT_WORDS = 397

#: Seeds handled together: the rows of the state stay in the cache, and NumPy's cost per call is spread.
SEEDS_PER_CHUNK = 4096

_FILL = np.uint32(1812433253)
_UPPER_BIT = np.uint32(0x80000000)
_LOWER_BITS = np.uint32(0x7FFFFFFF)
_TWIST = np.uint32(0x9908B0DF)
_ONE = np.uint32(1)

Uint32Array = npt.NDArray[np.uint32]


def first_draws(seeds: Uint32Array, n_draws: int) -> Uint32Array:
    """Return the first 32-bit draws of one MT19937 per seed.

    - `seeds` (n_seeds,) uint32: seeds, in the sense of C++ ``std::mt19937(seed)`` and
      ``numpy.random.RandomState(seed)``.
    - `n_draws`: draws per generator, 1 to 624.

    Returns
    -------
    (n_draws, n_seeds) uint32
    """
    if not 1 <= n_draws <= STATE_WORDS:
        raise ValueError(f"n_draws must be from 1 to {STATE_WORDS}, not {n_draws}")
    seeds = np.ascontiguousarray(seeds, dtype=np.uint32)
    draws = np.empty((n_draws, len(seeds)), dtype=np.uint32)
    for start in range(0, len(seeds), SEEDS_PER_CHUNK):
        chunk = slice(start, start + SEEDS_PER_CHUNK)
        state = _filled_state(seeds[chunk], min(STATE_WORDS, SHIFT_WORDS + n_draws))
        for k in range(n_draws):
            _twist_word(state, k)
        draws[:, chunk] = _tempered(state[:n_draws])
    return draws


def _filled_state(seeds: Uint32Array, n_words: int) -> Uint32Array:
    """Fill the first `n_words` words of the state: word i = FILL * (w ^ (w >> 30)) + i, w the word before."""
    state = np.empty((n_words, len(seeds)), dtype=np.uint32)
    state[0] = seeds
    for i in range(1, n_words):
        word = state[i]
        np.right_shift(state[i - 1], np.uint32(30), out=word)
        np.bitwise_xor(word, state[i - 1], out=word)
        np.multiply(word, _FILL, out=word)
        np.add(word, np.uint32(i), out=word)
    return state


def _twist_word(state: Uint32Array, k: int) -> None:
    """Replace word k by its successor; words before k have already been replaced."""
    mixed = (state[k] & _UPPER_BIT) | (state[(k + 1) % STATE_WORDS] & _LOWER_BITS)
    state[k] = state[(k + SHIFT_WORDS) % STATE_WORDS] ^ (mixed >> _ONE) ^ ((mixed & _ONE) * _TWIST)


def _tempered(words: Uint32Array) -> Uint32Array:
    y = words ^ (words >> np.uint32(11))
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y ^= y >> np.uint32(18)
    return y
