"""Result: the common part of Selection and Interactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, Self, cast

from interplay.base.arrays import IntArray
from interplay.show.results.provenance import Provenance, Settings


class Result:
    """A result with names of variables, settings and provenance. The dataclasses that hold results inherit from it."""

    names: list[str]
    settings: dict[str, Any]
    provenance: dict[str, Any]

    @cached_property
    def asked(self) -> Settings:
        """The settings, typed."""
        return Settings.of(self.settings)

    @cached_property
    def record(self) -> Provenance:
        """The provenance, typed."""
        return Provenance.of(self.provenance)

    @property
    def has_times(self) -> bool:
        """Whether the outcome was given as times of events, be it that their residuals were cut into classes."""
        return self.record.survival is not None

    def names_of(self, members: IntArray) -> tuple[str, ...]:
        """Return the names of variables by their numbers; −1 stands for none."""
        return tuple(self.names[m] for m in members.tolist() if m >= 0)

    def with_source(self, *, file: str | None, dropped: Sequence[str] = (), command: str = "") -> Self:
        """Return the same result with the source of its data, for the report and the saved file.

        Parameters
        ----------
        file : str or None
            The file that was read.
        dropped : list of str
            Columns of the file that were left out.
        command : str
            The command that repeats the run.
        """
        source = {"file": file, "dropped": list(dropped), "command": command}
        return cast(Self, replace(cast(Any, self), provenance=self.provenance | {"source": source}))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole result to one file, a zip of JSON and .npy; `interplay.load` reads it back."""
        from interplay.show.results.saved import save_result

        save_result(self, path)

    def summary(self) -> str:
        """Return the result in words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.summary()
