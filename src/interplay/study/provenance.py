"""When and with what a run was made, so that it can be repeated and checked."""

from __future__ import annotations

import platform
from datetime import datetime
from functools import cache
from importlib.metadata import version


def now() -> str:
    """Return date and time here, to the second, with the offset from UTC."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ("interplay", "numpy", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{name: _installed(name) for name in names}}


@cache  # read from a file, which takes as long as a small search
def _installed(name: str) -> str:
    return version(name)
