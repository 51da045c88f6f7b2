"""Does this working tree give the same results as another commit, to the last bit?

    python benchmarks/same_results.py BASE [--only TEXT] [--text]

BASE is a commit, or a folder with another checkout. Both versions run the calls of golden_calls.py, each in a process
of its own, with the compiled module of this environment if `core/` is equal, else with one that is built. Each takes
a minute of one core; what a commit gave is kept in the folder of temporary files for the next comparison. What users
see is compared bit by bit: tables, p-values, gains, effects, counts, refusals; with --text also summaries and reports.
Exit status 1: something differs, or a call ends with an error that is no refusal; the call, the column and the largest
difference are named.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


class Difference(NamedTuple):
    """A column that two versions do not agree on."""

    call: str
    column: str
    words: str

    def __str__(self) -> str:
        return f"{self.call} | {self.column} | {self.words}"


def differences(base: Path, now: Path) -> Iterator[Difference]:
    """Compare what two versions saved, one file for each call."""
    files = sorted({path.name for folder in (base, now) for path in folder.glob("*.npz")})
    for file in files:
        if missing := [folder for folder in (base, now) if not (folder / file).exists()]:
            with np.load((now if missing == [base] else base) / file) as saved:
                yield Difference(
                    str(saved["call"]), "", f"only the {'working tree' if missing == [base] else 'base'} has it"
                )
        else:
            with np.load(base / file) as before, np.load(now / file) as after:
                call = str(after["call"])
                if "error" in after:
                    yield Difference(call, "error", str(after["error"][0]))
                    continue
                for column in [*after, *(name for name in before if name not in after)]:
                    if words := compared(before.get(column), after.get(column)):
                        yield Difference(call, column, words)


def compared(before: Any, after: Any) -> str:
    """Say how two columns differ; nothing where they are equal."""
    if before is None or after is None:
        return f"only {'the working tree' if before is None else 'the base'} has it: {_first(after, before)}"
    if before.shape != after.shape:
        return f"shape {before.shape} → {after.shape}"
    if before.dtype.kind == "U" or after.dtype.kind == "U":
        unequal = np.flatnonzero(before.astype(str) != after.astype(str))
        if len(unequal) == 0:
            return ""
        old, new = _around(str(before.ravel()[unequal[0]]), str(after.ravel()[unequal[0]]))
        return f"{len(unequal)} of {before.size} texts: {old!r} → {new!r}"
    kind = "" if before.dtype == after.dtype else f"type {before.dtype} → {after.dtype}"
    old, new = before.astype(float).ravel(), after.astype(float).ravel()
    unequal = np.flatnonzero(old.view(np.int64) != new.view(np.int64))
    unequal = unequal[~(np.isnan(old[unequal]) & np.isnan(new[unequal]))]
    if len(unequal) == 0:
        return kind
    with np.errstate(all="ignore"):
        apart = np.abs(new[unequal] - old[unequal])
    worst = unequal[np.argmax(np.where(np.isnan(apart), np.inf, apart))]
    largest = f"largest difference {abs(new[worst] - old[worst]):.3g} ({old[worst]} → {new[worst]}, place {worst})"
    return " ".join([f"{len(unequal)} of {before.size} values,", largest, kind]).strip()


def _first(*columns: Any) -> str:
    column = next(column for column in columns if column is not None)
    return repr(str(column.ravel()[0])[:160]) if column.size else "empty"


def _around(old: str, new: str, width: int = 120) -> tuple[str, str]:
    """Cut two long texts to where they begin to differ."""
    if max(len(old), len(new)) <= width:
        return old, new
    place = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, place - width // 4)
    return old[start : start + width], new[start : start + width]


def run(folder: Path, only: str, *, text: bool, listed: bool) -> None:
    """Run the calls with the package of PYTHONPATH, and save what they give."""
    # An editable installation has a finder of its own, which goes before PYTHONPATH.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    import interplay

    tree = os.environ["PYTHONPATH"].split(os.pathsep)[0]
    if not Path(interplay.__file__).is_relative_to(tree):
        sys.exit(f"{interplay.__file__} would run instead of {tree}")
    from golden_calls import calls, recorded

    warnings.simplefilter("ignore")
    for place, (name, call) in enumerate(calls().items()):
        if only in name:
            started = time.perf_counter()
            columns = recorded(call, text=text)
            if listed:
                message = columns.get("error", columns.get("refusal"))
                said = f"{len(columns)} columns" if message is None else message[0][:90]
                print(f"{time.perf_counter() - started:7.2f} s  {name}: {said}", flush=True)
            np.savez(folder / f"{place:03}.npz", call=np.array(name), **columns)


def sources(base: str | None, folder: Path) -> Path:
    """Copy the Python files of a commit, of a folder or of this working tree, with a compiled module that fits them."""
    from compare_commits import copy_of

    if base is not None and not _has_this_core(base):
        if importlib.util.find_spec("nanobind") is not None:
            return copy_of(base, folder)
        print("core/ differs, and nanobind is not here to build it: both versions run this compiled module")
    folder.mkdir()
    if base is None or Path(base).is_dir():
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(Path(base or ROOT) / "src", folder / "src", ignore=ignored)
    else:
        archive = subprocess.run(["git", "archive", base, "src"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    compiled = importlib.util.find_spec("interplay._core")
    assert compiled is not None
    assert compiled.origin is not None
    shutil.copy(compiled.origin, folder / "src" / "interplay")
    return folder


def _has_this_core(version: str) -> bool:
    compiled = ["core", "CMakeLists.txt"]
    if Path(version).is_dir():
        command = ["diff", "-rq", str(ROOT / "core"), str(Path(version) / "core")]
    else:
        command = ["git", "diff", "--quiet", version, "--", *compiled]
    return subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL).returncode == 0


def kept_results(arguments: argparse.Namespace) -> Path | None:
    """Return where the results of a commit are, or would be; a folder may change, and its results are not kept."""
    if Path(arguments.base).is_dir():
        return None
    command = ["git", "rev-parse", "--verify", f"{arguments.base}^{{commit}}"]
    commit = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    calls = (ROOT / "benchmarks" / "golden_calls.py").read_bytes() + repr((arguments.only, arguments.text)).encode()
    versions = [sys.version, *(version(name) for name in ("numpy", "scipy", "pandas", "statsmodels"))]
    key = hashlib.sha256(calls + repr(versions).encode()).hexdigest()
    return Path(tempfile.gettempdir()) / f"interplay_results_{commit[:12]}_{key[:12]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("base", metavar="BASE", help="commit or folder to compare with")
    parser.add_argument("--only", default="", metavar="TEXT", help="calls whose names contain this")
    parser.add_argument("--text", action="store_true", help="compare summaries and reports, too")
    parser.add_argument("--list", action="store_true", help="print what each call gives, and its seconds")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:
        run(arguments.run, arguments.only, text=arguments.text, listed=arguments.list)
        return 0
    kept = kept_results(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folders = {"base": Path(temporary) / "results of base", "now": Path(temporary) / "results of now"}
        if kept is not None and kept.exists():
            folders["base"] = kept
        processes = []
        for name, base in (("base", arguments.base), ("now", None)):
            if folders[name] == kept:
                continue
            folders[name].mkdir()
            tree = sources(base, Path(temporary) / name)
            command = [sys.executable, __file__, arguments.base, "--only", arguments.only, "--run", str(folders[name])]
            command += ["--text"] * arguments.text + ["--list"] * (arguments.list and base is None)
            # One thread of BLAS: sums of many threads differ from those of few.
            more = {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{ROOT / 'benchmarks'}", "OPENBLAS_NUM_THREADS": "1"}
            processes.append(subprocess.Popen(command, env=os.environ | more))
        if max(process.wait() for process in processes) > 0:
            return 2
        if kept is not None and not kept.exists():
            shutil.copytree(folders["base"], kept)
        found = list(differences(folders["base"], folders["now"]))
        for difference in found:
            print(difference)
        n_calls = len(list(folders["now"].glob("*.npz")))
        n_unequal = len({difference.call for difference in found})
    print(f"{n_unequal} of {n_calls} calls differ" if found else f"all {n_calls} calls are equal")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
