"""Combined: the result of combine(), tests of several studies as one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.text import printable, tuples_in_words
from interplay.files.types import Check
from interplay.infer.p_values import relevant_mask
from interplay.show.results import summary_words as words
from interplay.show.results.result import Result
from interplay.show.results.summary_words import summary_as_html

if TYPE_CHECKING:
    import pandas as pd


#: Kinds of results that are combined.
COMBINED_KINDS = ("interactions", "variables")

#: How a row was combined, in the order of the numbers in `Combined.method`; −1 stands for a row that was not.
COMBINED_METHODS = ("effects", "p-values")


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Result):
    """The result of `combine`: tests of tuples, or of variables, over several studies.

    Attributes
    ----------
    kind : {"interactions", "variables"}
    names : list of str
        Names of all variables of the studies.
    studies : list of str
        Names of the studies.
    tuples : (n, k) int64
        Members of each row, numbers of `names`; of variables, k = 1.
    log_p_studies : (n, n_studies) float64
        Logarithms of the p-values of each study; NaN where the study has no test of the row.
    effects, errors : (n, n_studies) float64
        Effects of each study and their standard errors, from 95 % intervals; NaN where there is none.
    status : list of str
        How each row was combined, or why it was not.
    method : (n,) int64
        Number of the method in ("effects", "p-values"); −1 where a row was not combined.
    statistic, df, log_p
        χ² of the combination, its degrees of freedom, and the logarithm of its p-value; NaN where not combined.
    p_adjusted : (n,) float64
    effect, error : (n,) float64
        The fixed effect and its standard error.
    q, q_df, log_p_heterogeneity, i2
        Cochran's test of one effect in all studies, and Higgins' I².
    of_cutting : (n,) bool
        Tuples that a study found to be an effect of cutting numbers into levels only: never significant.
    n_tests : int
        Tests for which p-values are adjusted.
    effect_name : str
        "log_or" or "effect"; "" where results have no effects.
    effect_scale : list of str
        Of variables: the scale of `effect`, such as "log odds ratio"; "" where there is none.
    settings : dict
        p_adjust and level.
    provenance : dict
        Of each study: samples, data fingerprint, versions.
    """

    kind: Annotated[str, Check(among=COMBINED_KINDS)]
    names: Annotated[list[str], Check("n_vars")]
    studies: Annotated[list[str], Check("s")]
    tuples: Annotated[IntArray, Check("n k", low=0, below="n_vars")]
    log_p_studies: Annotated[FloatArray, Check("n s", high=0, nan=True)]
    effects: Annotated[FloatArray, Check("n s", nan=True)]
    errors: Annotated[FloatArray, Check("n s", nan=True)]
    status: Annotated[list[str], Check("n")]
    method: Annotated[IntArray, Check("n", low=-1, below=len(COMBINED_METHODS))]
    statistic: Annotated[FloatArray, Check("n", nan=True)]
    df: Annotated[IntArray, Check("n", low=0)]
    log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    p_adjusted: Annotated[FloatArray, Check("n", nan=True)]
    effect: Annotated[FloatArray, Check("n", nan=True)]
    error: Annotated[FloatArray, Check("n", nan=True)]
    q: Annotated[FloatArray, Check("n", nan=True)]
    q_df: Annotated[IntArray, Check("n", low=0)]
    log_p_heterogeneity: Annotated[FloatArray, Check("n", high=0, nan=True)]
    i2: Annotated[FloatArray, Check("n", nan=True)]
    of_cutting: Annotated[BoolArray, Check("n")]
    n_tests: int
    effect_name: str
    effect_scale: Annotated[list[str], Check("n")]
    settings: dict[str, Any]
    provenance: dict[str, Any]

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def is_combined(self) -> BoolArray:
        """Which rows are combined; the others are not known in all studies that could know them."""
        return np.asarray(self.method >= 0)

    @property
    def is_significant(self) -> BoolArray:
        """Which rows have an adjusted p-value below the significance level."""
        return relevant_mask(self.p_adjusted, level=self.settings["level"]) & ~self.of_cutting

    @property
    def significant(self) -> list[Any]:
        """Members of the significant tuples, or names of the significant variables, smallest p-value first."""
        rows = np.flatnonzero(self.is_significant).tolist()
        return [self.members_of(row) if self.kind == "interactions" else self.members_of(row)[0] for row in rows]

    def members_of(self, row: int) -> tuple[str, ...]:
        """Return the names of the members of a row of the table."""
        return self.names_of(self.tuples[row])

    @property
    def table(self) -> pd.DataFrame:
        """One row per tuple or variable, smallest combined p-value first; rows that were not combined come last.

        Columns: members, or variable; n_studies that have a test; p_value and p_adjusted of the combination;
        significant; method ("effects" for the fixed effect, "p-values" for their sum on the scale of χ²); chi2 and df
        of that test; log_or (or effect), ci_low and ci_high, the fixed effect with a 95 % interval; q, q_df,
        p_heterogeneity and i2, whether studies have one effect; status, which says why a row is not combined; and for
        each study, by its place, p_1, … and log_or_1, … (or effect_1, …). Effects of variables are on the scale that
        effect_scale names, such as "log odds ratio"; they have no part in p_value.
        """
        return self._table.copy()

    @cached_property
    def _table(self) -> pd.DataFrame:
        return combined_table(self)

    def headline(self) -> str:
        """Return what was found, in one sentence."""
        return headline(self)

    def notes(self) -> list[str]:
        """Return what a reader should know of these numbers, in sentences."""
        return combined_notes(self)

    def summary(self) -> str:
        """Return the result in words."""
        return combined_summary(self)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Refuse: a combination has no report of its own."""
        raise ValueError("a combination of studies has no report: use .table, .summary(), or reports of the studies")

    def _repr_html_(self) -> str:
        return summary_as_html(self.headline(), ", ".join(self.studies), self._table.head(20), len(self), self.notes())


#: Of normal intervals of 95 %.
_REACH = 1.959963984540054

#: Below this p-value of Cochran's test a note is made of different effects.
_HETEROGENEOUS = 0.05


def combined_table(found: Combined) -> pd.DataFrame:
    """Return the table; `Combined.table` says what its columns are."""
    import pandas as pd

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
            f"{n_cut} tuples are only an effect of cutting numbers into levels in a study (p_smooth), or explained by "
            "other columns there (p_beside), and are not called significant."
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
