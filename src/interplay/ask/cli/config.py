"""Settings of a run in a TOML file: read with ``--config``, written with ``--write-config``."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from interplay.files.whole_file import whole_file


def use_config(context: click.Context, _: click.Parameter, path: str | None) -> str | None:
    """Take the values in a file as defaults, which options on the command line override."""
    if path is None:
        return None
    known = {parameter.name for parameter in context.command.params if parameter.name} - {"config", "config_out"}
    context.default_map = {**(context.default_map or {}), **read_config(path, known)}
    return path


def read_config(path: str, known: set[str]) -> dict[str, Any]:
    """Return the settings in a file, by the names of their options, as texts that click parses."""
    try:
        with open(path, "rb") as file:
            content = tomllib.loads(file.read().decode("utf-8-sig"))  # some editors begin files with a mark
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path!r} is not a TOML file: {error}") from None
    except RecursionError:
        raise ValueError(f"{path!r} is not a file of settings: its tables are nested too deeply") from None
    settings = {}
    for key, value in content.items():
        name = _ALIASES.get(key, key.replace("-", "_"))
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise ValueError(
                f"{path!r} sets {key!r}, which is not an option" + (f": did you mean {near[0]!r}?" if near else "")
            )
        if isinstance(value, dict):
            raise ValueError(f"{path!r}: {key!r} must be a value, not a table")
        # As text, so that click refuses 2.5 as a whole number and does not cut it.
        settings[name] = [str(entry) for entry in value] if isinstance(value, list) else _typed(value)
        if name in _LISTS and not isinstance(value, list):
            settings[name] = [str(value)]
    return settings


def write_config(path: str, settings: Mapping[str, Any], *, comment: str) -> None:
    """Write settings that are not None so that `read_config` reads them back."""
    lines = [f"# {line}" for line in comment.splitlines()]
    for name, value in settings.items():
        if value is not None:
            lines.append(f"{_NAMES.get(name, name)} = {_toml(value)}")
    with whole_file(Path(path)) as file:
        file.write(("\n".join(lines) + "\n").encode())


def record_command(path: str, command: str, settings: Mapping[str, Any]) -> None:
    """Write the settings with which a command was run to a file that repeats it."""
    from interplay import __version__

    comment = f"`interplay {command} --config {os.path.basename(path)}` repeats this run (interplay {__version__})."
    write_config(path, {name: value for name, value in settings.items() if name != "progress"}, comment=comment)


#: Options whose names differ from the names of their arguments.
_ALIASES = {
    "seed": "random_state", "range": "range_", "jobs": "n_jobs", "format": "format_", "arm": "arms",
    "covariate": "covariates",
}  # fmt: skip
_NAMES = {name: alias for alias, name in _ALIASES.items()}
_LISTS = ("drop", "reference", "discrete", "na_values", "keep_na_values", "arms", "covariates", "variables", "partners")


def _typed(value: Any) -> Any:
    return value if isinstance(value, bool) else str(value)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, int | float):
        return repr(value)
    # A JSON string is a TOML string, except that TOML wants DEL escaped.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
