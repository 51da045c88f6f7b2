"""A command as it was given → the line that repeats it."""

from __future__ import annotations

import shlex
from typing import Any

import click
from click.core import ParameterSource

#: What does not decide the result, and would overwrite files if repeated.
_NOT_REPEATED = {
    "out",
    "format_",
    "report",
    "save",
    "config",
    "config_out",
    "checkpoint",
    "progress",
    "quiet",
    "dry_run",
}


def repeated_command(context: click.Context, **decided: Any) -> str:
    """Return the line that repeats a command, with the values that were `decided` during the run (the seed).

    Options that were left at their defaults are left out; those of a file of settings are written out.
    """
    words = context.command_path.split()
    for parameter in context.command.params:
        name = str(parameter.name)
        is_given = context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP)
        if name in _NOT_REPEATED or not (is_given or name in decided):
            continue
        words += _words(parameter, decided.get(name, context.params.get(name)))
    return shlex.join(words)


def _words(parameter: click.Parameter, value: Any) -> list[str]:
    if value is None:
        return []
    values = [str(entry) for entry in (value if isinstance(value, list | tuple) else [value])]
    if isinstance(parameter, click.Argument):
        return values
    option = max(parameter.opts, key=len)  # --seed rather than -s: longer, and clear
    if isinstance(value, bool):
        return [option] if value else list(parameter.secondary_opts[:1])
    return [word for entry in values for word in (option, entry)]
