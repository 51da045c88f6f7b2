"""An outcome of several columns → one search for each: table, survey and codes are made once.

Samples that lack a trait are left out of the search of this trait. Traits that the same samples lack are searched one
after the other, so that they share the codes of these samples.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import ProblemsError, shown
from interplay.base.progress import check_progress, part
from interplay.base.seeds import resolve_seed
from interplay.base.text import name_among
from interplay.data.codes.coded import SharedCodes
from interplay.data.study.columns import Column, decision_column
from interplay.data.study.design import is_by_chromosome
from interplay.data.study.named_columns import warn_of_another_order, without_named
from interplay.data.study.outcomes.times import look_like_times
from interplay.data.study.subsets import RowSubset
from interplay.data.study.table import Table, as_table
from interplay.search.checkpoint import Checkpoint, as_checkpoint
from interplay.search.engines.base import SearchInterrupted
from interplay.show.results.result import Traits

Task = TypeVar("Task")

#: Arguments with one value per sample, beside X and y.
_OF_SAMPLES = ("strata", "groups", "order", "covariates", "offset", "entry")


class Trait(NamedTuple):
    """An outcome, and the samples in which it is known; None for all."""

    name: str
    y: Any
    rows: IntArray | None


@dataclass(frozen=True, eq=False)
class SeveralTraits:
    """A table, and several outcomes of its samples."""

    #: The variables.
    table: Table
    traits: Sequence[Trait]
    #: Other arguments with one value per sample: names are replaced by values.
    of_samples: Mapping[str, Any]

    def searched(
        self,
        check: Callable[..., Task],
        search: Callable[[dict[str, Any], Task, SharedCodes], Any],
        arguments: Mapping[str, Any],
    ) -> Any:
        """Check all traits, then search one after the other.

        - `check`: arguments of the call → task.
        - `search`: arguments, task and codes → result.
        - `arguments`: of the call.
        """
        check_progress(arguments["progress"])
        kept = as_checkpoint(arguments["checkpoint"])
        seed = arguments["random_state"]
        if seed is None and kept is not None:
            seed = self._checkpoint(kept, 0).seed
        common = {**arguments, "random_state": resolve_seed(seed)}
        told: set[str] = set()
        tasks: list[tuple[int, Task, SharedCodes]] = []
        for numbers in self._alike():
            table, of_samples = self.samples_of(self.traits[numbers[0]])
            shared = SharedCodes()
            for number in numbers:
                given = common | of_samples | {"X": table, "y": self.traits[number].y}
                with _told_once(told), _naming(self.traits[number].name):
                    tasks.append((number, check(**given), shared))
        found: dict[int, Any] = {}
        for place, (number, task, shared) in enumerate(tasks):
            if place and tasks[place - 1][2] is not shared:
                tasks[place - 1][2].forget()
            trait = self.traits[number]
            here = common | {
                "progress": part(common["progress"], place / len(tasks), 1 / len(tasks)),
                "checkpoint": None if kept is None else self._checkpoint(kept, number),
            }
            try:
                with _told_once(told), _naming(trait.name):
                    found[number] = search(here, task, shared)
            except KeyboardInterrupt as interrupt:
                done, kept_in, not_kept = 0.0, None, None
                if isinstance(interrupt, SearchInterrupted):
                    done, kept_in, not_kept = interrupt.done, interrupt.kept_in, interrupt.not_kept
                raise SearchInterrupted(self._result(found), (place + done) / len(tasks), kept_in, not_kept) from None
        return self._result(found)

    def _result(self, found: Mapping[int, Any]) -> Traits:
        numbers = sorted(found)
        return Traits([self.traits[number].name for number in numbers], tuple(found[number] for number in numbers))

    def _alike(self) -> list[list[int]]:
        """Return the numbers of traits that the same samples have, together."""
        alike: dict[bytes | None, list[int]] = {}
        for number, trait in enumerate(self.traits):
            alike.setdefault(None if trait.rows is None else trait.rows.tobytes(), []).append(number)
        return list(alike.values())

    def samples_of(self, trait: Trait) -> tuple[Table, dict[str, Any]]:
        """Return the table and the other values of the samples that have a trait."""
        rows = trait.rows
        if rows is None:
            return self.table, dict(self.of_samples)
        some = RowSubset(self.table, rows)
        some.sample_columns = {name: rows_of(values, rows) for name, values in self.table.sample_columns.items()}
        some.samples_left_out += self.table.n_samples - len(rows)
        return some, {name: rows_of(values, rows) for name, values in self.of_samples.items()}

    def _checkpoint(self, kept: Checkpoint, number: int) -> Checkpoint:
        """Return the checkpoint of one trait: a file beside the one that is named."""
        path = Path(os.fspath(kept.path))
        return Checkpoint(path.with_name(f"{path.stem}.{number + 1}{path.suffix}"), seconds=kept.seconds)


def several_traits(arguments: Mapping[str, Any]) -> SeveralTraits | None:
    """Return the outcomes of a call where `y` is a table of two or more columns, or a list of their names.

    Pairs and structured arrays are times, and arrays of two dimensions are refused where one outcome is checked.
    """
    X, y = arguments["X"], arguments["y"]
    names = _names_of_columns(X, y)
    if names is None and not _is_frame(y):
        return None
    of_samples = {name: arguments.get(name) for name in _OF_SAMPLES}
    if is_by_chromosome(of_samples["offset"]):
        raise ValueError("offset by chromosome is a prediction of one outcome: give y one column")
    if names is None:
        warn_of_another_order(X, y=y, **of_samples)
    table = as_table(X)
    given = [value for value in of_samples.values() if isinstance(value, str)]
    if names is None:
        columns = _columns(y, table.n_samples)
    else:
        table, values = without_named(table, **{f"y[{i}]": name for i, name in enumerate(names)})
        columns = dict(zip(names, values, strict=True))
        given += names
    table, others = without_named(
        table, **{name: None if value is False else value for name, value in of_samples.items()}
    )
    resolved = dict(zip(of_samples, others, strict=True))
    if of_samples["order"] is False:
        resolved["order"] = False
    if set(given) & set(table.sample_columns):
        known = table.sample_columns
        table = copy(table) if table is X else table
        table.sample_columns = {name: known[name] for name in known if name not in given}
    return SeveralTraits(table, [_trait(name, values) for name, values in columns.items()], resolved)


def _is_frame(y: Any) -> bool:
    """Say whether an outcome is a dataframe of two or more columns."""
    names = getattr(y, "column_names", None) if hasattr(type(y), "column_names") else None
    if names is None and hasattr(type(y), "columns"):
        names = y.columns
    return names is not None and len(names) > 1


def _names_of_columns(X: Any, y: Any) -> list[str] | None:
    """Return names of columns of X or of its samples, where `y` is a list of these; labels of samples are no names."""
    if not (isinstance(y, list) and len(y) > 1 and all(isinstance(name, str) for name in y)):
        return None
    table = as_table(X)
    known = [*table.sample_columns, *table.names]
    if len(y) == table.n_samples or not any(name_among(known, name) in known for name in y):
        return None
    _check_apart(y)
    return y


def _columns(y: Any, n_samples: int) -> dict[str, Any]:
    """Return the columns of a dataframe by name; refuse times, one-hot classes and names that are not apart."""
    import narwhals.stable.v2 as nw

    native_names = list(y.column_names if hasattr(y, "column_names") else y.columns)
    names = [str(name) for name in native_names]
    _check_apart(names)
    if len(y) != n_samples:
        raise ValueError(f"y must have one row per sample: {len(y)} rows, {n_samples} samples")
    if (likely := look_like_times(names)) is not None:
        time, event = likely
        raise ValueError(
            f"y has the columns {shown(time)} and {shown(event)}, which look like a time and its event: give "
            f"y=(Y[{time!r}], Y[{event!r}]), or each of them by itself"
        )
    frame = nw.from_native(y, eager_only=True)
    columns = {name: frame.get_column(native).to_native() for name, native in zip(names, frame.columns, strict=True)}
    if len(names) > 1 and _are_one_hot(columns):
        raise ValueError("y has one-hot columns: give the classes in one column, y.idxmax(axis=1)")
    return columns


def _check_apart(names: Sequence[str]) -> None:
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ValueError(f"y has more than one column {shown(repeated)}: give each a name of its own")


def _are_one_hot(columns: Mapping[str, Any]) -> bool:
    """Say whether each sample has a 1 in just one of the columns, and 0 in the others."""
    total: Any = 0
    for name, column in columns.items():
        kind = str(getattr(column, "dtype", "")).lower()
        if "str" in kind or "object" in kind or "categor" in kind or "enum" in kind:
            return False
        with _naming(name):
            values = decision_column(column).read()
        if not np.isin(values, (0, 1)).all():
            return False
        total = total + values.astype(np.int64)
    return bool((total == 1).all())


def _trait(name: str, values: Any) -> Trait:
    with _naming(name):
        known = decision_column(values).read()
        is_missing = known != known
        if not is_missing.any():
            return Trait(name, values, None)
        if is_missing.all():
            raise ValueError("y has no values: leave this column out")
    rows = np.flatnonzero(~is_missing)
    return Trait(name, rows_of(values, rows), rows)


def rows_of(values: Any, rows: IntArray) -> Any:
    """Return some samples of an argument that has one value, or one row, per sample."""
    if values is None or isinstance(values, bool | str):
        return values
    if isinstance(values, Column):
        return replace(values, read=lambda: values.read()[rows])
    if isinstance(values, dict):
        return {name: rows_of(column, rows) for name, column in values.items()}
    if hasattr(values, "iloc"):  # pandas
        return values.iloc[rows]
    if isinstance(values, list | tuple):
        return [values[row] for row in rows.tolist()]
    if isinstance(values, np.ndarray):
        return values[rows]
    if hasattr(values, "take"):  # pyarrow, pandas' own arrays
        return values.take(rows)
    return values[rows.tolist()]  # polars


@contextmanager
def _naming(trait: str) -> Iterator[None]:
    """Let an error about y name the trait."""
    try:
        yield
    except ProblemsError:  # of columns of X
        raise
    except (ValueError, TypeError) as error:
        if re.search(r"\by\b", str(error)) is None:
            raise
        raise type(error)(f"{error} (trait {shown(trait)})") from None


@contextmanager
def _told_once(told: set[str]) -> Iterator[None]:
    """Leave out warnings that another trait had."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        if (text := str(one.message)) not in told:
            told.add(text)
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
