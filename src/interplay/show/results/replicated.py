"""Replication: relevant variables tested again in new samples, beside the samples in which they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.text import printable
from interplay.files.types import Check
from interplay.infer.effects.estimate import NO_EFFECT
from interplay.show.results.interactions import Interactions

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Replication:
    """Tests of the relevant variables of a selection in new samples, each in the way in which it was found.

    Attributes
    ----------
    names : list of str
        The variables, most significant in the first samples first.
    variable : (n_tested,) int64
        Their numbers in the selection.
    found, test, partners : list of str
        How each was found; the test that was repeated; the other members of its tuple, or nothing.
    first_p, first_effect : (n_tested,) float64
        p-value of the same test in the first samples, and the effect there.
    log_p, p_adjusted : (n_tested,) float64
        In the new samples: ln p, and p adjusted for the number of variables that were tested. NaN where a variable
        could not be tested.
    direction : list of str
        In the first samples, in words.
    effect_kind : list of str
    effect, effect_low, effect_high : (n_tested,) float64
        The effect in the new samples, with its 95 % interval; NaN where there is none of the same kind.
    level : float
        Significance level.
    n_samples : int
        New samples.
    p_adjust : str
    tuples : Interactions, optional
        The interactions of the selection, tested in the new samples.
    """

    names: Annotated[list[str], Check("n_tested")]
    variable: Annotated[IntArray, Check("n_tested", low=0, below="n_vars")]
    found: Annotated[list[str], Check("n_tested")]
    test: Annotated[list[str], Check("n_tested")]
    partners: Annotated[list[str], Check("n_tested")]
    first_p: Annotated[FloatArray, Check("n_tested")]
    first_effect: Annotated[FloatArray, Check("n_tested")]
    log_p: Annotated[FloatArray, Check("n_tested", high=0, nan=True)]
    p_adjusted: Annotated[FloatArray, Check("n_tested")]
    direction: Annotated[list[str], Check("n_tested")]
    effect_kind: Annotated[list[str], Check("n_tested")]
    effect: Annotated[FloatArray, Check("n_tested")]
    effect_low: Annotated[FloatArray, Check("n_tested")]
    effect_high: Annotated[FloatArray, Check("n_tested")]
    level: Annotated[float, Check(above=0, below=1)]
    n_samples: int
    p_adjust: str
    tuples: Interactions | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def same_direction(self) -> list[bool | None]:
        """Whether the effects lie on the same side of no effect; None where that is not known."""
        none = np.array([NO_EFFECT.get(kind.partition(",")[0], np.nan) for kind in self.effect_kind])
        sides = (self.first_effect - none) * (self.effect - none)
        return [None if np.isnan(side) else bool(side > 0) for side in sides]

    @property
    def is_replicated(self) -> BoolArray:
        """Which variables are significant in the new samples too, in the same direction where that is known."""
        agrees = np.array([same is not False for same in self.same_direction], dtype=bool)
        return np.asarray((self.p_adjusted < self.level) & agrees)

    @property
    def replicated(self) -> list[str]:
        """Names of the variables that are significant in the new samples too, in the same direction."""
        return [name for name, holds in zip(self.names, self.is_replicated.tolist(), strict=True) if holds]

    @property
    def interactions(self) -> Interactions:
        """The significant interactions of the selection, tested in the new samples; see `Interactions.replicate`."""
        if self.tuples is None:
            raise ValueError(
                "the tuples of the selection were not tested again: single variables, groups or times have no such test"
            )
        return self.tuples

    @property
    def table(self) -> pd.DataFrame:
        """One row per variable: the first samples (columns ``first_…``, direction) beside the new ones."""
        import pandas as pd

        return pd.DataFrame({
            "variable": self.names,
            "found": self.found,
            "test": self.test,
            "partners": self.partners,
            "direction": self.direction,
            "effect_kind": self.effect_kind,
            "first_p_value": self.first_p,
            "first_effect": self.first_effect,
            "p_value": np.exp(self.log_p),
            "p_adjusted": self.p_adjusted,
            "effect": self.effect,
            "effect_low": self.effect_low,
            "effect_high": self.effect_high,
            "same_direction": self.same_direction,
            "replicated": self.is_replicated,
        })  # fmt: skip

    def headline(self) -> str:
        """Return the result in one line."""
        n_held = int(self.is_replicated.sum())
        return (
            f"{n_held} of {len(self)} relevant variables hold in {self.n_samples:,} new samples "
            f"({self.p_adjust}-adjusted p < {self.level:g}, same direction)"
        )

    def summary(self) -> str:
        """Return the result in words."""
        from interplay.show.results.summary_words import ROWS_SHOWN, rows_as_text

        columns = [
            "variable",
            "test",
            "first_p_value",
            "p_adjusted",
            "direction",
            "first_effect",
            "effect",
            "replicated",
        ]
        rows = self.table.head(ROWS_SHOWN)[columns]
        rows = rows.assign(
            variable=[printable(name) for name in rows["variable"]],
            replicated=["yes" if holds else "no" for holds in rows["replicated"]],
        )
        return "\n".join([self.headline(), *rows_as_text(rows, len(self))])

    def __repr__(self) -> str:
        return self.summary()

    def to_file(self, path: str | PathLike[str]) -> None:
        """Write the table to a .csv, .tsv, .parquet or .json file."""
        from interplay.show.results.result import write_table

        write_table(self.table, path)

    def columns(self, n_vars: int) -> dict[str, Any]:
        """Return columns of the table of all variables of the selection."""
        p_value, p_adjusted = np.full(n_vars, np.nan), np.full(n_vars, np.nan)
        p_value[self.variable], p_adjusted[self.variable] = np.exp(self.log_p), self.p_adjusted
        replicated = np.zeros(n_vars, dtype=bool)
        replicated[self.variable] = self.is_replicated
        return {"p_holdout": p_value, "p_holdout_adjusted": p_adjusted, "replicated": replicated}
