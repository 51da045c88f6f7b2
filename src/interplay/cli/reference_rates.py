"""How fast interplay is on machines that its developers measured: what `interplay bench` compares with.

`benchmarks/reference_rates.py` writes the figures, from `benchmarks/results`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class ReferenceRate:
    """Tuples a second, and where."""

    machine: str
    tuples_per_second: float


def reference_rate(engine: str, **shape: int) -> ReferenceRate | None:
    """Return what was measured of the same search, or None if that was not.

    Examples
    --------
    >>> reference_rate("cuda", dimensions=4, n_samples=2000, n_vars=500, n_levels=2).machine
    'one NVIDIA H200'
    >>> reference_rate("cpu", dimensions=4, n_samples=2001, n_vars=500, n_levels=2)
    """
    measured = json.loads(files("interplay.cli").joinpath("reference_rates.json").read_text(encoding="utf-8"))
    if engine not in measured:
        return None
    for row in measured[engine]["rates"]:
        if all(row[name] == value for name, value in shape.items()):
            return ReferenceRate(measured[engine]["machine"], row["tuples_per_second"])
    return None
