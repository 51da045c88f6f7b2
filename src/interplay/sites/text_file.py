"""Text files of sites, to be read before they are sent: what leaves the site in words, a header, lines, a checksum."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from interplay.base.checks import check_file
from interplay.files.whole_file import whole_file

_VERSION = 1

#: The last line of every file, before its hash.
_CHECKSUM = "# checksum: "


def write_lines(
    path: str | os.PathLike[str], kind: str, prose: Iterable[str], header: Mapping[str, Any], lines: Iterable[str]
) -> None:
    """Write a file of a site: what it is, what it contains in words, entries of the header, lines, checksum."""
    first = [f"# interplay: {kind}, version {_VERSION}", *(f"# {line}" for line in prose)]
    entries = [f"# {name}: {json.dumps(value, ensure_ascii=True)}" for name, value in header.items()]
    checksum = hashlib.sha256()
    with whole_file(path) as file:
        for line in (*first, *entries, *lines):
            content = f"{line}\n".encode()
            checksum.update(content)
            file.write(content)
        file.write(f"{_CHECKSUM}{checksum.hexdigest()}\n".encode())


def read_lines(path: str | os.PathLike[str], kind: str, wanted: Mapping[str, type]) -> tuple[dict[str, Any], list[str]]:
    """Read a file of a site, or say in one line why not: its header, with these entries, and its lines.

    Ends of lines may have changed on the way.
    """
    file = check_file("path", path)
    name = repr(os.fspath(path))
    *whole, rest = file.read_bytes().split(b"\n")
    lines = [*(line.removesuffix(b"\r") for line in whole), rest]
    while lines and not lines[-1]:
        lines.pop()
    if not lines or not lines[0].startswith(b"# interplay: "):
        raise ValueError(f"{name} is not a {kind}: it does not begin as one")
    try:
        texts = [line.decode() for line in lines]
    except UnicodeDecodeError:
        raise ValueError(f"{name} is damaged: it is no text") from None
    is_of = texts[0].removeprefix("# interplay: ")
    if not is_of.startswith(f"{kind}, version "):
        raise ValueError(f"{name} is a {is_of.partition(',')[0]}, not a {kind}")
    if is_of != f"{kind}, version {_VERSION}":
        raise ValueError(f"{name} was written by another version of interplay ({is_of}): write it again")
    checksum = hashlib.sha256()
    for line in lines[:-1]:
        checksum.update(line + b"\n")
    if texts[-1] != _CHECKSUM + checksum.hexdigest():
        raise ValueError(f"{name} is damaged, or was changed: its checksum does not fit; ask the site to send it again")
    header = dict(_entries(texts[1:-1], wanted))
    if missing := [entry for entry in wanted if not _is_of_type(header.get(entry), wanted[entry])]:
        raise ValueError(f"{name} has no valid entry {missing[0]!r} in its header")
    return header, [line for line in texts[1:-1] if not line.startswith("#")]


def _entries(lines: Iterable[str], wanted: Mapping[str, type]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        if not line.startswith("# "):
            continue
        entry, found, value = line[2:].partition(": ")
        if found and entry in wanted:
            try:
                yield entry, json.loads(value)
            except (ValueError, RecursionError):
                continue


def _is_of_type(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def written_name(name: str) -> str:
    r"""Return the name of a column as a field of a line; names that a line cannot hold as they are come quoted.

    Examples
    --------
    >>> written_name("rs7"), written_name("dose\t(mg)")
    ('rs7', '"dose\\t(mg)"')
    """
    is_plain = name.isprintable() and name.strip() == name and name[:1] not in ("", "#", '"')
    return name if is_plain else json.dumps(name)


def names_in_lines(names: list[str]) -> dict[str, int]:
    """Return the number of each column by its name as lines have it."""
    return {written_name(name): number for number, name in enumerate(names)}
