"""seed, as the older package takes it."""

from __future__ import annotations

from interplay.base.checks import check_int
from interplay.base.seeds import SEED_LIMIT, resolve_seed


def check_seed(seed: int | None) -> int:
    """Return the seed; a fresh one for None."""
    return resolve_seed(None) if seed is None else check_int("seed", seed, low=0, high=SEED_LIMIT - 1)
