"""Kaplan and Meier's curves of a tuple → the numbers that survival.js draws."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.show.report.numbers import numbers, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interplay.infer.survival.survival_curves import SurvivalCurves


def curves_content(curves: SurvivalCurves) -> list[dict[str, Any]]:
    """Return one entry for each cell that has samples."""
    return [
        {
            "cell": int(curves.cell[i]),
            "n": int(curves.n_samples[i]),
            "events": int(curves.n_events[i]),
            "time": numbers(curves.time[start:end], 5),
            "survival": numbers(curves.survival[start:end], 5),
            "low": numbers(curves.low[start:end], 3),
            "high": numbers(curves.high[start:end], 3),
        }
        for i, (start, end) in enumerate(pairwise(curves.start.tolist()))
    ]


def named_curves(
    curves: SurvivalCurves, names: Sequence[str], level_names: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    """Return the same with the levels of the members in words, for pages that do not have the cells beside."""
    shape = tuple(len(levels) for levels in level_names)

    def where(cell: int) -> str:
        places = zip(names, level_names, np.unravel_index(cell, shape), strict=True)
        return ", ".join(f"{short(name, 24)} {short(levels[int(place)], 16)}" for name, levels, place in places)

    return [one | {"where": where(one["cell"])} for one in curves_content(curves)]
