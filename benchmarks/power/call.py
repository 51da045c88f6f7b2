"""What a method is told beside the table, and the cut that rankings are given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Hints:
    seed: int
    genotypes: bool  # values are 0, 1 and 2 and nothing between
    n_relevant: int  # only for methods that rank and cannot say where to stop


def best(scores: np.ndarray, number: int) -> np.ndarray:
    """Columns of the highest scores; of equal ones, those further left."""
    return np.argsort(-np.asarray(scores), kind="stable")[:number]
