"""Ctrl-C: noticed also where Python would lose it, and delayed where it would do harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Presses of Ctrl-C since `noticing_interrupts` began."""

    def __init__(self) -> None:
        self._presses = 0
        self._held = 0
        self._presses_when_held = 0

    def __call__(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self.pressed:
            raise KeyboardInterrupt

    @property
    def pressed(self) -> bool:
        return self._presses > 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Only note the first Ctrl-C: raised in the middle of another library's work, it could leave that unusable.

        The caller asks for it afterwards. A second Ctrl-C is raised at once, in case the library hangs.
        """
        if not self._held:
            self._presses_when_held = self._presses
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def press(self) -> bool:
        """Note a Ctrl-C; say whether it may be raised now."""
        self._presses += 1
        return not self._held or self._presses > self._presses_when_held + 1


@contextmanager
def noticing_interrupts() -> Iterator[Interrupts]:
    """Yield an object that raises KeyboardInterrupt when it is called, if Ctrl-C was pressed since.

    Python's own KeyboardInterrupt usually comes first. But during a callback of the garbage collector, or a finaliser
    of a library, Python prints the exception and forgets it.
    """
    interrupts = Interrupts()
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield interrupts  # others handle the signal
        return

    def press(number: int, frame: FrameType | None) -> None:
        if interrupts.press():
            handler(number, frame)

    signal.signal(signal.SIGINT, press)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, handler)
