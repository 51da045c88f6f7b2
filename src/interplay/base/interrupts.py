"""Ctrl-C, also where Python would forget it, and not where it would do harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """What is known of Ctrl-C while `noticing_interrupts`."""

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
        """Only note the first Ctrl-C: where it would strike in the middle of another library's work, and spoil it.

        It is for the caller to ask for it afterwards. A second one strikes at once, should that library hang.
        """
        if not self._held:
            self._presses_when_held = self._presses
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def press(self) -> bool:
        """Note a Ctrl-C; say whether it may strike."""
        self._presses += 1
        return not self._held or self._presses > self._presses_when_held + 1


@contextmanager
def noticing_interrupts() -> Iterator[Interrupts]:
    """Yield what raises KeyboardInterrupt if Ctrl-C was pressed since.

    The exception of its own comes first, as ever. But where that strikes while Python runs a callback of the garbage
    collector, or what a library does when one of its objects ends, it is printed and forgotten.
    """
    interrupts = Interrupts()
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield interrupts  # it is not ours to notice
        return

    def press(number: int, frame: FrameType | None) -> None:
        if interrupts.press():
            handler(number, frame)

    signal.signal(signal.SIGINT, press)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, handler)
