"""How far a long search has come: a bar on a terminal, a box in a notebook, a line a minute in a log."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import Any, Protocol, TypeVar, cast

from interplay.base.checks import shown
from interplay.base.jobs import map_in_threads
from interplay.base.text import printable

#: Names and gains of the best variables so far; called only when there is something to show.
BestFinds = Callable[[], list[tuple[str, float]]]


class ShowDone(Protocol):
    """Takes the number of tuples done so far and, where the engine can tell, the best finds."""

    def __call__(self, done: float, best: BestFinds | None = None, /) -> None: ...


#: The argument `progress`; a function is called now and then with the share that is done, 0 to 1.
Progress = bool | Callable[[float], None] | None

_Told = TypeVar("_Told")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: A search this short needs no display; below it the bar would only flicker.
_MIN_TUPLES_SHOWN = 20_000_000

_SECONDS_BETWEEN_LINES = 60.0
_SECONDS_BETWEEN_UPDATES = 0.5

#: Work on items is shown where it will take longer than this. The first items, a share of one in 200, are timed for it.
_SECONDS_SHOWN, _FIRST_SHARE = 3.0, 200

N_FINDS_SHOWN = 3
_LONGEST_NAME = 16


def check_progress(progress: Any) -> None:
    """Refuse a value that is neither None, nor a bool, nor callable."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(
            f"progress must be True, False, None or a function that takes the share done, not {shown(progress)}"
        )


def part(tell: _Told, begin: float = 0.0, size: float = 1.0) -> _Told:
    """Return the progress function of a part of the work, which calls `tell` with the amount done of the whole.

    - `tell`: returned as it is where it is no function.
    - `begin`: the amount done before the part, in the unit of `tell`: tuples, or a share.
    - `size`: amount of the whole that an amount of 1 in the part stands for.

    Returns
    -------
    The same kind of function. It never goes back, also where work is done again.

    Examples
    --------
    >>> second_half = part(print, 0.5, 0.5)
    >>> for done in (0.0, 0.5, 0.25, 1.0):
    ...     second_half(done)
    0.5
    0.75
    0.75
    1.0
    """
    if not callable(tell):
        return tell
    tell_whole, most = tell, begin

    def told(done: float, *best: Any) -> None:
        nonlocal most
        most = max(most, begin + size * done)
        tell_whole(most, *best)

    return cast(_Told, told)


@contextmanager
def show_progress(
    progress: Progress,
    *,
    n_tuples: float,
    what: str,
    min_tuples: float = _MIN_TUPLES_SHOWN,
    unit: str = "tuples",
) -> Iterator[ShowDone | None]:
    """Show the share done, the rate, the time left and the best finds on stderr; yield the function to report them.

    - `progress`: True: always, as a bar on a terminal or in a notebook, as a line a minute elsewhere. False: never.
      None: a bar where it can be seen, for work that takes a while. A function is called with the share that is done.
    - `n_tuples`: all tuples of the search.
    - `what`: the search, in a few words.
    - `min_tuples`: with None, a search of fewer tuples is not shown.
    - `unit`: what is counted.
    """
    if callable(progress):
        tell = progress
        yield lambda done, best=None, /: tell(min(done / n_tuples, 1.0))
        return
    in_notebook = "ipykernel" in sys.modules
    can_draw = in_notebook or _stderr_is_terminal()
    if progress is None:
        progress = can_draw and n_tuples >= min_tuples
    if not progress or (sys.stderr is None and not in_notebook):
        yield None
    elif in_notebook:
        yield _box(n_tuples, what, unit)
    elif can_draw:
        with _bar(n_tuples, what, unit) as show:
            yield show
    else:
        yield _lines(n_tuples, what, unit)


class Unfinished(KeyboardInterrupt):
    """Ctrl-C during work of many parts; `done` is the result of those that were finished."""

    def __init__(self, done: Any) -> None:
        super().__init__()
        self.done = done


@contextmanager
def unfinished(finish: Callable[[Any], Any]) -> Iterator[None]:
    """Within, what Ctrl-C leaves of the work is finished by this function."""
    try:
        yield
    except Unfinished as stopped:
        raise Unfinished(finish(stopped.done)) from None


def map_shown(
    work: Callable[[_Item], _Result],
    items: Sequence[_Item],
    n_threads: int,
    *,
    progress: Progress,
    what: str,
    sizes: Sequence[int] | None = None,
    into: list[_Result] | None = None,
) -> list[_Result]:
    """Apply `work` to each item, as `map_in_threads`; announce what takes long before it goes on, and show it.

    How long all items take is told by the first ones.

    - `progress`: as in `show_progress`.
    - `what`: what is done, as in "tests of".
    - `sizes`: tuples of each item; one if not given.
    - `into`: an empty list, which is returned: on Ctrl-C it has the results of the first items.

    Examples
    --------
    >>> map_shown(abs, [-3, -1, 4], 1, progress=print, what="tests of")
    0.3333333333333333
    1.0
    [3, 1, 4]
    """
    sizes = [1] * len(items) if sizes is None else sizes
    n_tuples = sum(sizes)
    n_first = max(n_threads, len(items) // _FIRST_SHARE)
    began = time.perf_counter()
    found = [] if into is None else into
    found += map_in_threads(work, items[:n_first], n_threads)
    done = sum(sizes[:n_first])
    seconds = (time.perf_counter() - began) * n_tuples / max(done, 1)
    words = f"{what} {n_tuples:,} tuples: about {_duration(seconds)}"
    is_long = seconds >= _SECONDS_SHOWN
    with show_progress(
        progress if callable(progress) or is_long else False, n_tuples=max(n_tuples, 1), what=words, min_tuples=0
    ) as show:
        step = max(n_threads, int(len(items) * _SECONDS_BETWEEN_UPDATES / max(seconds, 1e-9)))
        while True:
            if show is not None:
                show(sum(sizes[: len(found)]))
            if len(found) == len(items):
                return found
            found += map_in_threads(work, items[len(found) : len(found) + step], n_threads)


@dataclass
class Pace:
    """Rate and time left of a search, in words."""

    n_tuples: float
    unit: str = "tuples"
    started: float = field(default_factory=lambda: time.perf_counter())
    done: float = 0.0

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.started

    @property
    def share(self) -> float:
        return self.done / self.n_tuples if self.n_tuples else 1.0

    def rate(self) -> str:
        """Return tuples a second."""
        return f"{self.done / max(self.elapsed, 1e-9):.3g} {self.unit}/s"

    def left(self) -> str:
        """Return the time left, or nothing before and after."""
        if not 0 < self.done < self.n_tuples:
            return ""
        return f"{_duration(self.elapsed * (self.n_tuples - self.done) / self.done)} left"


def _duration(seconds: float) -> str:
    """Return a duration in the two units that matter.

    Examples
    --------
    >>> _duration(7.2), _duration(330), _duration(3700), _duration(200_000)
    ('7 s', '5 min 30 s', '1 h 1 min', '2 d 7 h')
    """
    seconds = round(seconds)
    for (unit, length), (smaller, part) in pairwise(_UNITS):
        if seconds >= length:
            return f"{seconds // length} {unit} {seconds % length // part} {smaller}"
    return f"{seconds} s"


_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def _in_words(best: BestFinds | None) -> str:
    """Return the best finds, or nothing where they are not known."""
    finds = [] if best is None else best()
    listed = ", ".join(f"{printable(name, _LONGEST_NAME)} {gain:.4g}" for name, gain in finds)
    return f"best so far {listed}" if finds else ""


def _stderr_is_terminal() -> bool:
    """Ask a stderr that may be missing (services), closed, or not quite a file."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


@contextmanager
def _bar(n_tuples: float, what: str, unit: str) -> Iterator[ShowDone]:
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class BarAndFinds(Bar):
        """The bar, and the best finds on a line of their own: they would not fit beside it."""

        finds = ""

        def get_renderables(self) -> Iterator[RenderableType]:
            yield from super().get_renderables()
            # As Text: names of variables are the user's, and their brackets are not markup.
            if self.finds:
                yield Text(self.finds, style="dim", overflow="ellipsis", no_wrap=True)

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    pace = Pace(n_tuples, unit)
    next_finds = _SECONDS_BETWEEN_UPDATES
    with BarAndFinds(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        task = bar.add_task(what, total=n_tuples, pace="")

        def show(done: float, best: BestFinds | None = None, /) -> None:
            nonlocal next_finds
            pace.done = done
            if pace.elapsed >= next_finds:
                next_finds = pace.elapsed + _SECONDS_BETWEEN_UPDATES
                bar.finds = _in_words(best)
            bar.update(task, completed=done, pace=" · ".join(filter(None, [pace.rate(), pace.left()])))

        yield show


def _box(n_tuples: float, what: str, unit: str) -> ShowDone:
    """Show progress in a notebook, as plain HTML; rich would need ipywidgets."""
    display: Any = import_module("IPython.display").display
    pace = Pace(n_tuples, unit)
    handle: Any = None
    next_update = 0.0

    def show(done: float, best: BestFinds | None = None, /) -> None:
        nonlocal handle, next_update
        pace.done = done
        if pace.elapsed < next_update and done < n_tuples:
            return
        next_update = pace.elapsed + _SECONDS_BETWEEN_UPDATES
        text = " · ".join(filter(None, [what, f"{pace.share:.1%}", pace.rate(), pace.left(), _in_words(best)]))
        content = {
            "text/plain": text,
            "text/html": f"<progress value='{pace.share:.4f}' max='1'></progress> <small>{html.escape(text)}</small>",
        }
        if handle is None:
            handle = display(content, raw=True, display_id=True)
        else:
            handle.update(content, raw=True)

    return show


def _lines(n_tuples: float, what: str, unit: str) -> ShowDone:
    pace = Pace(n_tuples, unit)
    next_line = 0.0

    def show(done: float, best: BestFinds | None = None, /) -> None:
        nonlocal next_line
        pace.done = done
        if pace.elapsed < next_line and done < n_tuples:
            return
        next_line = pace.elapsed + _SECONDS_BETWEEN_LINES
        said = [f"{what}: {pace.share:.1%}", pace.rate(), pace.left(), _in_words(best)]
        print(", ".join(filter(None, said)), file=sys.stderr, flush=True)

    return show
