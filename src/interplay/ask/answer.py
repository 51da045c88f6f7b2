"""A question and the arguments of its call → its result: one driver for all searches; the parts of shards.

A call asks about one outcome or several, all samples or those that are not held out, one offset or one for each
chromosome. What searches the samples of one task (whole, in groups, a shard, halves) is the question's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Generic, Protocol, Self, TypeVar

from interplay.ask.chromosome_offsets import ChromosomeOffsets
from interplay.ask.traits import several_traits
from interplay.base.checks import shown
from interplay.base.progress import check_progress
from interplay.data.codes.coded import SharedCodes
from interplay.data.study.study import Study
from interplay.search.checkpoint import as_checkpoint, describe_difference
from interplay.search.loop import Shard

#: The engine, its threads, progress and checkpoint of a call.
How = Mapping[str, Any]


class Task(Protocol):
    """Checked arguments of a call."""

    @property
    def offsets(self) -> ChromosomeOffsets | None:
        """Offsets of which each leaves out a chromosome."""

    def parts(self) -> tuple[Self, Study | None]:
        """Return the task of the samples that are searched, and the samples that are held out, if there are any."""


T = TypeVar("T", bound=Task)
R = TypeVar("R")


@dataclass(frozen=True)
class Question(Generic[T, R]):
    """What a call asks."""

    #: Arguments → task; an argument that is not given has the default of the call.
    check: Callable[..., T]
    #: A task of one outcome → its result; codes may be shared with searches for other outcomes.
    search: Callable[[T, How, SharedCodes | None], R]
    #: The same, chromosome by chromosome.
    by_chromosome: Callable[[T, How], R]
    #: A result, and samples that were held out → the result with its tests in these.
    in_new_samples: Callable[[R, Study], R]


def answer(question: Question[T, R], arguments: How, task: T | None = None, shared: SharedCodes | None = None) -> R:
    """Return the result of a call; of several outcomes it is `Traits`, typed as what one outcome gives.

    Of a `task`, whose arguments are checked, `arguments` say how; codes may be shared with searches for other outcomes.
    """
    if task is None:
        if (several := several_traits(arguments)) is not None:
            traits: R = several.searched(question.check, partial(answer, question), arguments)
            return traits
        kept = as_checkpoint(arguments["checkpoint"])
        seed = {"random_state": kept.seed} if arguments["random_state"] is None and kept is not None else {}
        task, arguments = question.check(**{**arguments, **seed}), {**arguments, "checkpoint": kept}
    how = {name: arguments[name] for name in ("engine", "n_jobs", "progress", "checkpoint")}
    check_progress(how["progress"])
    if task.offsets is not None:
        return question.by_chromosome(task, how)
    searched, held_out = task.parts()
    found = question.search(searched, how, shared)
    return found if held_out is None else question.in_new_samples(found, held_out)


_Part = TypeVar("_Part")


def check_list_of_parts(parts: Any, *kinds: type) -> None:
    """Refuse a single part, and values that have no items: parts come as a list."""
    if isinstance(parts, (str, os.PathLike, *kinds)):
        raise TypeError(f"parts must be a list of parts or their files, not one of them: write [{shown(parts)}]")
    if not isinstance(parts, Iterable):
        raise TypeError(f"parts must be a list of parts or their files, not {shown(parts)}")


def parts_of_one_search(
    parts: Iterable[Any], kind: type[_Part], load: Callable[[Any], _Part], about: Callable[[_Part], dict[str, Any]]
) -> Iterator[tuple[Shard, _Part]]:
    """Yield one part after the other, so that only one has to be in memory; refuse parts that are not of one search.

    - `kind`: the type of parts.
    - `load`: a file → its part, or an error that names the file.
    - `about`: a part → what all parts of a search have in common, and the "shard".
    """
    first: tuple[str, Shard, dict[str, Any]] | None = None
    name_of: dict[int, str] = {}
    for given in parts:
        if not isinstance(given, str | os.PathLike | kind):
            raise TypeError(f"parts must be parts or names of their files, not {shown(given)}")
        file = repr(os.fspath(given)) if isinstance(given, str | os.PathLike) else None
        part = given if isinstance(given, kind) else load(given)
        common = about(part)
        shard = common.pop("shard")
        name = file or f"part {shard}"
        if first is None:
            first = name, shard, common
        _check_same_search(name, shard, common, *first)
        if shard.number in name_of:
            doubled = f"{shard} is given twice, as {name_of[shard.number]} and as {name}"
            raise ValueError(f"parts: {doubled}: leave one out")
        name_of[shard.number] = name
        yield shard, part
    if first is None:
        raise ValueError("parts is empty: give at least one part")
    n_shards = first[1].of
    if missing := sorted(set(range(1, n_shards + 1)) - set(name_of)):
        verb, them = ("is", "it, or add its file") if len(missing) == 1 else ("are", "them, or add their files")
        raise ValueError(f"parts: {_listed(missing)} of {n_shards} {verb} missing: search {them}")


def _check_same_search(
    name: str, shard: Shard, common: dict[str, Any], first: str, first_shard: Shard, of_first: dict[str, Any]
) -> None:
    if shard.of != first_shard.of:
        raise ValueError(f"parts: {name} is {shard} and {first} is {first_shard}: merge parts of one search")
    if difference := describe_difference(of_first, common):
        difference = difference.replace(" there", f" in {first}").replace(" here", f" in {name}")
        raise ValueError(f"parts: {name} is of another search than {first} ({difference}): merge parts of one search")


def _listed(numbers: Sequence[int]) -> str:
    """Write numbers as ranges.

    Examples
    --------
    >>> _listed([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    runs = []
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        runs.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return ", ".join(runs[:20]) + (", …" if len(runs) > 20 else "")
