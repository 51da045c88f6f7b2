"""Combined studies → their table, and a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.text import printable, tuples_in_words
from interplay.show.results import summary_words as words

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.combined import Combined

#: Of normal intervals of 95 %.
_REACH = 1.959963984540054

#: Below this p-value of Cochran's test a note is made of different effects.
_HETEROGENEOUS = 0.05


def combined_table(found: Combined) -> pd.DataFrame:
    """Return the table; `Combined.table` says what its columns are."""
    import pandas as pd

    from interplay.show.results.combined import COMBINED_METHODS

    rows = range(len(found))
    is_tuples = found.kind == "interactions"
    members: dict[str, Any] = {"members": [found.members_of(row) for row in rows]}
    if not is_tuples:
        members = {"variable": [found.members_of(row)[0] for row in rows]}
    columns: dict[str, Any] = {
        **members,
        "n_studies": (~np.isnan(found.log_p_studies)).sum(axis=1),
        "p_value": np.exp(found.log_p),
        "p_adjusted": found.p_adjusted,
        "significant": found.is_significant,
        "method": [COMBINED_METHODS[number] if number >= 0 else "" for number in found.method.tolist()],
        "chi2": found.statistic,
        "df": found.df,
    }
    if found.effect_name:
        columns |= {
            found.effect_name: found.effect,
            "ci_low": found.effect - _REACH * found.error,
            "ci_high": found.effect + _REACH * found.error,
            "q": found.q,
            "q_df": found.q_df,
            "p_heterogeneity": np.exp(found.log_p_heterogeneity),
            "i2": found.i2,
        }
    if any(found.effect_scale):
        columns["effect_scale"] = found.effect_scale
    columns["status"] = found.status
    for place in range(len(found.studies)):
        columns[f"p_{place + 1}"] = np.exp(found.log_p_studies[:, place])
    for place in range(len(found.studies) if found.effect_name else 0):
        columns[f"{found.effect_name}_{place + 1}"] = found.effects[:, place]
    return pd.DataFrame(columns)


def headline(found: Combined) -> str:
    """Return the number of significant rows, in one sentence."""
    what = tuples_in_words(found.tuples.shape[1]) if found.kind == "interactions" else "variables"
    have = "an interaction" if found.kind == "interactions" else "information about the outcome"
    s, n = found.settings, int(found.is_significant.sum())
    return (
        f"{n} of {int(found.is_combined.sum())} {what} {'has' if n == 1 else 'have'} {have} over "
        f"{len(found.studies)} studies ({s['p_adjust']}-adjusted p < {s['level']:g}, for {found.n_tests:,} tests)"
    )


def combined_notes(found: Combined) -> list[str]:
    """Return cautions on how to read the numbers, in sentences."""
    said = []
    n_left = int((~found.is_combined).sum())
    if n_left:
        what = "tuples are" if found.kind == "interactions" else "variables are"
        said.append(
            f"{n_left} {what} not combined, because a study that has the variables does not list them, or only one "
            "study has them (status); replicate() tests listed tuples in the table of another study."
        )
    p_heterogeneity = np.exp(found.log_p_heterogeneity)
    n_unlike = int((found.is_significant & (p_heterogeneity < _HETEROGENEOUS)).sum())
    if n_unlike:
        what = "tuples" if found.kind == "interactions" else "variables"
        said.append(
            f"{n_unlike} significant {what} have different effects in the studies (p_heterogeneity < "
            f"{_HETEROGENEOUS:g}): the fixed effect is an average that may hold nowhere."
        )
    n_cut = int(found.of_cutting.sum())
    if n_cut:
        said.append(
            f"{n_cut} tuples are only an effect of cutting numbers into levels in a study (p_smooth), and are not "
            "called significant."
        )
    if found.provenance.get("selected_in"):
        said.append(
            f"Tuples were listed by their p-values in {', '.join(map(printable, found.provenance['selected_in']))}: "
            "effects there are overestimated, and p-values are adjusted for all tuples of that search."
        )
    return said


def combined_summary(found: Combined) -> str:
    """Return the result in words."""
    samples = ", ".join(
        f"{printable(name)} ({one['n_samples']} samples)"
        for name, one in zip(found.studies, found.provenance["studies"], strict=True)
    )
    rows = found.table.head(words.ROWS_SHOWN)
    shown = [name for name in rows.columns if name not in ("ci_low", "ci_high", "q_df")]
    rows = rows[shown]
    if "members" in rows:
        rows = rows.assign(members=[", ".join(map(printable, members)) for members in rows["members"]])
    else:
        rows = rows.assign(variable=[printable(name) for name in rows["variable"]])
    lines = [headline(found), samples, *words.rows_as_text(rows, len(found))]
    said = found.notes()
    return "\n".join([*lines, *([""] if said else []), *(f"Note: {note}" for note in said)])
