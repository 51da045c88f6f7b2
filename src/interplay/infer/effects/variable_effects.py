"""The effects of all relevant variables, as results keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check
from interplay.infer.effects.measured import MeasuredVariable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class VariableEffects:
    """Effects of variables, a row each; the first row of a variable is its main effect."""

    #: (n_effects,): number of the variable; rows of one variable follow each other.
    variable: Annotated[IntArray, Check("n_effects", low=0, below="n_vars")]
    #: Of the main effect, in words; "" in other rows.
    direction: Annotated[list[str], Check("n_effects")]
    #: "AUC", "odds ratio", "Spearman's rho", "difference in means", "hazard ratio" and so on.
    kind: Annotated[list[str], Check("n_effects")]
    #: The level or class that is compared, where that is not clear: "b against the rest".
    about: Annotated[list[str], Check("n_effects")]
    #: `reference`, `is_distance`, `is_within`, (n_effects,): how it was measured, see `Effect`.
    reference: Annotated[list[str | None], Check("n_effects")]
    is_distance: Annotated[BoolArray, Check("n_effects")]
    is_within: Annotated[BoolArray, Check("n_effects")]
    #: `effect`, `low`, `high`, (n_effects,): the size with its 95 % interval; NaN where it cannot be told.
    effect: Annotated[FloatArray, Check("n_effects")]
    low: Annotated[FloatArray, Check("n_effects")]
    high: Annotated[FloatArray, Check("n_effects")]

    @classmethod
    def of(cls, variables: Sequence[int], measured: Sequence[MeasuredVariable]) -> Self:
        """Gather the effects of variables."""
        rows = [
            (v, found.direction if place == 0 else "", each)
            for v, found in zip(variables, measured, strict=True)
            for place, each in enumerate(found.effects)
        ]
        sizes = np.array([each.size for _, _, each in rows], dtype=np.float64).reshape(-1, 3)
        return cls(
            np.array([v for v, _, _ in rows], dtype=np.int64),
            [said for _, said, _ in rows],
            [each.kind for _, _, each in rows],
            [each.about for _, _, each in rows],
            [each.reference for _, _, each in rows],
            np.array([each.is_distance for _, _, each in rows], dtype=np.bool_),
            np.array([each.is_within for _, _, each in rows], dtype=np.bool_),
            *(np.ascontiguousarray(column) for column in sizes.T),
        )

    @property
    def main(self) -> IntArray:
        """Rows of the main effects, (n_variables,)."""
        return np.flatnonzero(np.diff(self.variable, prepend=-1) != 0)

    def columns(self, n_vars: int) -> dict[str, Any]:
        """Return columns of the table of all variables; "" and NaN where a variable has no effects."""
        words: dict[str, list[str]] = {name: [""] * n_vars for name in ("direction", "effect_kind")}
        numbers = {name: np.full(n_vars, np.nan) for name in ("effect", "effect_low", "effect_high")}
        for row in self.main.tolist():
            v = int(self.variable[row])
            words["direction"][v] = self.direction[row]
            words["effect_kind"][v] = self.kind_in_words(row)
            numbers["effect"][v], numbers["effect_low"][v] = self.effect[row], self.low[row]
            numbers["effect_high"][v] = self.high[row]
        return {"direction": words["direction"], **numbers, "effect_kind": words["effect_kind"]}

    def kind_in_words(self, row: int) -> str:
        """Return the kind of a row with the level or class that it compares."""
        return f"{self.kind[row]}, {self.about[row]}" if self.about[row] else self.kind[row]

    def main_of(self, variable: int) -> int:
        """Return the row of the main effect of a variable, −1 if it has none."""
        rows = np.flatnonzero(self.variable == variable)
        return int(rows[0]) if len(rows) else -1

    def to_frame(self, names: Sequence[str]) -> pd.DataFrame:
        """Return all rows as a table."""
        import pandas as pd

        return pd.DataFrame({
            "variable": [names[v] for v in self.variable.tolist()],
            "effect_kind": self.kind,
            "about": self.about,
            "effect": self.effect,
            "effect_low": self.low,
            "effect_high": self.high,
            "direction": self.direction,
        })  # fmt: skip
