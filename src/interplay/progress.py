"""How far a long search has come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: A search this short needs no display; below it the bar would only flicker.
_MIN_TUPLES_SHOWN = 2_000_000


@contextmanager
def show_progress(progress: bool | None, *, n_tuples: float, what: str) -> Iterator[Callable[[float], None] | None]:
    """Show a bar on stderr with rate and time left; yields the function to call with the tuples done so far.

    Parameters
    ----------
    progress : bool or None
        True: always; False: never; None: on a terminal or in a notebook, and only for work that takes a while.
    """
    if progress is None:
        progress = n_tuples >= _MIN_TUPLES_SHOWN and _someone_is_watching()
    if not progress:
        yield None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=n_tuples, rate="")

        def update(done: float) -> None:
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            bar.update(task, completed=done, rate=f"{speed:.3g} tuples/s" if speed else "")

        yield update


def _someone_is_watching() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
