"""Install the wheels of a folder as users do, into a fresh environment of every Python here, and use them.

Without a compiler: nothing is built, and PATH leads to no other program. Then the demo, and tests of every part of the
package, with the packages that ``test.lock`` pins. With --second, of one more Python than the one that runs this.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pythons import ROOT, Python, wanted_pythons

_TOOLS = Path(sys.executable).parent

#: Every part of the package, in a minute: search and engines, statistics, results, readers, command line, selector.
_TESTS = ["cli_run", "datasets", "engines_agree", "io", "null_fit", "report", "search", "select", "selector", "threads"]

#: Without the GIL not all packages of the tests can be had: those of the search, as for cibuildwheel in pyproject.toml.
_TESTS_WITHOUT_GIL = ["max_gains", "search", "threads"]

_IMPORT = "import time; t = time.perf_counter(); import interplay; print(time.perf_counter() - t, interplay.__file__)"


def main(folder: Path, pythons: list[Python]) -> None:
    """Say what each Python took, or end with what failed."""
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        sys.exit(f"no wheels in {folder}: make wheel")
    lines = [_try(python, folder.resolve()) for python in pythons]
    print("\n".join(["python  install  import  demo    tests", *lines]))


def _try(python: Python, folder: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="interplay-try-") as place:
        os.chmod(place, 0o755)  # one of the tests is another user
        environment = Path(place) / "environment"
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([python.path, "-m", "venv", environment], check=True)
        wanted = ["--find-links", folder, f"interplay=={_version_of(folder)}"]
        began = time.perf_counter()
        options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        _run(programs, place, "-m", "pip", "install", *options, *wanted)
        seconds = [time.perf_counter() - began]
        _run(programs, place, "-c", _IMPORT)  # compiles what Python compiles once
        told = _run(programs, place, "-c", _IMPORT).split(maxsplit=1)
        seconds.append(float(told[0]))
        if not Path(told[1].strip()).is_relative_to(environment.resolve()):
            sys.exit(f"imported from {told[1]}, and not what was installed")
        began = time.perf_counter()
        if "Found in 3D" not in (demo := _run(programs, place, "-m", "interplay", "demo")):
            sys.exit(f"the demo found nothing:\n{demo}")
        seconds.append(time.perf_counter() - began)
        lock, names = ("core-test", _TESTS_WITHOUT_GIL) if python.is_free_threaded else ("test", _TESTS)
        # By uv: what only the tests need is not timed, and pip takes ten times as long.
        _install(programs, "--require-hashes", "--requirement", ROOT / "release" / f"{lock}.lock")
        began = time.perf_counter()
        tests = [ROOT / "tests" / f"test_{name}.py" for name in names]
        config = ["-c", ROOT / "pytest.ini", "--rootdir", ROOT, "-p", "no:cacheprovider"]
        chosen = ["-m", "not slow and not gpu", *tests]
        _run(programs, place, "-m", "pytest", "--quiet", *config, *chosen, path=os.environ["PATH"])
        seconds.append(time.perf_counter() - began)
    return "  ".join([f"{python.name:6}", *(f"{value:5.2f} s" for value in seconds)])


def _install(programs: Path, *what: str | Path) -> None:
    # Compiled at once, as pip does: a test with a full disk would leave byte code that is cut off.
    command = [_TOOLS / "uv", "pip", "install", "--quiet", "--compile-bytecode", "--only-binary", ":all:"]
    subprocess.run([*command, "--python", _python_of(programs), *what], check=True)


def _version_of(folder: Path) -> str:
    return next(folder.glob("*.whl")).name.split("-")[1]


def _run(programs: Path, place: str, *arguments: str | Path, path: str | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "INTERPLAY"))}
    done = subprocess.run(
        [_python_of(programs), *arguments],
        cwd=place,
        env=environment | {"PATH": path or str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return done.stdout


def _python_of(programs: Path) -> Path:
    return programs / ("python.exe" if os.name == "nt" else "python")


if __name__ == "__main__":
    # Ended from outside too, it leaves no folders.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main(Path(sys.argv[1]), wanted_pythons(sys.argv[2:]))
