"""Which bound the processor's search finds cheaper here, on made-up data: part of ``interplay info -v``."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from interplay.datasets import make_madelon
from interplay.engines.cpu import BOUND_CHOICE, CpuEngine, logger
from interplay.gains.call import max_information_gain

#: Shares of the rarer class to try. Below about a fifth only the rational bound is sound, and of nearly even classes it
#: is no tighter: there is no choice then.
SHARES = (0.4, 0.3, 0.2)


def show_bound_choices(show: Callable[[str], None]) -> None:
    """Search a few small problems and show what the search says about its bound."""
    handler = _Handler(show)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        for share in SHARES:
            x, y, _ = make_madelon(1000, 200, random_state=1)
            rare = np.random.default_rng(0).random(len(y)) < 2 * share
            handler.prefix = f"{'bound':<12} rarer class {share:.0%}, "
            max_information_gain(x, np.where(rare, y, 0), dimensions=3, engine=CpuEngine(), progress=False)
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class _Handler(logging.Handler):
    """Shows each message about the bound with a prefix."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.DEBUG)
        self.prefix = ""
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == BOUND_CHOICE:
            self._show(self.prefix + record.getMessage())
