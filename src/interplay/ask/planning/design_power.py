"""A design and a number of samples → the power of the test of its tuple."""

from __future__ import annotations

import numpy as np

from interplay.ask.planning.design import Design
from interplay.base.arrays import FloatArray
from interplay.infer.power.cell_counts import drawn_cell_counts
from interplay.infer.power.class_power import class_power
from interplay.infer.power.number_power import number_power
from interplay.infer.power.second_test import n_smooth_columns
from interplay.infer.power.time_power import time_power

_MAX_STEPS = 200


def design_power(design: Design, n_samples: int) -> float:
    """Return the chance that the tuple of a design is significant in a search of so many samples."""
    counts = drawn_cell_counts(design.shares, n_samples, is_cut=design.is_cut)
    threshold = design.log_threshold
    n_smooth = n_smooth_columns(design.effects.shape) if design.is_cut else 0
    if design.outcome == "number":
        return number_power(
            design.effects,
            counts,
            design.cell_shares,
            log_threshold=threshold,
            scale=design.scale,
            n_smooth=n_smooth,
        )
    if design.outcome == "times":
        return time_power(design.effects, counts, event_share=design.event_share, log_threshold=threshold)
    return class_power(class_chances(design), counts, log_threshold=threshold, n_smooth=n_smooth)


def class_chances(design: Design) -> FloatArray:
    """Return the chance of each class in each cell, (levels …, n_classes), with the shares of classes of the design.

    Log odds of more than two classes are spread evenly between the first and the last class.
    """
    wanted, cells = design.class_shares, design.cell_shares
    log_odds = np.multiply.outer(design.effects, np.linspace(-0.5, 0.5, len(wanted)))
    intercept = np.log(wanted)
    for _ in range(_MAX_STEPS):
        raised = log_odds + intercept
        chances = np.exp(raised - raised.max(axis=-1, keepdims=True))
        chances /= chances.sum(axis=-1, keepdims=True)
        found = np.tensordot(cells, chances, axes=cells.ndim)
        if np.abs(found - wanted).max() < 1e-12:
            break
        intercept = intercept + np.log(wanted / found)
    return np.asarray(chances)
