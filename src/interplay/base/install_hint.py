"""A package that is missing → the command that installs it, for the way in which interplay was installed."""

from __future__ import annotations

import re
from importlib import metadata

#: How packages are installed by the program that installed interplay.
_COMMANDS = {"uv": "uv pip install", "conda": "conda install -c conda-forge", "mamba": "mamba install -c conda-forge"}
_PIP = "python -m pip install"


def install_command(package: str, extra: str) -> str:
    """Return the command that installs a package, in the versions that an extra asks for.

    It names packages, not ``interplay[extra]``: interplay may come from a checkout, a wheel or another channel, where
    no index knows it by that name.

    Examples
    --------
    >>> install_command("no-such-package", "no-such-extra")
    'python -m pip install no-such-package'
    """
    try:
        ours = metadata.distribution("interplay")
    except metadata.PackageNotFoundError:  # imported from a folder
        return f"{_PIP} {package.lower()}"
    command = _COMMANDS.get((ours.read_text("INSTALLER") or "").strip(), _PIP)
    wanted = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    needed = [line.partition(";")[0].strip() for line in ours.requires or () if wanted.search(line)]
    own = [entry for entry in needed if re.match(rf"{re.escape(package)}\b", entry, re.IGNORECASE)]
    return " ".join([command, *(_quoted(entry) for entry in own or needed or [package.lower()])])


def _quoted(requirement: str) -> str:
    """Quote a requirement that a shell would read otherwise."""
    return f'"{requirement}"' if re.search(r"[<>=\[\]]", requirement) else requirement
