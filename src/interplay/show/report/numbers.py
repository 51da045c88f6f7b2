"""Numbers and names as the report writes them; base.js writes p-values in the same way."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def p_text(p: float) -> str:
    """Return a p-value as the scripts of the page write it.

    Examples
    --------
    >>> p_text(0.0421), p_text(1.234e-7)
    ('0.042', '1.2e-7')
    """
    if p >= 0.001 or p == 0:
        return f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(name: str, length: int = 60) -> str:
    """Return a name on one line, cut to `length` characters."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= length else line[: length - 1] + "…"


def number(value: float, digits: int = 8) -> float | int | None:
    """Round to significant digits; return None for infinities and NaN, which JSON lacks."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def numbers(values: npt.ArrayLike, digits: int = 8) -> list[float | int | None]:
    """Round all values to significant digits."""
    return [number(value, digits) for value in np.asarray(values, dtype=np.float64).ravel().tolist()]
