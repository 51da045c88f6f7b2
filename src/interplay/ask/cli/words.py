"""Messages of the package → the words of the command line: options for arguments, the file for X, the target for y."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import cache
from typing import Any

import click

#: A name or value in a message; an apostrophe in a word does not begin one.
_QUOTED = re.compile(r"""((?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w))""")
_VALUE = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\w+(?:\.\w+)*)"""

#: Verbs that follow the name of an argument, and verbs that come before it: there a plain word is an argument.
_AFTER = r"must|names?|needs?|is needed|is not given|is only used|is both|cannot|does not|do not|gives?|holds?|makes?"
_BEFORE = r"lower|raise|give|without|take (?:it|them) out of|at least|beside"

#: Advice that only Python can follow.
_PYTHON_ALONE = (
    " (in pandas with pd.to_numeric(column, errors='coerce'))",
    ", None, or a numpy RandomState or Generator",
    ", or None for one",
    " or (3, 64)",
    ", y.idxmax(axis=1)",
)

#: Sentences of summaries that name Python, and their words on the command line.
_OF_SUMMARIES = {
    r"^(… and [\d,]+ more) in \.(?:table|cautions)$": r"\1 in the file of --out",
    r"^\(too wide for this terminal, in \.table: ": "(too wide for this terminal, in the file of --out: ",
    r"top=10 lists ": "--top 10 lists ",
    r" \(replicate\(\) or holdout=\)\.$": " (--holdout).",
    r": best\(n\) begins with": ": --best N begins with",
    r"(?:;|:) clumps\(\) lists them\.$": ".",
}

#: So many columns are written out as options.
_MAX_DROPPED = 12


def in_options(message: str) -> str:
    """Replace words of Python in a message by those of the command line.

    Examples
    --------
    >>> in_options("'rare': leave it out (on the command line with --min-class), merge it with another")
    "'rare': leave it out (--min-class 5), merge it with another"
    >>> in_options("use decision='classes'; dimensions=9 needs at least 9 variables")
    'use --decision classes; --dimensions 9 needs at least 9 variables'
    >>> in_options("column 'a b' of X determines y, leave it out (on the command line with --drop 'a b')")
    "column 'a b' determines the target, leave it out: --drop 'a b'"
    >>> in_options("use na_values=['-9'] or missing_target='drop'; random_state must be a whole number")
    'use --na-values -9 or --missing-target drop; --seed must be a whole number'
    """
    for words in _PYTHON_ALONE:
        message = message.replace(words, "")
    flags, typed = _flags(), []

    def keep(words: str) -> str:
        typed.append(words)  # values of options stay as they are: a column may be called y
        return f"\0{len(typed) - 1}\0"

    times = r"\by=\(Y\[('[^']*')\], Y\[('[^']*')\]\), or each of them by itself"
    message = re.sub(times, lambda found: keep(f"--time {found[1]} --event {found[2]} in place of --trait"), message)
    message = message.replace(" (on the command line with --min-class)", f" ({keep('--min-class 5')})")
    message = re.sub(r" \(on the command line with (--drop [^)]*)\)", lambda found: keep(_dropping(found)), message)
    message = re.sub(
        rf"\b({'|'.join(flags)})=({_VALUE})?", lambda found: keep(_given(flags[found[1]], found[2])), message
    )
    parts = _QUOTED.split(message)
    after_name = False
    for number in range(0, len(parts), 2):  # the others are quoted
        parts[number] = _plain(parts[number], flags, is_first=number == 0, after_name=after_name)
        after_name = True
    return re.sub(r"\0(\d+)\0", lambda found: typed[int(found[1])], "".join(parts))


def summary_in_options(summary: str) -> str:
    r"""Replace words of Python in a summary by those of the command line.

    Examples
    --------
    >>> summary_in_options("… and 4 more in .table\nthe smallest is 0.1 (a, b); top=10 lists more.")
    '… and 4 more in the file of --out\nthe smallest is 0.1 (a, b); --top 10 lists more.'
    """
    for words, instead in _OF_SUMMARIES.items():
        summary = re.sub(words, instead, summary, flags=re.MULTILINE)
    return re.sub("^Filters left out .*$", lambda found: in_options(found[0]), summary, flags=re.MULTILINE)


def as_options(arguments: Mapping[str, Any]) -> str:
    """Write arguments as the options to type.

    Examples
    --------
    >>> as_options({"missing": "level", "drop": ["name", "first visit"]})
    "--missing level --drop name --drop 'first visit'"
    """
    flags, words = _flags(), []
    for name, value in arguments.items():
        entries = value if isinstance(value, list) else [value]
        words += [f"{flags[name]} {shlex.quote(str(entry))}" for entry in entries[:_MAX_DROPPED]]
        if len(entries) > _MAX_DROPPED:
            words.append(f"… ({len(entries) - _MAX_DROPPED} more)")
    return " ".join(words)


@cache
def _flags() -> dict[str, str]:
    """Return the option of each argument, the longest names first."""
    from interplay.ask.cli.commands import commands

    flags = {
        str(option.name): max(option.opts, key=len)
        for command in commands.commands.values()
        for option in command.params
        if isinstance(option, click.Option)
    }
    return {name: flags[name] for name in sorted(flags, key=len, reverse=True)}


def _given(flag: str, value: str | None) -> str:
    """Write an option with a value that a message has in the words of Python."""
    if value is None or value in ("True", "None"):
        return flag
    if value == "False":
        return flag.replace("--", "--no-", 1)
    entries = _QUOTED.findall(value) if value.startswith("[") else [value]
    return " ".join(f"{flag} {shlex.quote(_unquoted(entry))}" for entry in entries)


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in "'\"" and text[:1] else text


def _dropping(found: re.Match[str]) -> str:
    return f": {re.sub(_QUOTED, lambda name: shlex.quote(_unquoted(name[1])), found[1])}"


def _plain(text: str, flags: dict[str, str], *, is_first: bool, after_name: bool) -> str:
    """Replace arguments, X and y in a part of a message that is not quoted."""
    plain = "|".join(name for name in flags if "_" not in name)
    start = r"(?:^|(?<=[;:)] ))" if is_first else r"(?:(?<=[;:)] ))"
    text = re.sub(rf"{start}({plain})(?= (?:{_AFTER})\b)", lambda found: flags[found[1]], text)
    text = re.sub(rf"\b({_BEFORE}) ({plain})\b(?!-)", lambda found: f"{found[1]} {flags[found[2]]}", text)
    snake = "|".join(name for name in flags if "_" in name)
    text = re.sub(rf"(?<![\w.])({snake})(?!\w)", lambda found: flags[found[1]], text)
    if after_name:
        text = re.sub(r"^ of X\b", "", text)
    text = re.sub(r"\bX\b", "the table", text)
    return re.sub(r"(?<![\w=])y\b(?!=)", "the target", text)
