"""Tagging: verdicts on leads, as a result keeps them: holds, explained by another column, or cannot be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check
from interplay.infer.tagging import EXPLAINED, HOLDS, VERDICTS

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.interactions import Interactions


@dataclass(frozen=True, eq=False)
class Tagging:
    """Verdicts on leads; each field has one entry per lead, but for `lead_of` and `about`.

    Attributes
    ----------
    rows : (n_leads,) int64
        Rows of the leads in the list of tuples.
    lead_of : (n_listed,) int64
        For each listed tuple the lead of its clump, as a place in the other fields; −1 if it is not significant.
    verdict : list of str
        "holds", "explained" or "cannot be told".
    by : list of list of str
        Names of the columns that explain an interaction.
    reason : list of str
    p_interaction : (n_leads,) float64
        Of the interaction, by the same models without neighbours.
    p_neighbour, p_given : (n_leads,) float64
        Of the columns that explain, or come nearest to it, beside the members; and of the interaction beside them.
    n_neighbours : (n_leads,) int64
    r2 : (n_leads,) float64
        Largest r² between two members.
    about : dict
        What was asked: window, dense, covariates, complete.
    """

    rows: Annotated[IntArray, Check("n_leads", low=0)]
    lead_of: Annotated[IntArray, Check("n_listed", low=-1, below="n_leads")]
    verdict: Annotated[list[str], Check("n_leads")]
    by: Annotated[list[list[str]], Check("n_leads")]
    reason: Annotated[list[str], Check("n_leads")]
    p_interaction: Annotated[FloatArray, Check("n_leads")]
    p_neighbour: Annotated[FloatArray, Check("n_leads")]
    p_given: Annotated[FloatArray, Check("n_leads")]
    n_neighbours: Annotated[IntArray, Check("n_leads")]
    r2: Annotated[FloatArray, Check("n_leads")]
    about: dict[str, Any]

    def is_consistent(self) -> bool:
        """Say whether all verdicts and leads exist: a file may say anything."""
        return set(self.verdict) <= set(VERDICTS) and bool((self.rows < len(self.lead_of)).all())

    @property
    def is_explained(self) -> BoolArray:
        """Which of the listed tuples are explained by another column, or join a lead that is, (n_listed,)."""
        explained = np.array([verdict == EXPLAINED for verdict in self.verdict] + [False])
        return np.asarray(explained[self.lead_of])

    def verdict_of(self, row: int) -> tuple[str, list[str]] | None:
        """Return the verdict on a listed tuple, or on the lead that it joins, and the columns that explain it."""
        lead = int(self.lead_of[row])
        return None if lead < 0 else (self.verdict[lead], self.by[lead])

    def chosen(self, rows: IntArray) -> Tagging:
        """Keep some of the listed tuples, in that order, and the leads among them."""
        place_of = {row: place for place, row in enumerate(rows.tolist())}
        kept = [lead for lead, row in enumerate(self.rows.tolist()) if row in place_of]
        number_of = {lead: number for number, lead in enumerate(kept)}
        return Tagging(
            lead_of=np.array([number_of.get(lead, -1) for lead in self.lead_of[rows].tolist()], dtype=np.int64),
            rows=np.array([place_of[int(self.rows[lead])] for lead in kept], dtype=np.int64),
            verdict=[self.verdict[lead] for lead in kept],
            by=[self.by[lead] for lead in kept],
            reason=[self.reason[lead] for lead in kept],
            p_interaction=self.p_interaction[kept],
            p_neighbour=self.p_neighbour[kept],
            p_given=self.p_given[kept],
            n_neighbours=self.n_neighbours[kept],
            r2=self.r2[kept],
            about=self.about,
        )

    def table(self, result: Interactions) -> pd.DataFrame:
        """Return the verdicts as a table; see `Interactions.tagging`."""
        import pandas as pd

        return pd.DataFrame(
            {
                "members": [result.members_of(row) for row in self.rows.tolist()],
                "verdict": self.verdict,
                "by": [tuple(names) for names in self.by],
                "p_value": result.tested.p_value[self.rows],
                "p_adjusted": result.tested.p_adjusted[self.rows],
                "p_interaction": self.p_interaction,
                "p_neighbour": self.p_neighbour,
                "p_given": self.p_given,
                "n_neighbours": self.n_neighbours,
                "r2": self.r2,
                "reason": self.reason,
            }
        )

    def in_words(self) -> str:
        """Return the numbers of verdicts as a sentence."""
        n = len(self.verdict)
        counts = {verdict: self.verdict.count(verdict) for verdict in VERDICTS}
        parts = [f"{counts[HOLDS]} hold{'s' * (counts[HOLDS] == 1)} beside the columns near their members"]
        if counts[EXPLAINED]:
            one = counts[EXPLAINED] == 1
            parts.append(
                f"{counts[EXPLAINED]} {'is' if one else 'are'} explained by another column and no interaction"
                f"{'s' * (not one)}"
            )
        if n > counts[HOLDS] + counts[EXPLAINED]:
            parts.append(f"of {n - counts[HOLDS] - counts[EXPLAINED]} it cannot be told")
        return f"Of {n} lead{'s' * (n != 1)}, {'; '.join(parts)} (tagging)."
