"""Numbers and names as the report writes them; base.js writes p-values in the same way."""

from __future__ import annotations


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
