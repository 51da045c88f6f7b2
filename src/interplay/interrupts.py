"""Ctrl-C, also where Python would forget it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noticing_interrupts() -> Iterator[Callable[[], None]]:
    """Yield what raises KeyboardInterrupt if Ctrl-C was pressed since.

    The exception of its own comes first, as ever. But where that strikes while Python runs a callback of the garbage
    collector, or what a library does when one of its objects ends, it is printed and forgotten.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield lambda: None  # it is not ours to notice
        return
    pressed = threading.Event()

    def press(number: int, frame: FrameType | None) -> None:
        pressed.set()
        handler(number, frame)

    def check() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, press)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, handler)
