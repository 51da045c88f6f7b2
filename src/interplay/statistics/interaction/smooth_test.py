"""One tuple with cut numbers → is it an interaction beside smooth effects of the numbers themselves?"""

from __future__ import annotations

from collections.abc import Sequence

from interplay.base.arrays import FloatArray, IntArray, NumberOutcome, Outcome
from interplay.statistics.interaction.beside_test import interaction_beside, values_beside
from interplay.statistics.smooth_columns import smooth_columns


def smooth_test(
    outcome: Outcome,
    levels: IntArray,
    splines: Sequence[FloatArray | None],
    *,
    known: IntArray | slice = slice(None),
    stratum: IntArray | None = None,
    dosages: Sequence[FloatArray] | None = None,
) -> tuple[tuple[float, int], tuple[float, int] | None]:
    """Test the interaction of levels beside smooth effects of the members that are cut numbers.

    Parameters
    ----------
    splines : sequence of (n_known, n_columns) float64, or None
        Of each member, as `spline_columns` makes them; None for members that were not cut.
    outcome, levels, known, stratum, dosages
        As in `interaction_beside`.

    Returns
    -------
    (chi2, df) : (float, int)
        Of the classes, or of the scores of numbers.
    on_values : (float, int) or None
        The same of the values of numbers, where scores are those of ranks.
    """
    columns = smooth_columns(splines, levels, stratum)
    found = interaction_beside(outcome, levels, columns, known=known, stratum=stratum, dosages=dosages)
    if not isinstance(outcome, NumberOutcome) or outcome.scale != "ranks":
        return found, None
    return found, values_beside(outcome, levels, columns, known=known, stratum=stratum, dosages=dosages)
