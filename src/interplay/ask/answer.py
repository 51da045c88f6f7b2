"""A question and the arguments of its call → its result: one driver for whole searches and those of some samples.

A call asks about one outcome or several, all samples or those that are not held out, one offset or one for each
chromosome. What searches the samples of one task (whole, in groups, a shard, halves) is the question's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

from interplay.ask.chromosome_offsets import ChromosomeOffsets
from interplay.ask.traits import several_traits
from interplay.base.progress import check_progress
from interplay.data.codes.coded import SharedCodes
from interplay.data.study.study import Study
from interplay.search.checkpoint import as_checkpoint

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
