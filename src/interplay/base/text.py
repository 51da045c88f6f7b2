"""Text for people: names of tuples; names and labels of the user's, which may hold any character, made printable."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

#: Of a longer name, a table of text shows the beginning.
LONGEST_NAME = 60

#: Names of tuples, by their number of members.
TUPLE_NAMES = {2: "pairs", 3: "triples", 4: "quadruples", 5: "quintuples"}


def tuples_in_words(dimensions: int) -> str:
    """Return the name of tuples with this number of members.

    Examples
    --------
    >>> tuples_in_words(2), tuples_in_words(7)
    ('pairs', '7-tuples')
    """
    return TUPLE_NAMES.get(dimensions, f"{dimensions}-tuples")


def name_among(names: Collection[str], name: str) -> str:
    r"""Return the name that is `name`, or that differs from it in its Unicode normal form alone; else `name` itself.

    Files of macOS write é as e and an accent, which looks the same as what is typed.

    Examples
    --------
    >>> name_among(["age", "cafe\u0301"], "caf\xe9") == "cafe\u0301"
    True
    """
    if name in names or name.isascii():
        return name
    composed = unicodedata.normalize("NFC", name)
    alike = [other for other in names if unicodedata.normalize("NFC", other) == composed]
    return alike[0] if len(alike) == 1 else name


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    r"""Return text on one line, not too long, with escapes for characters that terminals or fonts would act on.

    Examples
    --------
    >>> printable("dose\n(mg)  \x1b[31m")
    'dose (mg) \\x1b[31m'
    """
    line = " ".join(text[: 10 * longest].split())
    if not line.isprintable():
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def encodable(text: str) -> str:
    r"""Return text that UTF-8 can hold: half of a surrogate pair, which it cannot, is written as an escape.

    Examples
    --------
    >>> encodable("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode()
