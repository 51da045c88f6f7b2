"""Warnings that point at the user's line, from however deep in the package."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line that called the package.

    This line is that of the caller of the outermost frame of the package. Frames of other packages may stand between
    those of this package: a decorator of scikit-learn, or contextlib's, whose generator is a function of ours.
    """
    frame: FrameType | None = sys._getframe()
    depth = level = 0
    while frame is not None:
        depth += 1
        if frame.f_code.co_filename.startswith(_PACKAGE):
            level = depth
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
