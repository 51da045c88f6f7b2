"""Traits: the result of a search for several outcomes of one table, by the name of the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import shown
from interplay.base.text import printable
from interplay.files.types import Check
from interplay.infer.p_values import relevant_mask

if TYPE_CHECKING:
    import pandas as pd

#: Traits that a summary lists.
_MOST_LISTED = 20


@dataclass(frozen=True, eq=False, repr=False)
class Traits(Mapping[str, Any]):
    """The results of `select` or `interactions` for several outcomes: a mapping from the name of an outcome.

    Each result is that of a call for the outcome alone, with its p-values adjusted within the outcome.

    Attributes
    ----------
    names : list of str
        Names of the outcomes, in the order of the columns of y.
    results : tuple of Selection or Interactions
    """

    names: Annotated[list[str], Check("n_traits")]
    results: tuple[Any, ...]

    def is_consistent(self) -> bool:
        """Say whether each outcome has a result, and all results are of one kind: a file may say anything."""
        return len(self.results) == len(self.names) == len(set(self.names)) and len(set(map(type, self.results))) == 1

    def __getitem__(self, trait: str) -> Any:
        if trait not in self.names:
            raise KeyError(trait)
        return self.results[self.names.index(trait)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the first outcome's search; those of the others differ in what follows from the outcome."""
        return dict(self.results[0].settings) if self.results else {}

    @property
    def level(self) -> float:
        """The significance level."""
        return float(self.settings["level"])

    @cached_property
    def p_adjusted_all(self) -> list[FloatArray]:
        """Of each outcome, p-values adjusted for all rows of all outcomes, as `p_adjust` says.

        Holm's and Bonferroni's are exact where they are below the significance level. Methods that look at larger
        p-values ("BH", "BY", "hochberg") are never too small, as tuples that are not listed count as 1. p-values that
        are adjusted by permutations are multiplied by the number of outcomes.
        """
        claims = [result.claims() for result in self.results]
        if not claims:
            return []
        if any(one.is_permuted for one in claims):
            return [np.minimum(one.p_adjusted * len(claims), 1.0) for one in claims]
        adjusted = self.results[0].adjust_all(
            np.concatenate([one.p_value for one in claims]), sum(one.n_tests for one in claims)
        )
        return np.split(adjusted, np.cumsum([len(one.p_value) for one in claims])[:-1])

    @property
    def found_all(self) -> dict[str, list[Any]]:
        """What is found after adjustment for all outcomes: names of variables, or of members of tuples."""
        return {
            name: [row for row, holds in zip(result.claims().rows, mask.tolist(), strict=True) if holds]
            for name, result, mask in zip(self.names, self.results, self._holds_all, strict=True)
        }

    @property
    def _holds_all(self) -> list[Any]:
        return [
            result.claims().is_found & relevant_mask(adjusted, level=self.level)
            for result, adjusted in zip(self.results, self.p_adjusted_all, strict=True)
        ]

    @property
    def table(self) -> pd.DataFrame:
        """The tables of all outcomes, one below the other.

        Columns: trait, the name of the outcome; those of the tables; p_adjusted_all, the p-value adjusted for all rows
        of all outcomes; and found_all, whether the row is found after this adjustment, too.
        """
        import pandas as pd

        frames = []
        for name, result, adjusted, holds in zip(
            self.names, self.results, self.p_adjusted_all, self._holds_all, strict=True
        ):
            frame = result.table
            frame.insert(0, "trait", name)
            frames.append(frame.assign(p_adjusted_all=adjusted, found_all=holds))
        filled = [frame for frame in frames if len(frame)] or frames[:1]
        return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame({"trait": []})

    def summary(self) -> str:
        """Return the first line of each result, those with finds first, and how many finds there are in all."""
        counts = [int(result.claims().is_found.sum()) for result in self.results]
        n_all = sum(int(holds.sum()) for holds in self._holds_all)
        lines = [
            f"{len(self)} traits: {sum(counts)} finds in {sum(count > 0 for count in counts)} of them, each adjusted "
            f"within its trait; {n_all} adjusted over all traits"
        ]
        order = sorted(range(len(self)), key=lambda place: -counts[place])
        for place in order[:_MOST_LISTED]:
            lines.append(f"{printable(self.names[place])}: {self.results[place].summary().splitlines()[0]}")
        if len(order) > _MOST_LISTED:
            lines.append(f"… and {len(order) - _MOST_LISTED} more in .table")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()

    def save(self, path: str | PathLike[str]) -> None:
        """Write all results to one file; `interplay.load` reads it back."""
        from interplay.show.results.saved import save_result

        if not self.results:  # of a search that was stopped at its first outcome
            raise ValueError("there is no result of any outcome, and nothing to save")
        save_result(self, path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Refuse: a report is of one outcome, ``traits[name].to_html(path)``."""
        example = shown(self.names[0]) if self.names else "name"
        raise ValueError(f"a report is of one outcome: write traits[{example}].to_html(path)")

    def with_source(self, *, file: str | None, dropped: Sequence[str] = (), command: str = "") -> Traits:
        """Return the same results with the source of their data; see `Result.with_source`."""
        return self._each(lambda one: one.with_source(file=file, dropped=dropped, command=command))

    def with_clumps(self, r2: float) -> Traits:
        """Return the same results with another r² for the clumps in their summaries."""
        return self._each(lambda one: one.with_clumps(r2))

    def _each(self, change: Any) -> Traits:
        return replace(self, results=tuple(change(result) for result in self.results))
