"""The Pythons of this machine that interplay runs on: those on PATH, and those that pyenv keeps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: The option of a script that shall do its work for one more Python, and not for all.
SECOND = "--second"

#: Whether an extension module can be built and an environment made comes last: Debian has its headers and ensurepip in
#: packages of their own.
_ASK = """
import importlib.util, os, sys, sysconfig
print(sys.executable, sys.version_info.minor, bool(sysconfig.get_config_var("Py_GIL_DISABLED")), sep="\\n")
headers = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
print(headers and importlib.util.find_spec("ensurepip") is not None and sys.version_info.releaselevel == "final")
"""


@dataclass(frozen=True, order=True)
class Python:
    """A version of Python 3, with or without the GIL; complete, if it is released and can build packages."""

    minor: int
    is_free_threaded: bool
    path: str
    is_complete: bool

    @property
    def name(self) -> str:
        return f"3.{self.minor}{'t' * self.is_free_threaded}"


def wanted_pythons(options: list[str]) -> list[Python]:
    """Return the Pythons here; with the option SECOND, the newest of another version than the one that runs this.

    If there is none, say so and end: that is no failure.
    """
    pythons = installed_pythons()
    if SECOND not in options:
        return pythons
    version = sys.version_info.minor
    others = [one for one in pythons if one.is_complete and not one.is_free_threaded and one.minor != version]
    if not others:
        print(f"No Python here but 3.{version} that can build packages: nothing is tried with a second one.")
        sys.exit(0)
    return others[-1:]


def installed_pythons() -> list[Python]:
    """Return one Python of each version from the oldest supported one on."""
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = int(metadata["project"]["requires-python"].removeprefix(">=3."))
    on_path = [f"python3.{minor}{kind}" for minor in range(oldest, oldest + 9) for kind in ("", "t")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [*filter(None, map(shutil.which, on_path)), *map(str, sorted(pyenv.glob("versions/3.*/bin/python3")))]
    found: dict[str, Python] = {}
    for candidate in candidates:
        # One of pyenv's shims says by its exit code that it stands for nothing.
        answer = subprocess.run([candidate, "-c", _ASK], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            path, minor, is_free_threaded, is_complete = answer.stdout.splitlines()
            python = Python(int(minor), is_free_threaded == "True", path, is_complete == "True")
            if python.minor >= oldest:
                found.setdefault(python.name, python)
    return sorted(found.values())
