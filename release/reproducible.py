"""Build the wheel and the source distribution twice, in places that differ, and compare the bytes.

The two builds differ in folder, time zone, language and umask. Whoever has the same compiler and the packages of
``tools.lock`` can so check that a wheel holds what the source says, and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Of different length, for paths hide in lengths too.
PLACES = {
    "a": {"TZ": "UTC", "LC_ALL": "C", "umask": "022"},
    "another-place": {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "umask": "077"},
}


def main(out: Path) -> None:
    """Leave the two files in `out`, or end with what differs."""
    with tempfile.TemporaryDirectory(prefix="interplay-reproducible-") as folder:
        built = [_build(Path(folder) / place, **differences) for place, differences in PLACES.items()]
        first, second = ({path.name: path for path in files} for files in built)
        if first.keys() != second.keys():
            sys.exit(f"not reproducible: {sorted(first)} and {sorted(second)}")
        for name, path in first.items():
            if path.read_bytes() != second[name].read_bytes():
                sys.exit(f"not reproducible: {name} differs{_differing_members(path, second[name])}")
            if path.suffix == ".whl":
                _refuse_paths(path, Path(folder))
        out.mkdir(parents=True, exist_ok=True)
        for old in [*out.glob("*.whl"), *out.glob("*.tar.gz")]:
            old.unlink()
        for name, path in first.items():
            shutil.copy(path, out)
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}")


def _build(place: Path, *, umask: str, **environment: str) -> list[Path]:
    """Copy what git would hand out, build there, and return the files."""
    source, out = place / "source", place / "out"
    for name in _git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    # The wheel from the source distribution, as whoever installs it without a wheel gets it.
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source],
        env=os.environ | {"SOURCE_DATE_EPOCH": _git("log", "-1", "--format=%ct").strip()} | environment,
        umask=int(umask, 8),
        check=True,
        stdout=sys.stderr,
    )
    return sorted(out.iterdir())


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _differing_members(a: Path, b: Path) -> str:
    if a.suffix != ".whl":
        return ""
    with zipfile.ZipFile(a) as first, zipfile.ZipFile(b) as second:
        crcs = [{member.filename: member.CRC for member in archive.infolist()} for archive in (first, second)]
    differing = sorted(name for name in crcs[0].keys() | crcs[1].keys() if crcs[0].get(name) != crcs[1].get(name))
    return f": {', '.join(differing)}" if differing else ": order, times or permissions of its members"


def _refuse_paths(wheel: Path, folder: Path) -> None:
    """End if a compiled file tells where it was built: equal bytes could still tell where Python was."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            for path in (folder, Path(sys.prefix), Path.home()):
                if os.fsencode(f"{path}{os.sep}") in content:
                    sys.exit(f"{wheel.name}: {name} holds the path {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
