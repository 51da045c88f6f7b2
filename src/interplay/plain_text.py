"""Names and labels of the user's, which may hold anything, as text that can be shown and written."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return text on one line, with what terminals and fonts would act on, or choke on, written as escapes.

    Examples
    --------
    >>> printable("dose\n(mg)  \x1b[31m")
    'dose (mg) \\x1b[31m'
    """
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def encodable(text: str) -> str:
    r"""Return text that UTF-8 can hold: half of a surrogate pair, which it cannot, is written as an escape.

    Examples
    --------
    >>> encodable("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode()
