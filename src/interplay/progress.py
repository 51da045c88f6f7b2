"""How far a long search has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ShowDone = Callable[[float], None]

#: What callers may ask for; a function is called now and then with the share that is done, 0 to 1.
Progress = bool | Callable[[float], None] | None

#: A search this short needs no display; below it the bar would only flicker.
_MIN_TUPLES_SHOWN = 20_000_000

_SECONDS_BETWEEN_LINES = 60.0


@contextmanager
def show_progress(progress: Progress, *, n_tuples: float, what: str) -> Iterator[ShowDone | None]:
    """Show on stderr what is done, the rate and the time left; yields the function to tell the tuples done so far.

    Parameters
    ----------
    progress : bool, callable or None
        True: always, as a bar on a terminal or in a notebook, as a line a minute elsewhere. False: never. None: a bar
        where it can be seen, for work that takes a while. A function is called with the share that is done.
    """
    if callable(progress):
        tell = progress
        yield lambda done: tell(min(done / n_tuples, 1.0))
        return
    can_draw = _stderr_is_terminal() or "ipykernel" in sys.modules
    if progress is None:
        progress = can_draw and n_tuples >= _MIN_TUPLES_SHOWN
    if not progress or sys.stderr is None:
        yield None
    elif can_draw:
        with _bar(n_tuples, what) as show:
            yield show
    else:
        yield _lines(n_tuples, what)


def _stderr_is_terminal() -> bool:
    """Ask a stderr that may be missing (services), closed, or not quite a file."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


@contextmanager
def _bar(n_tuples: float, what: str) -> Iterator[ShowDone]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    started = time.perf_counter()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=n_tuples, rate="")

        def show(done: float) -> None:
            rate = done / max(time.perf_counter() - started, 1e-9)
            bar.update(task, completed=done, rate=f"{rate:.3g} tuples/s")

        yield show


def _lines(n_tuples: float, what: str) -> ShowDone:
    started = time.perf_counter()
    next_line = 0.0

    def show(done: float) -> None:
        nonlocal next_line
        elapsed = time.perf_counter() - started
        if elapsed < next_line and done < n_tuples:
            return
        next_line = elapsed + _SECONDS_BETWEEN_LINES
        rate = done / max(elapsed, 1e-9)
        left = f", {(n_tuples - done) / rate:.0f} s left" if rate and done < n_tuples else ""
        print(f"{what}: {done / n_tuples:.1%}, {rate:.3g} tuples/s{left}", file=sys.stderr, flush=True)

    return show
